"""What verdicts cost: per judge and test, per point of accuracy, tokens, and what making the cases cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from jrh import Measure, RunReport
from jrh.values import CostLine, total_spending

from jrh_report.papers.found import Found, end_of
from jrh_report.papers.harness import cell_of
from jrh_report.papers.sheet import Cell, Sheet
from jrh_report.tables import judge_label

_THOUSAND: Final = 1000
_POINTS: Final = 100
_AT_ONCE: Final = 500
_JUDGE: Final = "judge"


@frozen(kw_only=True)
class Price:
    """What a judge costs in a test, and what it is worth."""

    judge: str
    test: str
    """Empty: all tests, without the reference condition."""
    trials: int
    cost: float | None
    """None where the price of a reply is unknown."""
    right: Measure | None

    @property
    def per_thousand(self) -> float | None:
        """Return US dollars per 1,000 questions."""
        return None if self.cost is None or not self.trials else self.cost / self.trials * _THOUSAND

    @property
    def per_point(self) -> float | None:
        """Return US dollars of 1,000 questions per percentage point of accuracy."""
        value = None if self.right is None else self.right.estimate
        return None if self.per_thousand is None or not value else self.per_thousand / (value * _POINTS)


def prices(found: Found, task: str) -> Iterator[Price]:
    """Yield every judge's price in every test, then over all tests."""
    for judge in found.report.judges:
        own = [line for line in found.report.costs if (line.judge, line.task) == (judge, task)]
        for line in own:
            yield _price(judge, line.test, [line], cell_of(found, task, judge, line.test, ""))
        mean = found.get("mean-over-tests", task, judge)
        if mean is not None:
            yield _price(judge, "", [line for line in own if line.test != "reference"], mean)


def _price(judge: str, test: str, lines: list[CostLine], right: Measure | None) -> Price:
    known = lines and not any(line.unknown for line in lines)
    return Price(
        judge=judge,
        test=test,
        trials=sum(line.trials for line in lines),
        cost=sum(line.cost for line in lines) if known else None,
        right=right,
    )


def sheets(found: Found) -> Iterator[Sheet]:
    """Yield the tables that have rows."""
    for task in found.tasks:
        rows = tuple(
            (
                judge_label(found.report, each.judge),
                each.test or "all tests",
                each.trials,
                each.cost,
                each.per_thousand,
                each.right,
                each.per_point,
            )
            for each in prices(found, task)
        )
        yield Sheet(
            name=f"cost{end_of(found.report, task)}",
            title="Cost of verdicts and of a point of accuracy",
            columns=("judge", "test", "trials", "dollars", "per 1,000", "accuracy", "per 1,000 and point"),
            rows=rows,
            note="Verdicts only. An empty cell: the price of a reply is unknown.",
        )
    yield _generation(found)
    yield _usage(found.report)


def _generation(found: Found) -> Sheet:
    made = [line for line in found.report.spending if line.role != _JUDGE]
    places = sorted({(line.task, line.test, line.role, line.name) for line in made})
    rows: list[tuple[Cell, ...]] = []
    for place in places:
        total = total_spending([line for line in made if (line.task, line.test, line.role, line.name) == place])
        known = None if total.unknown else total.cost
        rows.append((*place, total.replies, known, total.prompt_tokens, total.completion_tokens))
    return Sheet(
        name="cost-of-cases",
        title="Cost of making and checking cases",
        columns=("task", "test", "role", "component", "replies", "dollars", "prompt tokens", "completion tokens"),
        rows=tuple(rows),
        note="Apart from verdicts: every judge sees the same cases.",
    )


def _usage(report: RunReport) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for judge in report.judges:
        lines = [line for line in report.costs if line.judge == judge]
        if not lines:
            continue
        unknown = sum(line.unknown for line in lines)
        reasoning, stated = _reasoning(report, judge)
        rows.append(
            (
                judge_label(report, judge),
                sum(line.trials for line in lines),
                sum(line.prompt_tokens for line in lines),
                sum(line.completion_tokens for line in lines),
                reasoning if stated else None,
                stated,
                None if unknown else sum(line.cost for line in lines),
                unknown,
            )
        )
    return Sheet(
        name="usage",
        title="Tokens and cost of every judge",
        columns=(
            "judge", "trials", "prompt tokens", "completion tokens", "reasoning tokens", "replies that state them",
            "dollars", "replies of unknown price",
        ),
        rows=tuple(rows),
        note="Reasoning tokens are part of the completion tokens where a provider states them.",
    )  # fmt: skip


def _reasoning(report: RunReport, judge: str) -> tuple[int, int]:
    """Return the reasoning tokens of a judge's replies, and how many replies state them."""
    if "trial_id" not in report.records.columns or not len(report.records):
        return 0, 0
    mine = report.records.where(report.records.equals("judge", judge))
    trials = [trial for trial in mine.text("trial_id") if trial]
    total = stated = 0
    for start in range(0, len(trials), _AT_ONCE):
        for reply in report.evidence.replies(trials[start : start + _AT_ONCE]).values():
            if reply.usage.reasoning_tokens is not None:
                total, stated = total + reply.usage.reasoning_tokens, stated + 1
    return total, stated
