"""Compute paired statistics: the second side minus the first, on the same cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import jrh_stats
import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, RunReport
from jrh.values import link_members
from numpy.typing import NDArray

from jrh_measuring import FEW_EVENTS, NO_DATA, PageFamily, PValue, Test
from jrh_measuring.comparing.matching import Matched
from jrh_measuring.comparing.results import Answer, Changes, Noise, Row, Within
from jrh_measuring.comparing.scoring import (
    AGREEMENT,
    ERROR,
    EXPECTED,
    GOLD,
    LESS,
    MEASURES,
    SCORE,
    SCORE_ERROR,
    Case,
)


@frozen(kw_only=True)
class Terms:
    """Settings for deciding about differences."""

    level: float
    margin: float | None
    seed: int = 0


_UNITS: Final = {ERROR: "levels", SCORE: "score", SCORE_ERROR: "score"}


@frozen(kw_only=True)
class Tested:
    """A row before the comparison is decide, with the results of its tests."""

    row: Row
    difference: PValue
    """That there is no difference."""
    beyond: PValue | None = None
    """That the difference is at most the margin; None without one."""
    same: PValue | None = None
    """That the difference is the margin or more; None without one."""


def rows(
    matched: Matched, runs: tuple[RunReport, RunReport], terms: Terms, measures: Iterable[str] = MEASURES
) -> Iterator[Tested]:
    """Yield a row per task, test and measure that the cases of both sides have, in the order of the first run."""
    sizes = [{summary.task.name: len(summary.task.scale.labels) for summary in report.tasks} for report in runs]
    for (task, test), pairs in cells(matched, runs[0]).items():
        # The longer of both scales: a scale may have gained a level between two runs.
        levels = max(sizes[0][task], sizes[1][pairs[0][1].task])
        for measure in measures:
            about = _applicable(pairs, measure)
            if about:
                same_as = _same_as(measure, test, pairs)
                yield _row(measure, (task, test, same_as), about, _span(measure, about, levels), terms)


def _span(measure: str, pairs: Matched, levels: int) -> float:
    """Return the largest difference of two scores."""
    if measure in _UNITS and measure != ERROR:
        return 1 - min(case.floor for pair in pairs for case in pair)
    return float(levels - 1) if measure == ERROR else 1.0


def _applicable(pairs: Matched, measure: str) -> Matched:
    return [pair for pair in pairs if measure in pair[0].about and measure in pair[1].about]


def _same_as(measure: str, test: str, pairs: Matched) -> str:
    """Return `EXPECTED` if the measure is identical to it on these cases by definition.

    In the reference condition what is expected is the gold label. Where a case has an agreement and an expectation,
    what is expected is the judge's own reference verdict.
    """
    defined = measure == AGREEMENT or (measure == GOLD and test == REFERENCE)
    return EXPECTED if defined and _applicable(pairs, measure) == _applicable(pairs, EXPECTED) else ""


def cells(matched: Matched, first: RunReport) -> Mapping[tuple[str, str], Matched]:
    """Return the matched cases by task and test, in the order of the first run."""
    pairs_by_cell: dict[tuple[str, str], Matched] = {
        (summary.task.name, test): [] for summary in first.tasks for test in first.tests
    }
    for case, other in matched:
        # A record that somebody else wrote may name a test that the run does not have.
        pairs_by_cell.setdefault((case.task, case.test), []).append((case, other))
    return {place: pairs for place, pairs in pairs_by_cell.items() if pairs}


def decide(pairs: Sequence[Sequence[Tested]], level: float) -> tuple[list[tuple[Row, ...]], PageFamily]:
    """Decide all tests of a comparison as one family, and say what each row shows.

    Its hypotheses follow from the matched cases, whatever the verdicts. The same difference under the name of two
    measures is one hypothesis. A difference beyond the margin is tested after the difference itself.
    """
    tested = [(number, test) for number, tests in enumerate(pairs) for test in tests if not test.row.same_as]
    family = PageFamily.of(
        [list(_chain(number, test)) for number, test in tested],
        level,
        [Test(key=_key(number, test.row, "same"), result=test.same) for number, test in tested if test.same],
    )
    return [tuple(_conclude(number, test, family) for test in tests) for number, tests in enumerate(pairs)], family


def _chain(number: int, tested: Tested) -> Iterator[Test]:
    yield Test(key=_key(number, tested.row, "difference"), result=tested.difference)
    if tested.beyond is not None:
        yield Test(key=_key(number, tested.row, "beyond"), result=tested.beyond)


def _key(number: int, row: Row, what: str) -> tuple[str, tuple[int, str, str, str, str]]:
    return "jrh-compare", (number, row.task, row.test, row.same_as or row.measure, what)


def _conclude(number: int, tested: Tested, family: PageFamily) -> Row:
    row = tested.row
    equivalence = None
    if tested.same is not None:
        # Both claims may have failed: neither smaller nor larger than the margin is shown.
        equivalence = Within.UNDECIDED
        if _key(number, row, "same") in family.equivalent:
            equivalence = Within.EQUIVALENT
        elif _key(number, row, "beyond") in family.claimed:
            equivalence = Within.DIFFERENT
    shown = _key(number, row, "difference") in family.claimed
    return evolve(row, answer=_answer(row) if shown else row.answer, equivalence=equivalence)


def _answer(row: Row) -> Answer:
    if row.answer is not Answer.NOT_SHOWN or not row.difference:
        return row.answer
    if row.measure == SCORE:
        return Answer.HIGHER if row.difference > 0 else Answer.LOWER
    return Answer.BETTER if (row.difference < 0) == (row.measure in LESS) else Answer.WORSE


def _row(measure: str, place: tuple[str, str, str], pairs: Matched, span: float, terms: Terms) -> Tested:
    scored = [pair for pair in pairs if all(case.score(measure) is not None for case in pair)]
    before, after = (np.array([pair[side].score(measure) for pair in scored], dtype=np.float64) for side in (0, 1))
    clusters = clusters_of(scored)
    change = _change(measure, scored, clusters, span, terms)
    estimate, test = change.estimate, change.test
    # Rounded: means of repeats that are equal must not differ in the last digit.
    gain = (before - after if measure in LESS else after - before).round(12)
    # Equal scores are not equal verdicts: both may be wrong in different ways.
    same = not gain.any() and all(_labels(case) == _labels(other) for case, other in scored)
    row = Row(
        measure=measure,
        task=place[0],
        test=place[1],
        unit=_UNITS.get(measure, "proportion"),
        first=float(np.sort(before).mean()) if scored else None,
        second=float(np.sort(after).mean()) if scored else None,
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        method=estimate.method,
        cases=len(scored),
        items=len({case.item for case, _ in scored}),
        clusters=estimate.clusters,
        better=int((gain > 0).sum()),
        worse=int((gain < 0).sum()),
        p=test.p,
        same_as=place[2],
        test_method=test.method,
        answer=Answer.EMPTY if not scored else Answer.IDENTICAL if same else Answer.NOT_SHOWN,
        equivalence=None,
        unpaired=len(pairs) - len(scored),
        missing_first=count_missing(case for case, _ in pairs),
        missing_second=count_missing(other for _, other in pairs),
    )
    difference = PValue(p=1.0 if test.p is None else test.p, least=test.least) if scored else NO_DATA
    if terms.margin is None or measure == ERROR:
        return Tested(row=row, difference=difference)
    return Tested(
        row=row,
        difference=difference,
        beyond=_beyond_p(estimate, terms, lambda shift: _change(measure, scored, clusters, span, terms, shift).test.p),
        same=_within_p(before, after, clusters, terms),
    )


def clusters_of(pairs: Sequence[tuple[Case, Case]]) -> NDArray[np.int64]:
    """Number the clusters of matched cases; what is one cluster in either run is one."""
    # Numbered, because equal names of clusters in two runs need not be the same cluster.
    names = link_members((case.item, (f"1 {case.cluster}", f"2 {other.cluster}")) for case, other in pairs)
    known = {name: code for code, name in enumerate(sorted(set(names.values())))}
    return np.array([known[names[case.item]] for case, _ in pairs], dtype=np.int64)


def _labels(case: Case) -> list[str | None]:
    return [trial.label for trial in case.trials]


def _change(
    measure: str, pairs: Matched, clusters: NDArray[np.int64], span: float, terms: Terms, shift: float = 0.0
) -> jrh_stats.Change:
    """Estimate and test the change of a score over matched cases, each of which counts the same, answer by answer.

    The shift is added to all scores of the second side: it moves the null hypothesis from 0.
    """
    scores, places, second = [], [], []
    for place, pair in enumerate(pairs):
        for side, case in enumerate(pair):
            scores += [trial.scores.get(measure, np.nan) + shift * side for trial in case.trials]
            places += [place] * len(case.trials)
            second += [bool(side)] * len(case.trials)
    items = np.array(places, dtype=np.int64)
    return jrh_stats.paired_change(
        scores,
        second,
        items,
        clusters[items],
        # Every case counts the same, however often its question was asked.
        weights=np.ones(len(items)),
        span=span + abs(shift),
        level=terms.level,
        seed=terms.seed,
    )


def _beyond_p(estimate: jrh_stats.Estimate, terms: Terms, test_with_shift: Callable[[float], float | None]) -> PValue:
    """Test the margin on the side of the estimate: at most one of the two one-sided hypotheses is false."""
    value, low, high, margin = estimate.value, estimate.low, estimate.high, terms.margin or 0.0
    if value is None or low is None or high is None or estimate.clusters <= 1 or abs(value) <= margin:
        return PValue(p=1.0)
    null = math.copysign(margin, value)
    p = jrh_stats.interval_p(value, low, high, null, level=terms.level, degrees=estimate.clusters - 1)
    # The interval may cover less than it says: the exact test that decides about 0 has to reject the margin as well.
    if FEW_EVENTS in estimate.flags:
        exact = test_with_shift(-null)
        p = 1.0 if exact is None else max(p, exact)
    # Half of a two-sided p-value, on the side that the estimate is on.
    return PValue(p=p / 2 if p < 1 else 1.0)


def _within_p(
    before: NDArray[np.float64], after: NDArray[np.float64], clusters: NDArray[np.int64], terms: Terms
) -> PValue:
    """Test that the scores differ by the margin or more, by two one-sided tests."""
    if not len(before):
        return NO_DATA
    sums = jrh_stats.cluster_sums(clusters, after - before, np.ones(len(clusters)))
    # `equivalence` needs a one-sided error rate below one half, whatever the level.
    alpha = min(1 - terms.level, 0.5 - 1e-9)
    result = jrh_stats.equivalence(sums[:, 0], sums[:, 1], margin=terms.margin or 0.0, alpha=alpha)
    if result.p_equivalent is not None:
        return PValue(p=result.p_equivalent)
    # A margin as wide as the scale: no difference can be larger.
    return PValue(p=0.0 if result.answer is jrh_stats.Answer.EQUIVALENT else 1.0)


def count_missing(cases: Iterable[Case]) -> Mapping[str, int]:
    """Count the trials without a verdict by status."""
    counts = Counter(trial.status for case in cases for trial in case.trials if trial.label is None)
    return dict(sorted(counts.items()))


def changes(
    matched: Matched, first: RunReport, noise: tuple[Mapping[str, Noise], Mapping[str, Noise]], terms: Terms
) -> Iterator[Changes]:
    """Yield per task and test how often the verdict differs, with the rerun noise of both sides by their tasks."""
    for (task, test), pairs in cells(matched, first).items():
        trials = [
            (cluster, float(before != after))
            for cluster, (case, other) in zip(clusters_of(pairs), pairs, strict=True)
            for before, after in case.label_pairs(other)
        ]
        # A repeat that one side alone was asked is not missing.
        repeats = sum(min(len(case.trials), len(other.trials)) for case, other in pairs)
        differing = np.array([differs for _, differs in trials], dtype=np.float64)
        sums = jrh_stats.cluster_sums([cluster for cluster, _ in trials], differing, np.ones(len(trials)))
        proportion = jrh_stats.clustered_proportion(sums[:, 0], sums[:, 1], level=terms.level)
        yield Changes(
            task=task,
            test=test,
            trials=len(trials),
            items=len({case.item for case, other in pairs if case.label_pairs(other)}),
            clusters=proportion.clusters,
            changed=int(differing.sum()),
            rate=proportion.value,
            low=proportion.low,
            high=proportion.high,
            missing=repeats - len(trials),
            noise_first=noise[0].get(pairs[0][0].task),
            noise_second=noise[1].get(pairs[0][1].task),
        )


def rerun_noise(cases: Sequence[Case], terms: Terms) -> Mapping[str, Noise]:
    """Return the share of pairs of repeats in the reference condition that differ, by task, with its interval."""
    by_task: dict[str, list[Case]] = {}
    for case in cases:
        if case.test == REFERENCE:
            by_task.setdefault(case.task, []).append(case)
    return {task: _noise(task_cases, terms) for task, task_cases in by_task.items()}


def _noise(cases: Sequence[Case], terms: Terms) -> Noise:
    answers = [Counter(label for label in _labels(case) if label is not None) for case in cases]
    # One column at least, where nothing was answered.
    names = sorted({label for counts in answers for label in counts}) or [""]
    counts = [[answer_counts[name] for name in names] for answer_counts in answers]
    clusters = clusters_of([(case, case) for case in cases])
    estimate = jrh_stats.rerun_disagreement(counts, clusters, level=terms.level)
    differing, pairs = jrh_stats.count_disagreeing_pairs(counts)
    return Noise(
        differing=int(differing.sum()),
        pairs=int(pairs.sum()),
        items=len({case.item for case, pairs_of_case in zip(cases, pairs, strict=True) if pairs_of_case}),
        clusters=estimate.clusters,
        rate=estimate.value,
        low=estimate.low,
        high=estimate.high,
        missing=count_missing(cases),
    )
