"""Define what to read of an export that holds scores; light, so that declaring an importer loads no library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import Factory, frozen
from attrs.validators import min_len, optional
from jrh.plugins import option

OUTPUT: Final = "output"
"""The name, in place of a metric's, of the evaluated model's own answer, where that model is the judge."""


@frozen(kw_only=True)
class ScoreOptions:
    """Which parts of an export of scores to read."""

    metric: str | None = option(
        "The metric, scorer or feedback key whose scores are the verdicts. Default: the only one.",
        optional(min_len(1)),
        default=None,
    )
    gold: str | None = option(
        "The field with people's labels, such as `metadata.human`. `none`: no gold labels.",
        optional(min_len(1)),
        default=None,
    )
    scale: str | None = option("`1-5`, or `YES,NO`. Default: from the scores and the gold labels.", default=None)
    threshold: float | None = option(
        "Scores from here on are `pass`, lower ones `fail`; gold numbers likewise.", default=None
    )
    labels: Mapping[str, str] = option(
        "Text in the file -> label, for verdicts and gold labels.", default=Factory(dict)
    )
    judge: str | None = option(
        "The judge's name. Default: the grader's model where the file names it, else the metric.",
        optional(min_len(1)),
        default=None,
    )

    @property
    def output(self) -> tuple[str, ...] | None:
        """Return the keys below the evaluated model's answer that is the verdict; None if a metric's scores are."""
        # No keys are an empty tuple, the whole answer; None is a metric's scores.
        name, *keys = (self.metric or "").split(".")
        return tuple(keys) if name == OUTPUT else None
