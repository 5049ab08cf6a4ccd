"""Define the options of the importers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import Factory, field, frozen
from jrh.plugins import option
from jrh_interchange import ScoreOptions

_SCALE = {"help": "`1-6`, or `YES,NO`. Default: from the labels of the file."}


@frozen(kw_only=True)
class ExportOptions(ScoreOptions):
    """Options of importers whose files hold scores of metrics."""


@frozen(kw_only=True)
class HarnessOptions:
    """Options of `judge-reliability-harness`."""

    scale: str | None = field(default=None, metadata=_SCALE)


@frozen(kw_only=True)
class JudgeSenseOptions:
    """Options of `judgesense`."""

    judge: str = option("The judge's name if the log has no column for it.", default="judge")
    scale: str | None = field(default=None, metadata=_SCALE)
    labels: Mapping[str, str] = option("Text of a decision -> label.", default=Factory(dict))
    gold_labels: Mapping[str, str] = option("Text of a gold label -> label.", default=Factory(dict))
    inverted: tuple[str, ...] = option("Prompts that contain one of these texts ask for the opposite.", default=())
    off_scale: bool = option("Decisions off the scale are missing verdicts instead of mistakes.", default=False)
    runs: Literal["all", "first-success"] = option(
        "Rows with the same judge, pair and prompts: all, or the first with two verdicts.", default="all"
    )
    pairs: Literal["listed", "all"] = option(
        "Prompt pairs that JSS compares: those of the rows, or all of an item.", default="listed"
    )
    without: tuple[str, ...] = option("JSS also without the prompts that contain one of these texts.", default=())
