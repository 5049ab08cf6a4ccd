"""What making the cases costs, and the tokens of every judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import RunReport
from jrh.values import SpendLine, total_spending
from jrh_measuring import mark_simulated

from jrh_report.papers.sheet import Cell, Sheet

_AT_ONCE: Final = 500
_JUDGE: Final = "judge"


def sheets(report: RunReport) -> Iterator[Sheet]:
    """Yield the tables."""
    yield _generation(report)
    yield _usage(report)


def _generation(report: RunReport) -> Sheet:
    lines: dict[tuple[str, ...], list[SpendLine]] = {}
    for line in report.spending:
        if line.role != _JUDGE:
            lines.setdefault((line.task, line.test, line.role, line.name), []).append(line)
    rows: list[tuple[Cell, ...]] = []
    for place, total in ((place, total_spending(lines[place])) for place in sorted(lines)):
        # A sum without the unknown prices would be cited as the price.
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
                mark_simulated(report, judge),
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
    # Replies hold whole texts; a run has too many of them to hold at once.
    for start in range(0, len(trials), _AT_ONCE):
        for reply in report.evidence.replies(trials[start : start + _AT_ONCE]).values():
            if reply.usage.reasoning_tokens is not None:
                total, stated = total + reply.usage.reasoning_tokens, stated + 1
    return total, stated
