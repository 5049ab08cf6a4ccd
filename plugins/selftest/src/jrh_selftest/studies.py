"""Draw many studies of every world, compute the metrics on them, and judge the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from attrs import Factory, evolve, frozen
from jrh import REFERENCE, JrhError, Measure, MetricContext, derive_seed
from jrh.plugins import Metric

from jrh_selftest.arrays import array_alarms, array_checks
from jrh_selftest.checks import (
    AlarmCheck,
    ArrayAlarm,
    ArrayCheck,
    Check,
    RecordCheck,
    WorldCheck,
    alarm_checks,
    record_checks,
)
from jrh_selftest.findings import Finding, Study, Verdict, absent, explain_failure
from jrh_selftest.judging import (
    ALPHA,
    MANY,
    Limits,
    alarms_may_change,
    judge_alarms,
    judge_interval,
    surely_right,
    verdict_may_change,
)
from jrh_selftest.pages import ClaimCheck, Gate, claim_checks, gate_checks, gate_outcomes, page_claims

QUICK: Final = 100
FULL: Final = 1000
"""Studies per check."""
_ROUNDS: Final = (0.25, 0.5, 1, 2, 4)
"""Looks at a row in full mode, in studies per check. A row of tests may be settled at every look, one of intervals
from the third on (see `_is_open`)."""
_BATCH: Final = 250
"""Studies that are drawn in one go; a batch has its own seed, so that any process may draw it."""
# Few: what chance an interval has from its own resampling averages out over the studies.
_RESAMPLES: Final = 200
_DEALINGS: Final = 20
"""The same for the permutation test of excess disagreement, which draws 20 times as many where few are as extreme."""

INTERVALS: Final = (RecordCheck, ArrayCheck)
"""Checks of estimates; the others are of tests, whose rate of alarms is judged."""
_NO_ALARM: Final = Study(value=1.0)


@frozen(kw_only=True)
class Plan:
    """How many studies to draw, and which metrics replace others."""

    studies: int
    seed: int = 0
    full: bool = False
    """Check also the designs of the full mode, and draw more studies of the rows that are close to a limit."""
    metrics: Mapping[str, Metric]
    """By the name of the metric they are tested as."""
    stand_ins: Mapping[str, str] = Factory(dict)
    """Metric -> name of the metric tested in its place."""
    only: frozenset[str] = frozenset()
    """Check only these metrics and no estimators; empty: everything."""
    worlds: frozenset[str] = frozenset()
    """Check only these worlds and designs; empty: all."""
    tell: Callable[[str], None] = lambda _: None
    """Called with a progress message."""
    jobs: int = 1
    """Number of worker processes; does not affect the findings."""


@frozen(kw_only=True)
class Part:
    """An independent part of the work: the checks of one world or one array design."""

    name: str
    checks: Sequence[Check]


def all_findings(plan: Plan) -> Iterator[Finding]:
    """Yield the findings: measures over records, tests over records, estimators and tests over arrays."""
    parts = build_parts(plan)
    studies: defaultdict[int, list[Study]] = defaultdict(list)  # by the identity of the check
    done = 0
    for factor in _ROUNDS if plan.full and plan.studies >= MANY else (1,):
        # Later rounds continue the numbers: their batches have seeds that no earlier one had.
        numbers = range(done, int(factor * plan.studies))
        batches: list[tuple[Part, range]] = []
        for part in parts:
            checks = [check for check in part.checks if not done or _is_open(plan, check, studies[id(check)])]
            starts = range(0, len(numbers), _BATCH) if checks else ()
            chosen = evolve(part, checks=checks)
            batches += [(chosen, numbers[start : start + _BATCH]) for start in starts]
        for (part, batch), results in zip(batches, _results(plan, batches), strict=True):
            if batch.start == done:
                plan.tell(part.name)
            for check, drawn in zip(part.checks, results, strict=True):
                studies[id(check)] += drawn
        done = numbers.stop
    for part in parts:
        for check in part.checks:
            yield explain_failure(judge_check(check, studies[id(check)]))


def _is_open(plan: Plan, check: Check, studies: Sequence[Study]) -> bool:
    """Return whether more studies may change what is said of a row.

    A test whose rate is surely within its limit is settled early. Intervals that pass with the usual number of studies
    are settled, and so is a failure that is known. What is close to a limit gets more.
    """
    if not studies:
        return False  # no metric yields the measure, and more studies would not change that
    if len(studies) < plan.studies:
        return isinstance(check, INTERVALS) or not surely_right(_alarms(studies), check.least_power, check.limit)
    finding = explain_failure(judge_check(check, studies))
    passes = finding.verdict not in (Verdict.FAIL, Verdict.UNCLEAR)
    # Studies go to rows that they can still change: the full mode is long enough.
    if finding.known or (passes and (isinstance(check, INTERVALS) or len(studies) > plan.studies)):
        return False
    if isinstance(check, INTERVALS):
        return verdict_may_change(check.planted, studies, _limits(check))
    return alarms_may_change(_alarms(studies), check.least_power, check.limit)


def _results(plan: Plan, batches: Sequence[tuple[Part, range]]) -> Iterator[list[list[Study]]]:
    if plan.jobs == 1:
        yield from (draw_studies(plan, *batch) for batch in batches)
        return
    from joblib import Parallel, delayed

    jobs = (delayed(draw_studies)(plan, *batch) for batch in batches)
    yield from Parallel(n_jobs=plan.jobs, return_as="generator")(jobs)


def build_parts(plan: Plan) -> Sequence[Part]:
    """Return the work of a plan, in the order of the table."""
    # All checks of a world read the same studies, which are drawn and measured once.
    parts: dict[str, list[Check]] = defaultdict(list)
    record: Sequence[RecordCheck | AlarmCheck] = (*record_checks(full=plan.full), *alarm_checks(full=plan.full))
    for check in record:
        if not plan.only or check.metric in plan.only:
            parts[check.where].append(check)
    if not plan.only:
        for estimator in array_checks(full=plan.full):
            parts[f"estimators, {estimator.where}"].append(estimator)
        for alarm in array_alarms():
            parts[alarm.where].append(alarm)
        for claim in (*claim_checks(), *gate_checks()) if plan.full and plan.metrics else ():
            parts[claim.where].append(claim)
    names = {name: name.removeprefix("estimators, ") for name in parts}
    missing = plan.worlds - set(names.values())
    if missing:
        raise JrhError(f"--world: unknown world '{min(missing)}'; available: {', '.join(names.values())}")
    chosen = [name for name in parts if not plan.worlds or names[name] in plan.worlds]
    return [Part(name=name, checks=parts[name]) for name in chosen]


def draw_studies(plan: Plan, part: Part, numbers: range) -> list[list[Study]]:
    """Draw the studies of a part with these numbers and return what each yields, by check."""
    checks: Sequence[Any] = part.checks
    # A design that draws several estimates in one go draws them from one generator.
    generator = np.random.default_rng(derive_seed(plan.seed, "selftest", part.name, str(numbers.start)))
    # A part is one world, one page or one array design: its checks are all of one kind.
    if isinstance(checks[0], WorldCheck):
        return _study_measures(plan, checks, generator, numbers)
    if isinstance(checks[0], ClaimCheck):
        return _study_claims(plan, checks, generator, numbers)
    return _study_arrays(checks, generator, numbers)


def judge_check(check: Check, studies: Sequence[Study]) -> Finding:
    """Judge the studies of a check."""
    if not studies:
        return absent(check.where, check.name, "interval" if isinstance(check, INTERVALS) else "false alarms")
    if isinstance(check, INTERVALS):
        return judge_interval(check.where, check.name, check.planted, studies, _limits(check))
    return judge_alarms(check.where, check.name, _alarms(studies), check.least_power, check.limit)


def _limits(check: RecordCheck | ArrayCheck) -> Limits:
    return Limits(biased=check.biased, clusters=check.clusters, whole=check.whole)


def _alarms(studies: Sequence[Study]) -> list[bool]:
    return [study.value is not None and study.value <= ALPHA for study in studies]


def _study_measures(
    plan: Plan, checks: Sequence[RecordCheck | AlarmCheck], generator: np.random.Generator, numbers: range
) -> list[list[Study]]:
    world, studies = checks[0].world, _empty(checks)
    # Each metric once per study, in a fixed order.
    metrics = dict.fromkeys(check.metric for check in checks if check.metric in plan.metrics)
    for number in numbers:
        records = world.draw(generator)
        only_reference = records.where(records.equals("test", REFERENCE))
        context = MetricContext(tasks={world.name: world.task}, resamples=_RESAMPLES, seed=number, margin=world.margin)
        for name in metrics:
            of_metric = [place for place, check in enumerate(checks) if check.metric == name]
            # The metrics of a condition read its rows alone: what they would make of the other test is not computed.
            alone = all(checks[place].test == REFERENCE for place in of_metric)
            fewer = evolve(context, resamples=_DEALINGS) if name == "noise-excess" else context
            measures = list(plan.metrics[name].measure(only_reference if alone else records, fewer))
            for place in of_metric:
                check = checks[place]
                read = [check.read(measure) for measure in measures if _is_meant(measure, check, plan)][:1]
                silence = isinstance(check, AlarmCheck) and check.silent and measures
                studies[place] += read or ([_NO_ALARM] if silence else [])
    return studies


def _is_meant(measure: Measure, check: RecordCheck | AlarmCheck, plan: Plan) -> bool:
    # A stand-in may name its measure like the one it replaces, or like itself.
    names = (check.measure, plan.stand_ins.get(check.metric, check.measure))
    return measure.test == check.test and measure.name in names and dict(measure.cell) == dict(check.cell)


def _study_claims(
    plan: Plan, checks: Sequence[ClaimCheck], generator: np.random.Generator, numbers: range
) -> list[list[Study]]:
    page, studies = checks[0].page, _empty(checks)
    if not page.metrics <= set(plan.metrics):
        return studies
    for number in numbers:
        if isinstance(page, Gate):
            claims = gate_outcomes(page, plan.metrics, generator, number)
        else:
            claims = page_claims(page, plan.metrics, generator, number)
        for place, check in enumerate(checks):
            studies[place].append(Study(value=0.0 if claims & check.kinds else 1.0))
    return studies


def _study_arrays(
    checks: Sequence[ArrayCheck | ArrayAlarm], generator: np.random.Generator, numbers: range
) -> list[list[Study]]:
    studies = _empty(checks)
    # By identity: partial functions with equal arguments are not equal.
    draws = list({id(check.draw): check.draw for check in checks}.values())
    for _ in numbers:
        # Checks that share a function share what it draws.
        drawn = {id(draw): draw(generator) for draw in draws}
        for place, check in enumerate(checks):
            studies[place].append(check.read(drawn[id(check.draw)]))
    return studies


def _empty(checks: Sequence[Check]) -> list[list[Study]]:
    return [[] for _ in checks]
