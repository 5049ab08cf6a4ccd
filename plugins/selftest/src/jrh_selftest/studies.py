"""Draw many studies of every world, compute the metrics on them, and judge the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from attrs import Factory, evolve, frozen
from jrh import Measure, MetricContext, derive_seed
from jrh.plugins import Metric

from jrh_selftest.alarms import array_alarms
from jrh_selftest.arrays import array_checks
from jrh_selftest.checks import AlarmCheck, ArrayAlarm, ArrayCheck, Check, RecordCheck, alarm_checks, record_checks
from jrh_selftest.findings import ALPHA, Finding, Study, absent, judge_alarms, judge_interval
from jrh_selftest.truth import truths
from jrh_selftest.world import World

QUICK: Final = 100
FULL: Final = 2000
"""Studies per world."""
_RESAMPLES: Final = 200

Wanted: TypeAlias = tuple[str, str, str]
"""Metric, measure, test."""


@frozen(kw_only=True)
class Plan:
    """How many studies to draw, and which metrics replace others."""

    studies: int
    seed: int = 0
    full: bool = False
    """Check also the designs of the full mode."""
    metrics: Mapping[str, Metric]
    """By the name of the metric they are tested as."""
    stand_ins: Mapping[str, str] = Factory(dict)
    """Metric -> name of the metric tested in its place."""
    only: frozenset[str] = frozenset()
    """Check only these metrics and no estimators; empty: everything."""
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
    parts = _parts(plan)
    if plan.jobs == 1:
        for part in parts:
            plan.tell(part.name)
            yield from _found(plan, part)
        return
    from joblib import Parallel, delayed

    work = (delayed(_found)(evolve(plan, tell=_silent), part) for part in parts)
    for part, found in zip(parts, Parallel(n_jobs=plan.jobs, return_as="generator")(work), strict=True):
        plan.tell(part.name)
        yield from found


def _silent(_what: str) -> None:
    """Print nothing; the parent process reports progress."""


def _parts(plan: Plan) -> Sequence[Part]:
    parts: dict[str, list[Check]] = defaultdict(list)
    record: Sequence[RecordCheck | AlarmCheck] = (*record_checks(full=plan.full), *alarm_checks())
    for check in record:
        if not plan.only or check.metric in plan.only:
            parts[check.world.name].append(check)
    if not plan.only:
        for each in array_checks(full=plan.full):
            parts[f"estimators, {each.where}"].append(each)
        parts["tests"] = [*array_alarms()]
    return [Part(name=name, checks=checks) for name, checks in parts.items()]


def _found(plan: Plan, part: Part) -> list[Finding]:
    record = [check for check in part.checks if isinstance(check, RecordCheck | AlarmCheck)]
    if record:
        return list(_in_world(plan, record[0].world, record))
    return [_on_arrays(plan, check) for check in part.checks if isinstance(check, ArrayCheck | ArrayAlarm)]


def _in_world(plan: Plan, world: World, checks: Sequence[RecordCheck | AlarmCheck]) -> Iterator[Finding]:
    wanted = [(check.metric, check.measure, check.test) for check in checks]
    found = _measured(plan, world, wanted)
    planted = truths(world)
    for check, key in zip(checks, wanted, strict=True):
        studies = found.get(key, [])
        kind = "interval" if isinstance(check, RecordCheck) else "false alarms"
        if not studies:
            yield absent(world.name, check.measure, kind)
        elif isinstance(check, RecordCheck):
            truth = planted[check.measure, check.test]
            yield judge_interval(world.name, check.measure, truth, studies, biased=check.biased)
        else:
            alarms = [study.value is not None and study.value <= ALPHA for study in studies]
            yield judge_alarms(world.name, check.measure, alarms, check.least_power)


def _measured(plan: Plan, world: World, wanted: Sequence[Wanted]) -> dict[Wanted, list[Study]]:
    """Draw the studies of a world one by one and keep the wanted measures of each."""
    generator = np.random.default_rng(derive_seed(plan.seed, "selftest", world.name))
    metrics = [name for name in dict.fromkeys(metric for metric, _, _ in wanted) if name in plan.metrics]
    found: dict[Wanted, list[Study]] = defaultdict(list)
    for number in range(plan.studies):
        records = world.draw(generator)
        context = MetricContext(tasks={world.name: world.task}, resamples=_RESAMPLES, seed=number)
        for name in metrics:
            measures = [each for each in plan.metrics[name].measure(records, context) if not each.cell]
            for key in wanted:
                if key[0] == name:
                    found[key] += [_study(each) for each in measures if _is_meant(each, key, plan)][:1]
    return found


def _is_meant(measure: Measure, key: Wanted, plan: Plan) -> bool:
    metric, name, test = key
    return measure.test == test and measure.name in (name, plan.stand_ins.get(metric, name))


def _study(measure: Measure) -> Study:
    interval = measure.interval
    return Study(
        value=measure.estimate,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        flags=measure.flags,
    )


def _on_arrays(plan: Plan, check: ArrayCheck | ArrayAlarm) -> Finding:
    if isinstance(check, ArrayAlarm):
        generator = np.random.default_rng(derive_seed(plan.seed, "selftest", check.name))
        alarms = [check.draw(generator) for _ in range(plan.studies)]
        return judge_alarms("arrays", check.name, alarms, check.least_power)
    generator = np.random.default_rng(derive_seed(plan.seed, "selftest", check.where, check.name))
    estimates = [check.draw(generator) for _ in range(plan.studies)]
    studies = [Study(value=each.value, low=each.low, high=each.high, flags=each.flags) for each in estimates]
    return judge_interval(check.where, check.name, check.planted, studies, biased=check.biased)
