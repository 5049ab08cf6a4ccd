"""The benchmarks: their files, where they are published, under which licence, and the task of a judge of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import Factory, field, frozen


@frozen(kw_only=True)
class Hub:
    """A dataset of the Hugging Face hub."""

    dataset: str
    split: str
    config: str = ""


@frozen(kw_only=True)
class Preset:
    """What jrh knows about a benchmark; nothing of its text."""

    name: str
    title: str
    licence: str
    """As its publisher states it; read it before you use the data."""
    convert: str = ""
    """The function of `shapes` that reads it; empty: a file of paired prompts, which the kernel reads."""
    task: str
    """The `task:` of a suite."""
    names: tuple[str, ...] = field(converter=tuple)
    """What its files are called, where a folder is given."""
    apart: tuple[str, ...] = field(default=(), converter=tuple)
    """Folders that hold something else."""
    files: Mapping[str, str] = Factory(dict)
    """File name -> address of one published version."""
    labels: Mapping[str, str] = Factory(dict)
    """Label in its files -> label of the scale, of paired prompts."""
    hub: Hub | None = None
    answers: bool = False
    """Whether it has prompts only, and the responses are the user's own."""
    tests: str = "tests: [option-order, format, stochastic]\n"
    """The `tests:` of a suite; of a comparison, unless it says otherwise."""


def _read(name: str, table: dict[str, Any]) -> Preset:
    hub = Hub(**table.pop("hub")) if "hub" in table else None
    return Preset(name=name, hub=hub, **table)


PRESETS: Final = tuple(
    _read(name, table)
    for name, table in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
)
"""In the order of their names."""


def suite_part(each: Preset) -> str:
    """Return the `data:` and `task:` of a suite; the place of the files is left as `{data}` or `{path}`."""
    # A benchmark without a published file or dataset cannot be downloaded: the suite names the user's copy.
    place = "{data}" if each.files or each.hub else "{path}"
    answers = "\n  answers: answers.jsonl # your model's: id, response (or transcript), and label if you know it"
    answers += "\n  # or a model writes them: `prompts: true` here, `responses: {model: NAME}` in the suite"
    return (
        f"# {each.title}. Licence: {each.licence}.\n"
        f"data:\n  source: {each.name}\n  {place}{answers if each.answers else ''}\n\n{each.task}"
        f"\n# Each test changes what the judge sees and states what a reliable judge does then.\n{each.tests}"
    )
