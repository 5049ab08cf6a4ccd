"""What the curve of a judge shows, in one finding per task and test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen
from jrh import Measure
from jrh_measuring import FINDING, Cell, Codes, MeasureBuilder, format_interval
from jrh_stats import Estimate, ReadingWindow, holm

_DIGITS: Final = 2
_HALF: Final = 0.5
_LEAST: Final = 0.2
"""A smaller difference between both parts of a text is not called a limit of what is read."""


@frozen(kw_only=True, eq=False)
class Reached:
    """One judge, task and test."""

    cell: Cell
    curve: tuple[Measure, ...]
    effect: Measure
    window: ReadingWindow | None
    rows: Codes
    usable: Codes

    def claimable(self, level: float, p: float | None = None) -> bool:
        """Return whether the curve shows that a part of the text is read less than another."""
        found = self.window
        if found is None or found.inside - found.outside < _LEAST:
            return False
        return (found.p if p is None else p) < 1 - level


def told(builder: MeasureBuilder, reached: Sequence[Reached]) -> Iterator[Measure]:
    """Yield one finding per judge, task and test; Holm's adjustment over those of the report."""
    adjusted = holm([1.0 if each.window is None else each.window.p for each in reached]).tolist() if reached else []
    for each, p in zip(reached, adjusted, strict=True):
        kind, severity, note = _say(each, builder.context.level, p)
        yield builder.measure(
            "evidence-finding",
            each.cell.part({"finding": kind, "severity": severity}),
            Estimate(value=each.effect.estimate),
            rows=each.rows,
            usable=each.usable,
            flags=(FINDING,),
            unit="difference",
            note=note,
        )


def _say(each: Reached, level: float, p: float) -> tuple[str, str, str]:
    interval = each.effect.interval
    if each.effect.estimate is None or interval is None:
        return "evidence-undecided", "inconclusive", "No verdict on planted evidence could be measured."
    if each.window is not None and each.claimable(level, p):
        return _limit(each.window)
    effect = f"{each.effect.estimate:.2f} {format_interval(each.effect, _DIGITS)} beyond chance"
    if interval.high < _HALF:
        note = f"Fewer than half of the verdicts follow the planted evidence, at any depth: {effect}."
        return "evidence-ignored", "bad", note
    if interval.low >= _HALF:
        cells = [one for one in each.curve if "depth" in one.cell and one.estimate is not None]
        worst = min(cells, key=lambda one: one.estimate or 0.0)
        note = (
            f"Verdicts follow the planted evidence ({effect}), and no depth is shown to matter. The lowest of the "
            f"{len(cells)} shares is {worst.estimate:.2f} {format_interval(worst, _DIGITS)}, at depth "
            f"{worst.cell['depth']} of {int(worst.cell['length']):,} tokens."
        )
        return "evidence-followed", "good", note
    return (
        "evidence-undecided",
        "inconclusive",
        f"Too few verdicts to tell whether the judge follows evidence: {effect}.",
    )


def _limit(window: ReadingWindow) -> tuple[str, str, str]:
    rates = f"evidence there is followed in {window.inside:.2f} of verdicts, elsewhere in {window.outside:.2f}"
    # More than half lost: that part is not read. Less: it counts less.
    lost = window.outside <= window.inside * _HALF
    if window.head is not None and window.tail is not None:
        verb = "ignores" if lost else "gives less weight to"
        note = (
            f"This judge {verb} the middle: it reads the first {_tokens(window.head)} and the last "
            f"{_tokens(window.tail)}; {rates}."
        )
        return "evidence-middle", "bad", note
    end, which = (window.head, "first") if window.head is not None else (window.tail, "last")
    start = "This judge reads" if lost else "This judge gives most weight to"
    return "evidence-reach", "bad", f"{start} the {which} {_tokens(end)}; {rates}."


def _tokens(end: Estimate | None) -> str:
    if end is None or end.value is None or end.low is None or end.high is None:
        return "tokens"
    return f"{round(end.value):,} tokens [{round(end.low):,}, {round(end.high):,}]"
