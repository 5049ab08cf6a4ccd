"""What the run cost, per component and test, and what was bought with the judges' part of it.

Dollars per point of gold accuracy: dollars of 1,000 questions of the reference condition, divided by it in points
(0 to 100). A judge stands on the frontier where no other is at least as right for at most as much, and better in one
of the two.

The same certainty: the half-width h of an interval from n items shrinks with 1 / sqrt(n), so that about n (h / w)^2
items give half-width w; each costs the judge what an item of the task costs it in the reference condition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import REFERENCE, Measure
from jrh.text import format_dollars
from jrh.values import CostLine, SpendLine, total_spending
from jrh_measuring import format_tokens

from jrh_report.html.found import Cell, Found
from jrh_report.overview import EXPECTED, RIGHT

HALF_WIDTH: Final = 0.05
"""The certainty that judges are compared at: gold accuracy to within five points."""
_THOUSAND: Final = 1000
_POINTS: Final = 100


@frozen(kw_only=True)
class CostRow:
    """What one component's replies in one test cost; `total` rows sum up others."""

    role: str
    name: str
    task: str
    test: str
    lines: tuple[int, ...]
    """Places among the report's spending."""
    replies: int
    dollars: str
    unknown: int
    prompt_tokens: str
    completion_tokens: str


@frozen(kw_only=True)
class Worth:
    """What a judge costs and gives, on one task's reference condition."""

    task: str
    judge: str
    simulated: bool
    line: int
    trials: int
    per_thousand: float | None
    """US dollars of 1,000 questions; None where some price is unknown."""
    accuracy: Measure
    cell: Cell
    per_point: float | None
    items_needed: int | None
    cost_needed: float | None
    frontier: bool

    @property
    def priced(self) -> bool:
        """Tell whether the judge has a place on the plane."""
        return self.per_thousand is not None and self.accuracy.estimate is not None


def cost_rows(found: Found) -> tuple[CostRow, ...]:
    """Return a row for every component, task and test, and the totals per role and of the run."""
    lines = list(enumerate(found.report.spending))
    rows = [_row(each.role, each.name, each.task, each.test, [(place, each)]) for place, each in lines]
    roles = dict.fromkeys(each.role for _, each in lines)
    for role in roles:
        mine = [(place, each) for place, each in lines if each.role == role]
        if len(mine) > 1 and len(roles) > 1:
            rows.append(_row(role, f"all {role}s", "all tasks", "total", mine))
    if len(lines) > 1:
        rows.append(_row("", "everything", "all tasks", "total", lines))
    return tuple(rows)


def _row(role: str, name: str, task: str, test: str, lines: Sequence[tuple[int, SpendLine]]) -> CostRow:
    total = total_spending(each for _, each in lines)
    return CostRow(
        role=role,
        name=name,
        task=task,
        test=test,
        lines=tuple(place for place, _ in lines),
        replies=total.replies,
        dollars=format_dollars(total.cost, total.unknown, total.replies),
        unknown=total.unknown,
        prompt_tokens=format_tokens(total.prompt_tokens, total.tokens_unknown, total.replies),
        completion_tokens=format_tokens(total.completion_tokens, total.tokens_unknown, total.replies),
    )


def worths(found: Found, task: str) -> tuple[Worth, ...]:
    """Return what each judge of a task costs and gives, judges on the frontier marked."""
    report = found.report
    some = []
    for place, paid in enumerate(report.costs):
        accuracy = found.whole(RIGHT, task, paid.judge, REFERENCE) or found.whole(EXPECTED, task, paid.judge, REFERENCE)
        if (paid.task, paid.test) == (task, REFERENCE) and accuracy is not None and paid.trials:
            some.append(_worth(found, place, paid, accuracy))
    points = [(each.per_thousand, each.accuracy.estimate) for each in some]
    return tuple(_marked(each, points) for each in some)


def _worth(found: Found, place: int, paid: CostLine, accuracy: Measure) -> Worth:
    known = paid.unknown == 0
    each = paid.cost / paid.trials
    needed = items_needed(accuracy)
    items = next((each.items for each in found.report.tasks if each.task.name == paid.task), 0)
    per_thousand = each * _THOUSAND if known else None
    right = accuracy.estimate
    return Worth(
        task=paid.task,
        judge=paid.judge,
        simulated=paid.judge in found.report.simulated,
        line=place,
        trials=paid.trials,
        per_thousand=per_thousand,
        accuracy=accuracy,
        cell=found.cell(accuracy),
        per_point=per_thousand / (right * _POINTS) if per_thousand is not None and right else None,
        items_needed=needed,
        cost_needed=paid.cost / items * needed if known and items and needed is not None else None,
        frontier=False,
    )


def items_needed(measure: Measure, half_width: float = HALF_WIDTH) -> int | None:
    """Return about how many items give an interval of the half-width; None where there is no interval.

    Args:
        measure: a proportion with its interval, from `n_items` items.
        half_width: half the width of the interval that is wanted.
    """
    if measure.interval is None or not measure.n_items:
        return None
    now = (measure.interval.high - measure.interval.low) / 2
    return math.ceil(measure.n_items * (now / half_width) ** 2)


def _marked(worth: Worth, points: Sequence[tuple[float | None, float | None]]) -> Worth:
    if not worth.priced:
        return worth
    return evolve(worth, frontier=not any(_beats(other, worth) for other in points))


def _beats(other: tuple[float | None, float | None], worth: Worth) -> bool:
    cost, right = other
    if cost is None or right is None or worth.per_thousand is None or worth.accuracy.estimate is None:
        return False
    mine = worth.per_thousand, worth.accuracy.estimate
    return cost <= mine[0] and right >= mine[1] and (cost, right) != mine
