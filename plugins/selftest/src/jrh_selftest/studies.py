"""Draw many studies of every world, compute the metrics on them, and judge the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

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
    ClaimCheck,
    RecordCheck,
    alarm_checks,
    record_checks,
)
from jrh_selftest.findings import Finding, Study, Verdict, absent, known_failure
from jrh_selftest.judging import (
    ALPHA,
    MANY,
    Limits,
    judge_alarms,
    judge_interval,
    surely_right,
    unsettled,
    unsettled_alarms,
)
from jrh_selftest.pages import Gate, claim_checks, claims_of, gate_checks, outcomes_of
from jrh_selftest.truth import truths
from jrh_selftest.world import World

QUICK: Final = 100
FULL: Final = 1000
"""Studies per check."""
_ROUNDS: Final = (0.25, 0.5, 1, 2, 4)
"""Looks at a row in full mode, in studies per check. A row of tests may be settled at every look, one of intervals
from the third on (see `_is_open`)."""
_BATCH: Final = 250
"""Studies that are drawn in one go; a batch has its own seed, so that any process may draw it."""
_RESAMPLES: Final = 200
_DEALINGS: Final = 20
"""The same for the permutation test of excess disagreement, which draws 20 times as many where few are as extreme."""

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


@frozen(kw_only=True)
class Batch:
    """Some of the studies of a part."""

    part: Part
    start: int
    """Number of the first study."""
    studies: int


def all_findings(plan: Plan) -> Iterator[Finding]:
    """Yield the findings: measures over records, tests over records, estimators and tests over arrays."""
    parts = parts_of(plan)
    drawn: list[list[list[Study]]] = [[[] for _ in part.checks] for part in parts]
    done = 0
    for factor in _ROUNDS if plan.full and plan.studies >= MANY else (1,):
        wanted = [_open(plan, part, found) for part, found in zip(parts, drawn, strict=True)]
        _draw(plan, parts, wanted, drawn, (done, int(factor * plan.studies)))
        done = int(factor * plan.studies)
    for part, found in zip(parts, drawn, strict=True):
        for check, studies in zip(part.checks, found, strict=True):
            yield known_failure(judged(check, studies))


def _open(plan: Plan, part: Part, found: Sequence[Sequence[Study]]) -> list[int]:
    """Return the checks of a part that need studies: all at first, then those that are not settled."""
    places = range(len(part.checks))
    if not any(found):
        return list(places)
    return [place for place in places if found[place] and _is_open(plan, part.checks[place], found[place])]


def _is_open(plan: Plan, check: Check, studies: Sequence[Study]) -> bool:
    """Return whether more studies may change what is said of a row.

    A test whose rate is surely within its limit is settled early. Intervals that pass with the usual number of studies
    are settled, and so is a failure that is known. What is close to a limit gets more.
    """
    of_interval = isinstance(check, RecordCheck | ArrayCheck)
    if len(studies) < plan.studies:
        return not _surely_right(check, studies)
    found = known_failure(judged(check, studies))
    passes = found.verdict not in (Verdict.FAIL, Verdict.UNCLEAR)
    settled = passes and (of_interval or len(studies) > plan.studies)
    return not settled and not found.known and _unsettled(check, studies)


def _draw(
    plan: Plan,
    parts: Sequence[Part],
    wanted: Sequence[Sequence[int]],
    drawn: list[list[list[Study]]],
    numbers: tuple[int, int],
) -> None:
    """Draw the studies with these numbers of the checks that need them, and append what they yield."""
    work = [
        (place, Batch(part=evolve(part, checks=[part.checks[which] for which in checks]), start=start, studies=count))
        for place, (part, checks) in enumerate(zip(parts, wanted, strict=True))
        if checks
        for start, count in _batches(*numbers)
    ]
    silent = evolve(plan, tell=_silent)
    for (place, batch), found in zip(work, _results(silent, [batch for _, batch in work]), strict=True):
        if batch.start == numbers[0]:
            plan.tell(batch.part.name)
        for which, studies in zip(wanted[place], found, strict=True):
            drawn[place][which] += studies


def _batches(start: int, stop: int) -> Iterator[tuple[int, int]]:
    for first in range(start, stop, _BATCH):
        yield first, min(_BATCH, stop - first)


def _results(plan: Plan, batches: Sequence[Batch]) -> Iterator[list[list[Study]]]:
    if plan.jobs == 1:
        yield from (studies_of(plan, batch) for batch in batches)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=plan.jobs, return_as="generator")(delayed(studies_of)(plan, each) for each in batches)


def _silent(_what: str) -> None:
    """Print nothing; the parent process reports progress."""


def parts_of(plan: Plan) -> Sequence[Part]:
    """Return the work of a plan, in the order of the table."""
    parts: dict[str, list[Check]] = defaultdict(list)
    record: Sequence[RecordCheck | AlarmCheck] = (*record_checks(full=plan.full), *alarm_checks(full=plan.full))
    for check in record:
        if not plan.only or check.metric in plan.only:
            parts[check.world.name].append(check)
    if not plan.only:
        for each in array_checks(full=plan.full):
            parts[f"estimators, {each.where}"].append(each)
        for alarm in array_alarms():
            parts[alarm.where].append(alarm)
        for claim in (*claim_checks(full=plan.full), *gate_checks(full=plan.full)) if plan.metrics else ():
            parts[claim.page.name].append(claim)
    names = {name: name.removeprefix("estimators, ") for name in parts}
    missing = plan.worlds - set(names.values())
    if missing:
        raise JrhError(f"--world: unknown world '{min(missing)}'; available: {', '.join(names.values())}")
    chosen = [name for name in parts if not plan.worlds or names[name] in plan.worlds]
    return [Part(name=name, checks=parts[name]) for name in chosen]


def studies_of(plan: Plan, batch: Batch) -> list[list[Study]]:
    """Draw the studies of a batch and return what each yields, by check."""
    first = batch.part.checks[0]
    # A design that draws several estimates in one go draws them from one generator.
    generator = np.random.default_rng(derive_seed(plan.seed, "selftest", batch.part.name, str(batch.start)))
    numbers = range(batch.start, batch.start + batch.studies)
    if isinstance(first, RecordCheck | AlarmCheck):
        checks = [check for check in batch.part.checks if isinstance(check, RecordCheck | AlarmCheck)]
        return _measured(plan, first.world, checks, generator, numbers)
    if isinstance(first, ClaimCheck):
        claims = [check for check in batch.part.checks if isinstance(check, ClaimCheck)]
        return _claimed(plan, claims, generator, numbers)
    return _on_arrays(
        [check for check in batch.part.checks if isinstance(check, ArrayCheck | ArrayAlarm)], generator, numbers
    )


def judged(check: Check, studies: Sequence[Study]) -> Finding:
    """Judge the studies of a check."""
    where, name, kind = named(check)
    if not studies:
        return absent(where, name, kind)
    if isinstance(check, RecordCheck | ArrayCheck):
        return judge_interval(where, name, _planted(check), studies, _limits(check))
    return judge_alarms(where, name, _alarms(studies), check.least_power, check.limit)


def named(check: Check) -> tuple[str, str, str]:
    """Return the place, the name and the kind of a check's row."""
    kind = "interval" if isinstance(check, RecordCheck | ArrayCheck) else "false alarms"
    if isinstance(check, RecordCheck | AlarmCheck):
        return check.world.name, check.measure if isinstance(check, RecordCheck) else check.name, kind
    if isinstance(check, ClaimCheck):
        return check.page.name, check.name, kind
    return check.where, check.name, kind


def _unsettled(check: Check, studies: Sequence[Study]) -> bool:
    if isinstance(check, RecordCheck | ArrayCheck):
        return unsettled(_planted(check), studies, _limits(check))
    return unsettled_alarms(_alarms(studies), check.least_power, check.limit)


def _surely_right(check: Check, studies: Sequence[Study]) -> bool:
    if isinstance(check, RecordCheck | ArrayCheck):
        return False
    return surely_right(_alarms(studies), check.least_power, check.limit)


def _planted(check: RecordCheck | ArrayCheck) -> float:
    return check.planted if isinstance(check, ArrayCheck) else truths(check.world)[check.measure, check.test]


def _limits(check: RecordCheck | ArrayCheck) -> Limits:
    whole = isinstance(check, RecordCheck) and check.whole
    return Limits(biased=check.biased, clusters=check.clusters, whole=whole)


def _alarms(studies: Sequence[Study]) -> list[bool]:
    return [study.value is not None and study.value <= ALPHA for study in studies]


def _measured(
    plan: Plan,
    world: World,
    checks: Sequence[RecordCheck | AlarmCheck],
    generator: np.random.Generator,
    numbers: range,
) -> list[list[Study]]:
    found: list[list[Study]] = [[] for _ in checks]
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
                read = [check.read(each) for each in measures if _is_meant(each, check, plan)][:1]
                silence = isinstance(check, AlarmCheck) and check.silent and measures
                found[place] += read or ([_NO_ALARM] if silence else [])
    return found


def _is_meant(measure: Measure, check: RecordCheck | AlarmCheck, plan: Plan) -> bool:
    names = (check.measure, plan.stand_ins.get(check.metric, check.measure))
    return measure.test == check.test and measure.name in names and dict(measure.cell) == dict(check.cell)


def _claimed(
    plan: Plan, checks: Sequence[ClaimCheck], generator: np.random.Generator, numbers: range
) -> list[list[Study]]:
    found: list[list[Study]] = [[] for _ in checks]
    page = checks[0].page
    if not page.metrics <= set(plan.metrics):
        return found
    for number in numbers:
        if isinstance(page, Gate):
            claims = outcomes_of(page, plan.metrics, generator, number)
        else:
            claims = claims_of(page, plan.metrics, generator, number)
        for place, check in enumerate(checks):
            found[place].append(Study(value=0.0 if claims & check.kinds else 1.0))
    return found


def _on_arrays(
    checks: Sequence[ArrayCheck | ArrayAlarm], generator: np.random.Generator, numbers: range
) -> list[list[Study]]:
    found: list[list[Study]] = [[] for _ in checks]
    draws = list({id(check.draw): check.draw for check in checks}.values())
    for _ in numbers:
        # Checks that share a function share what it draws.
        drawn = {id(draw): draw(generator) for draw in draws}
        for place, check in enumerate(checks):
            found[place].append(check.read(drawn[id(check.draw)]))
    return found
