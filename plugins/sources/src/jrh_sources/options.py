"""Define the options of the data sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from keyword import iskeyword
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, Any, Final

from attrs import Factory, frozen
from attrs.validators import instance_of
from jrh import ModelName
from jrh.plugins import option
from jrh.values import CodeName

if TYPE_CHECKING:
    from attrs import Attribute

RESERVED: Final = frozenset({"task", "labels"})
"""Names that prompt templates already use; a field may not have them."""
NOT_FIELDS: Final = frozenset({"id", "label", "gold_source", "stratum", "group", "author", "author_a", "author_b"})
"""Targets of `columns` that judges never see."""
_PEOPLE: Final = ("gold", "gold_label", "human", "human_label", "human_score")
"""What people take for the target `label`."""

_COLUMNS_HELP: Final = (
    "Target -> column. Targets: id, request, response, response_a, response_b, ..., transcript, label, stratum, group; "
    "gold_source, who made the label; author, author_a, author_b, ..., the model that wrote a response; any other name "
    "becomes a field for prompt templates. A target left out uses the column of the same name, if there is one; null "
    "leaves it empty. Columns without a target are kept as metadata."
)


class Dataset(Enum):
    """The examples shipped with the project, 30 items each."""

    FACTUAL = "factual"
    """Is the answer to the question true? YES or NO."""
    COHERENCE = "coherence"
    """How coherent is the paragraph? 1 to 5."""
    RELEVANCE = "relevance"
    """Which passage answers the query? A or B."""
    PREFERENCE = "preference"
    """Which answer follows the instruction better? A or B."""


def _check_columns(_: object, __: Attribute[Any], columns: Mapping[str, str | None]) -> None:
    for target, column in columns.items():
        if not target.isidentifier() or iskeyword(target):
            raise ValueError(f"'{target}' cannot be a field of a template; use letters, digits and _")
        if target in RESERVED:
            raise ValueError(f"templates already use the name '{target}'; choose another")
        if column == "":
            raise ValueError(f"'{target}' has no column; write null to leave it empty")
        if target in _PEOPLE and "label" not in columns:
            raise ValueError(
                f"'{target}' is no target: for labels by people write `label: {column}`; for a field of this name that "
                "judges may see, name `label` too, or `label: null`"
            )
    # A column may have two targets, but not this pair.
    label = columns.get("label")
    leaks = [target for target, column in columns.items() if column == label and target not in NOT_FIELDS]
    if label is not None and leaks:
        raise ValueError(f"column '{label}' is both the label and the field '{leaks[0]}': judges would see the answer")


def _check_delimiter(_: object, __: Attribute[Any], delimiter: str) -> None:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError('must be one character, such as "," or ";" or "\\t"')


def _check_encoding(_: object, __: Attribute[Any], encoding: str) -> None:
    try:
        # `codecs.lookup` also knows encodings that are not for text, such as base64.
        " ".encode(encoding)
    except LookupError:
        raise ValueError(f"unknown text encoding '{encoding}'; try utf-8 or cp1252") from None


@frozen(kw_only=True)
class TableOptions:
    """Options of every source that reads a table."""

    columns: Mapping[str, str | None] = option(_COLUMNS_HELP, _check_columns, default=Factory(dict))
    labels: Mapping[str, str | None] = option(
        'What a text in the label column means: text -> label of the scale, or null for no label. `""` is an empty '
        "label. A text left out is the label itself.",
        default=Factory(dict),
    )
    whole_labels: bool = option(
        "Round labels that are numbers, such as 3.6, to whole numbers; halves are rounded up.",
        instance_of(bool),
        default=False,
    )


class PromptOptions:
    """What options of sources have in common that may have prompts without responses."""

    __slots__ = ()
    prompts: bool

    def check_suite(self, suite: Any, plugins: object) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ARG002
        """Yield that nothing writes the responses."""
        if self.prompts and not any(use.name == "responses" for use in suite.stages):
            yield ("prompts",), "no model writes the responses; add `responses: {model: NAME}` to the suite"


def _prompts_option() -> Any:
    return option("Prompts alone: the model of the suite's `responses` writes the responses.", default=False)


@frozen(kw_only=True)
class FileOptions(PromptOptions, TableOptions):
    """Options of every source that reads a table from a file."""

    path: Path = option("The file; a relative path is relative to the suite's directory.", instance_of(Path))
    prompts: bool = _prompts_option()


@frozen(kw_only=True)
class RowsOptions(TableOptions):
    """Options of `rows`."""

    rows: CodeName = option(
        "The rows, as module:name or path/to/file.py:name: a list of mappings, a data frame (pandas, "
        "polars, Arrow), or a function without arguments that returns one."
    )


@frozen(kw_only=True)
class CsvOptions(FileOptions):
    """Options of `csv`."""

    delimiter: str = option("The character that separates the cells.", _check_delimiter, default=",")
    encoding: str = option("Text encoding of the file; a byte order mark is dropped.", _check_encoding, default="utf-8")


@frozen(kw_only=True)
class JsonlOptions(FileOptions):
    """Options of `jsonl`."""

    encoding: str = option("Text encoding of the file; a byte order mark is dropped.", _check_encoding, default="utf-8")


@frozen(kw_only=True)
class ParquetOptions(FileOptions):
    """Options of `parquet`."""


@frozen(kw_only=True)
class XlsxOptions(FileOptions):
    """Options of `xlsx`."""

    sheet: str = option("Name of the sheet; empty: the first one.", instance_of(str), default="")


@frozen(kw_only=True)
class ExamplesOptions:
    """Options of `examples`."""

    dataset: Dataset = option(
        "factual (YES/NO), coherence (1 to 5), relevance (A/B) or preference (A/B).",
        instance_of(Dataset),
        default=Dataset.FACTUAL,
    )


def benchmarks() -> Iterator[tuple[str, str, str]]:
    """Yield the name and title of each benchmark, and its part of a new suite."""
    from jrh_sources.presets.catalogue import PRESETS, suite_part

    for preset in PRESETS:
        yield preset.name, preset.title, suite_part(preset)


def _one_place(instance: PresetOptions, _: Attribute[Any], download: bool) -> None:
    if download == (instance.path is not None):
        raise ValueError("write either `path:` for your own copy or `download: true`, not both")


@frozen(kw_only=True)
class PresetOptions(PromptOptions):
    """Options of every benchmark."""

    path: Path | None = option("Your copy: a file, or the folder with its files. Relative to the suite.", default=None)
    download: bool = option(
        "Fetch a published version once, and keep it in the user's cache folder.", _one_place, default=False
    )
    subset: tuple[str, ...] = option(
        "Subsets to read, by the names of the strata; for judgesense, one task type.", default=()
    )
    answers: Path | None = option(
        "Responses of your model to a benchmark of prompts: csv, JSON Lines or Parquet with the columns "
        "id, response or transcript, and, if known, label and author.",
        default=None,
    )
    prompts: bool = _prompts_option()


@frozen(kw_only=True)
class ResponseOptions:
    """Which model answers prompts that have no response."""

    model: ModelName = option("One of `models`: it answers each prompt of a source with `prompts: true`.")
    system: str = option("System prompt of these requests; default: none.", default="")

    def check_suite(self, suite: Any, plugins: object) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ARG002
        """Yield that no task needs responses."""
        if not any(use.data.options.get("prompts") for use in suite.tasks):
            yield (), "no task has `prompts: true` in its `data`; add it, or remove this key"
        for use in suite.tasks:
            # What labels items sees them before they have responses, or puts them back as they were.
            if use.data.options.get("prompts") and use.data.stages:
                known = ", ".join(use.data.stages)
                yield (), f"the data of task '{use.task.name}' have no responses when '{known}' labels them; remove it"


def _hub_or_local(instance: HuggingfaceOptions, _: Attribute[Any], dataset: str) -> None:
    if bool(dataset) == (instance.path is not None):
        raise ValueError(
            "write either `path:` for a local folder or `dataset:` for one on the Hugging Face Hub, not both"
        )
    if dataset and not fullmatch(r"[\w.-]+(/[\w.-]+)?", dataset):
        raise ValueError(f"'{dataset[:60]}' is not a name on the Hugging Face Hub, such as `owner/name`")


@frozen(kw_only=True)
class HuggingfaceOptions(TableOptions):
    """Options of `huggingface`."""

    path: Path | None = option(
        "A local folder: what `save_to_disk` wrote, or Arrow or Parquet files. Or one such file.", default=None
    )
    dataset: str = option("The name of a dataset on the Hugging Face Hub, `owner/name`.", _hub_or_local, default="")
    config: str = option("The configuration of the Hub dataset.", instance_of(str), default="")
    split: str = option("The split; required if there are several.", instance_of(str), default="")
    revision: str = option(
        "A commit or tag on the Hub; empty: the newest, which may change between runs.", instance_of(str), default=""
    )
