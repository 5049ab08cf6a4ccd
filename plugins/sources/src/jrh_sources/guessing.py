"""The `data:` and `task:` of a suite for a table that was never described, guessed from names and contents."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh import JrhError, Mode, Scale, ScaleKind
from jrh.text import clean_text, count_noun
from jrh_interchange import Problems, Row, guess_delimiter, infer_scale, label_text, table_rows

from jrh_sources.items import did_you_mean

_ROWS: Final = 20_000
"""Rows that are read; the run reads and checks all."""
_NAMES: Final = {
    "id": "id item_id example_id uid uuid key",
    "response_a": "response_a answer_a output_a completion_a response_1 answer_1 output_1 response1 output1",
    "response_b": "response_b answer_b output_b completion_b response_2 answer_2 output_2 response2 output2",
    "transcript": "transcript messages conversation trace",
    "response": "response answer output completion essay full_text generation model_output prediction reply text",
    "request": "request prompt question instruction query assignment input user",
    "label": "label gold gold_label human human_label human_score score rating grade winner preference correct verdict",
    "group": "group prompt_id document_id doc_id topic",
    "stratum": "stratum category subset domain difficulty prompt_name",
}
"""Target -> names of columns, the likeliest first; targets in the order in which they choose."""
_LIKE: Final = {
    "id": r".*_id",
    "label": r".*_(label|score|rating|grade)",
    "response": r"response_.*|.*_(response|answer)",
}
"""Target -> what further names look like."""
_PAIR: Final = ("response_a", "response_b")
_JUDGED: Final = {"response", "transcript", "response_a"}
"""What a judge reads: one of them is needed."""
_SHORT: Final = 40
"""Characters of a label."""
_MOST_LABELS: Final = 50
_FEW_LABELS: Final = 12
"""Distinct texts of a column that is taken for the label whatever its name."""
_KINDS: Final = {".tsv": "csv"}


@frozen(kw_only=True)
class _Column:
    """A column, with its texts in the order of the rows."""

    name: str
    texts: Sequence[str]

    @property
    def key(self) -> str:
        """Return the name in lower case with underscores."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")

    @property
    def contents(self) -> Sequence[str]:
        """Return the texts that are not blank."""
        return [text for text in self.texts if text.strip()]

    def is_label(self, most: int = _MOST_LABELS) -> bool:
        """Tell whether the texts are few and short."""
        distinct = set(self.contents)
        return 1 < len(distinct) <= most and max(map(len, distinct)) <= _SHORT

    def names_rows(self) -> bool:
        """Tell whether every row has a text of its own."""
        return len(self.contents) == len(self.texts) == len(set(self.texts))


def propose_suite(path: Path, written: str, columns: Mapping[str, str], scale: str | None) -> tuple[str, Sequence[str]]:
    """Guess the `data:` and `task:` of a suite for a table.

    Args:
        path: the file.
        written: its path as the suite writes it.
        columns: target -> column, as the user said; the others are guessed.
        scale: `1-6` or `YES,NO`; None: from the labels.

    Returns:
        The part of the suite, and sentences that say what was guessed.

    Raises:
        JrhError: the file cannot be read, lacks a column, or has no text to judge.
    """
    suffix = path.suffix.lower()
    kind = _KINDS.get(suffix, suffix.removeprefix("."))
    problems = Problems(path.name)
    try:
        delimiter = guess_delimiter(path) if kind == "csv" else ","
        settings: dict[str, Any] = {"delimiter": delimiter} if delimiter != "," else {}
        rows = list(islice(table_rows(path, kind, problems, **settings), _ROWS))
    except OSError as error:
        raise JrhError(f"'{path}' cannot be read: {error.strerror or error}") from error
    problems.raise_any()
    known = _read_columns(rows)
    if not known:
        raise JrhError(f"'{path}' has no rows")
    chosen = _choose_columns(known, columns)
    if not any(target in chosen for target in ("response", "transcript", _PAIR[0])):
        names = ", ".join(clean_text(column.name) for column in known)
        raise JrhError(
            f"{path.name}: no column looks like a response; say which: --column response=NAME. Columns: {names}"
        )
    mode = Mode.PAIRWISE if _PAIR[0] in chosen else Mode.TRANSCRIPT if "transcript" in chosen else Mode.POINTWISE
    labels = chosen["label"].contents if "label" in chosen else ()
    used = _task_scale(path, labels, mode, scale)
    return _suite_part(kind, written, chosen, settings, used, mode), _sentences(rows, chosen, used)


def _read_columns(rows: Sequence[Row]) -> Sequence[_Column]:
    names = dict.fromkeys(name for row in rows for name in row.values)
    return [_Column(name=name, texts=[label_text(row.values.get(name)) or row[name] for row in rows]) for name in names]


def _choose_columns(known: Sequence[_Column], columns: Mapping[str, str]) -> dict[str, _Column]:
    """Return the column of each target that has one."""
    by_name = {column.name: column for column in known}
    for target, name in columns.items():
        if name not in by_name:
            raise JrhError(f"no column '{name}' (--column {target}={name}){did_you_mean(name, list(by_name))}")
    chosen = {target: by_name[name] for target, name in columns.items()}
    fits: Mapping[str, Callable[[_Column], bool]] = {"id": _Column.names_rows, "label": _Column.is_label}
    for target, names in _NAMES.items():
        taken = [column.name for column in chosen.values()]
        left = [column for column in known if column.name not in taken and fits.get(target, bool)(column)]
        like = _LIKE.get(target, "")
        column = next((column for name in names.split() for column in left if column.key == name), None)
        column = column or next((column for column in left if re.fullmatch(like, column.key)), None)
        # Half of a pair is none, and a comparison has no single response.
        if target in chosen or column is None or (target == "response" and _PAIR[0] in chosen):
            continue
        chosen[target] = column
    if len([target for target in _PAIR if target in chosen]) == 1:
        for target in _PAIR:
            chosen.pop(target, None)
    return _by_content(known, chosen)


def _by_content(known: Sequence[_Column], chosen: dict[str, _Column]) -> dict[str, _Column]:
    """Add a response and a label whose columns have unusual names."""
    left = [column for column in known if column.name not in {used.name for used in chosen.values()}]
    if not any(target in chosen for target in ("response", "transcript", _PAIR[0])):
        texts = [
            column
            for column in left
            if column.contents and not column.is_label() and len(max(column.contents, key=len)) > _SHORT
        ]
        if texts:
            # The text that is judged is the longest: questions are shorter than answers.
            chosen["response"] = max(texts, key=lambda column: sum(map(len, column.texts)))
            left.remove(chosen["response"])
    # Texts that never repeat are names of rows.
    labels = [column for column in left if column.is_label(min(_FEW_LABELS, len(column.contents) - 1))]
    if "label" not in chosen and len(labels) == 1:
        chosen["label"] = labels[0]
    return chosen


def _task_scale(path: Path, labels: Sequence[str], mode: Mode, written: str | None) -> Scale:
    scale = infer_scale(written, labels, mode, path.name)
    strange = sorted(set(labels) - set(scale.labels))
    if strange and mode is Mode.PAIRWISE:
        raise JrhError(
            f"{path.name}: the labels of a comparison are A, B and perhaps one for a tie; found "
            f"{', '.join(map(clean_text, strange[:5]))}. Rename them in the file, or name another column: "
            "--column label=NAME"
        )
    if strange:
        raise JrhError(f"{path.name}: labels that are not on the scale: {', '.join(map(clean_text, strange[:5]))}")
    return scale


def _suite_part(
    kind: str, written: str, chosen: Mapping[str, _Column], settings: Mapping[str, Any], scale: Scale, mode: Mode
) -> str:
    """Write the two keys; JSON text is YAML text, whatever the names contain."""
    named = {target: column.name for target, column in chosen.items() if column.name != target}
    lines = ["data:", f"  source: {kind}", f"  path: {_quote(written)}"]
    lines += [f"  {name}: {_quote(value)}" for name, value in settings.items()]
    lines += [f"  columns: {_quote(named)}"] if named else []
    lines += ["  # sample: {n: 40, seed: 7}   # fewer items, for a first look"]
    what = {
        ScaleKind.ORDINAL: f"ordinal: [{scale.labels[0]}, {scale.labels[-1]}]",
        ScaleKind.PAIRWISE: "pairwise: {tie: " + _quote(scale.tie) + "}" if scale.tie else "pairwise: {tie: null}",
    }.get(scale.kind, f"labels: {_quote(list(scale.labels))}")
    return "\n".join(
        [
            "# Guessed from the file: change what is wrong.",
            *lines,
            "",
            "# The question the judge answers about each item: write here what you tell your judge.",
            "task:",
            *(["  mode: transcript"] if mode is Mode.TRANSCRIPT else []),
            f"  instruction: {_instruction(scale, mode, 'request' in chosen)}",
            f"  scale: {{{what}}}",
        ]
    )


def _instruction(scale: Scale, mode: Mode, asked: bool) -> str:
    if mode is Mode.PAIRWISE:
        return f"Decide which response {'answers the request' if asked else 'is'} better."
    whole = "transcript" if mode is Mode.TRANSCRIPT else "response to the request" if asked else "response"
    if scale.kind is ScaleKind.ORDINAL:
        return f"Grade the {whole} from {scale.labels[0]} (worst) to {scale.labels[-1]} (best)."
    return f"Decide which label fits the {whole}."


def _sentences(rows: Sequence[Row], chosen: Mapping[str, _Column], scale: Scale) -> Sequence[str]:
    uses = ", ".join(f"{target} = {clean_text(column.name)}" for target, column in chosen.items())
    more = " (the first ones)" if len(rows) == _ROWS else ""
    said = [f"Read {count_noun(len(rows), 'row')}{more}: {uses}."]
    if "label" in chosen:
        labelled = len(chosen["label"].contents)
        said.append(f"{count_noun(labelled, 'row')} with a label; scale: {', '.join(map(clean_text, scale.labels))}.")
    else:
        said.append("No column looks like labels by people: without labels no agreement with people can be measured.")
    if "id" not in chosen:
        said.append("No column names the rows: items get the numbers of their rows.")
    return [*said, "Wrong? Name the column: --column label=NAME; or the scale: --scale 1-6."]


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
