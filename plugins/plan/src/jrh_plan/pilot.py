"""Measure what a plan has to assume in an earlier run: noise, effects, missing verdicts, cost per call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from jrh import REFERENCE, JrhError, Measure, RunReport
from jrh.plugins import Role
from jrh.text import count_noun, format_dollars
from jrh_measuring import change_tests, format_interval, format_number, measures_by_role
from jrh_stats import clustered_mean, clustered_proportion
from numpy.typing import NDArray

from jrh_plan.estimate import Plan
from jrh_plan.power import Assumptions

_DIGITS: Final = 2
_TOO_NOISY: Final = 0.49


def read_pilot(name: str, report: RunReport, plan: Plan, assumed: Assumptions) -> tuple[Assumptions, tuple[str, ...]]:
    """Take from a pilot run what it measured, and the rest from the assumptions.

    The noise is that of the noisiest judge. A test's effect is its excess disagreement over 1 - 2 noise: with two
    labels, a test that changes the settled verdict of a share q of items has the excess q (1 - 2 noise). The
    discordance is the largest effect of a test that expects the same verdict: one that expects another moves verdicts
    because it should.

    Args:
        name: the pilot's directory, for messages.
        report: the pilot's report, with its measures.
        plan: the plan of the run to come.
        assumed: used where the pilot measured nothing.

    Returns:
        The assumptions, and what was measured, with intervals, one sentence each.

    Raises:
        JrhError: the pilot lacks a judge, a task or a test of the plan.
    """
    _check(name, report, plan)
    noisiest = _largest(_measures(report, Role.NOISE, reference=True))
    # Below one half: at one half verdicts are coin tosses, and no effect could be told from the noise.
    noise = assumed.noise if noisiest is None else min(noisiest.estimate or 0.0, _TOO_NOISY)
    largest = _largest(_steady(report))
    # A pilot that saw no effect has not shown that there is none: the assumption stays.
    moved = (largest.estimate or 0.0) / (1 - 2 * noise) if largest else 0.0
    missing, gaps = _share_without_verdict(report)
    measured = Assumptions(
        noise=noise,
        discordance=min(moved, 1.0) if moved > 0 else assumed.discordance,
        effect=assumed.effect,
        missing=missing,
    )
    sentences = (*_effects(noisiest, largest, moved), gaps, *_clusters(plan), *_costs(report, plan))
    return measured, sentences


def _check(name: str, report: RunReport, plan: Plan) -> None:
    judged = [line for line in plan.lines if line.items]
    for what, known, names in (
        ("judge", report.judges, [line.name for line in judged]),
        ("task", [summary.task.name for summary in report.tasks], [line.task for line in judged]),
        ("test", report.tests, [line.test for line in judged]),
    ):
        lacking = [name for name in dict.fromkeys(names) if name not in known]
        if lacking:
            raise JrhError(
                f"the pilot '{name}' has no {what} '{lacking[0]}'; it has {', '.join(known) or 'none'}\n"
                "A pilot is a run of the same judges and tests, such as `jrh run SUITE --limit 20 --run-dir pilot`."
            )


def _measures(report: RunReport, role: Role, *, reference: bool) -> Iterator[Measure]:
    names = measures_by_role().get(role.value, frozenset())
    for measure in report.measures:
        eligible = measure.name in names and not measure.cell and (measure.test == REFERENCE) == reference
        if eligible and measure.estimate is not None:
            yield measure


def _steady(report: RunReport) -> Iterator[Measure]:
    """Yield the excess disagreement of the tests that expect the same verdict."""
    moving = change_tests(report.records)
    for measure in _measures(report, Role.CHANGE, reference=False):
        if measure.test not in moving.get(measure.task, ()):
            yield measure


def _largest(measures: Iterable[Measure]) -> Measure | None:
    return max(measures, key=lambda measure: measure.estimate or 0.0, default=None)


def _effects(noisiest: Measure | None, largest: Measure | None, moved: float) -> Iterator[str]:
    if noisiest is None:
        yield "Pilot: no question was repeated, so the rerun noise is assumed"
    else:
        yield f"Pilot: rerun noise {_figure(noisiest)} (judge '{noisiest.judge}', the noisiest)"
    if largest is not None and moved > 0:
        about = f"the largest: about {moved:.0%} of items change"
        yield f"Pilot: excess disagreement {_figure(largest)} in '{largest.test}', {about}"
    else:
        yield "Pilot: no test that expects the same verdict showed excess disagreement, so the discordance is assumed"


def _figure(measure: Measure) -> str:
    estimate = format_number(measure.estimate or 0.0, _DIGITS)
    return f"{estimate} {format_interval(measure, _DIGITS)}".rstrip()


def _share_without_verdict(report: RunReport) -> tuple[float, str]:
    """Return the share of trials without a verdict, with its interval by item."""
    records = report.records
    items: dict[tuple[str | None, str | None], list[int]] = {}
    for task, item, status in zip(records.text("task"), records.text("item_id"), records.text("status"), strict=True):
        counts = items.setdefault((task, item), [0, 0])
        counts[0] += status not in ("ok", "abstained")
        counts[1] += 1
    sums = list(items.values())
    proportion = clustered_proportion([top for top, _ in sums], [bottom for _, bottom in sums], level=report.level)
    # Below 1: a plan for a judge that never answers would need infinitely many items.
    share = min(proportion.value or 0.0, 1 - 1e-6)
    # Without an interval, all that a share can be.
    low, high = proportion.low or 0.0, proportion.high if proportion.high is not None else 1.0
    return share, f"Pilot: {share:.1%} of verdicts are missing [{low:.1%}, {high:.1%}]"


def _clusters(plan: Plan) -> Iterator[str]:
    judged = [line for line in plan.lines if line.items]
    grouped = [line for line in judged if line.clusters < line.items]
    if grouped:
        largest = max(grouped, key=lambda line: line.items / line.clusters)
        yield f"Clusters of the data hold {largest.items / largest.clusters:.1f} items on average"


def _costs(report: RunReport, plan: Plan) -> Iterator[str]:
    """Say what the judges' open calls would cost at the pilot's cost per reply."""
    for judge in report.judges:
        costs = [line for line in report.costs if line.judge == judge]
        calls = sum(line.amount.high for line in plan.lines if line.items and line.name == judge)
        known = _costs_above_zero(report, judge)
        # One unknown price makes the mean of the known ones say too little.
        if not calls or not len(known) or any(line.unknown for line in costs):
            continue
        mean = clustered_mean(known, np.ones(len(known)), level=report.level)
        if mean.value is None:
            continue
        ends = (mean.value if end is None else max(end, 0.0) for end in (mean.low, mean.high))
        between = " to ".join(format_dollars(calls * end) for end in ends)
        yield (
            f"Pilot: judge '{judge}' cost {format_dollars(mean.value)} a reply; {count_noun(calls, 'call')} would cost "
            f"{format_dollars(calls * mean.value)} ({between})"
        )


def _costs_above_zero(report: RunReport, judge: str) -> NDArray[np.float64]:
    cost = report.records.where(report.records.equals("judge", judge)).number("cost")
    # Stored replies cost 0, and say nothing of what a call costs.
    return np.asarray(cost[cost > 0], dtype=np.float64)
