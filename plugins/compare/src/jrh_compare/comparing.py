"""Compare sides in verdicts, flips and costs, and collect the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import jrh_stats
import numpy as np
from attrs import evolve
from jrh import JrhError, Status

from jrh_compare.causes import causes, check_comparable
from jrh_compare.document import verdict_sentence
from jrh_compare.matching import Matched, match, match_responses
from jrh_compare.pairing import Terms, changes, count_missing, decide, rerun_noise, rows
from jrh_compare.results import Comparison, Direction, Flip, Pair, Point, SideName
from jrh_compare.scoring import AGREEMENT, ERROR, EXPECTED, GOLD, Case, measure_names, read_cases, read_responses
from jrh_compare.sides import OpenRun, Side


def flips(matched: Matched, most: int) -> tuple[tuple[Flip, ...], Mapping[str, int]]:
    """Return the cases whose verdicts differ in some repeat, and their counts by direction.

    A case that both sides answered in a repeat, differently, counts. It is scored by what is expected of it.

    Args:
        matched: the cases.
        most: how many to return; all are counted.
    """
    changed = [
        _flip(case, other)
        for case, other in matched
        if any(before != after for before, after in case.label_pairs(other))
    ]
    order = list(Direction)
    changed.sort(
        key=lambda flip: (order.index(flip.direction), _size(flip), flip.task, flip.test, flip.item, flip.variant)
    )
    counts = Counter(flip.direction.value for flip in changed)
    return tuple(changed[:most]), {direction.value: counts[direction.value] for direction in Direction}


def _size(flip: Flip) -> float:
    if flip.score_before is None or flip.score_after is None:
        return 0.0
    return -abs(flip.score_after - flip.score_before)


def _flip(case: Case, other: Case) -> Flip:
    before, after, gain = _scores(case, other)
    direction = Direction.BETTER if gain > 0 else Direction.WORSE if gain < 0 else Direction.SIDEWAYS
    return Flip(
        case_first=case.id,
        case_second=other.id,
        item=case.item,
        task=case.task,
        test=case.test,
        variant=case.variant,
        template=case.template,
        option_order=case.option_order,
        expected=case.expected,
        gold=case.gold or "",
        before=_answers(case),
        after=_answers(other),
        score_before=before,
        score_after=after,
        direction=direction,
    )


def _scores(case: Case, other: Case) -> tuple[float | None, float | None, float]:
    """Return both scores on the first shared measure and the gain; 0 if neither is better."""
    for measure in (ERROR, GOLD, EXPECTED, AGREEMENT):
        before, after = case.score(measure), other.score(measure)
        if before is not None and after is not None:
            gain = before - after if measure == ERROR else after - before
            # Rounded: means of repeats that are equal must not differ in the last digit.
            return before, after, round(gain, 12)
    return None, None, 0.0


def _answers(case: Case) -> tuple[str, ...]:
    return tuple(trial.status if trial.label is None else trial.label for trial in case.trials)


_FAILED = frozenset(status.value for status in Status if status.transient)


def curve(sides: Sequence[tuple[SideName, Mapping[str, Case]]], terms: Terms) -> tuple[Point, ...]:
    """Place every side on the plane of cost and correct verdicts and mark the Pareto frontier.

    A verdict is correct if it equals the gold label where the condition keeps it, or the label that a case states; what
    is only expected relative to the reference verdict counts where nothing else is known, because a judge can be steady
    and wrong. Only the cases count that all sides have a score for. Cost is that of all trials of the common cases. A
    side is on the frontier if no other one is at least as often correct, costs at most as much, and is better in one of
    both. The frontier is that of the estimates; a side of unknown price is not placed on it.

    Args:
        sides: the sides, each with its cases by a common name.
        terms: the level of the intervals.
    """
    # A side that was asked easier questions would look better than the others.
    common = set.intersection(*(set(cases) for _, cases in sides)) if sides else set()
    names = sorted(common)
    # What is right is known for some case: then what is merely expected does not count as correct.
    known = any(case.right is not None for _, cases in sides for case in cases.values())

    def score(case: Case) -> float | None:
        return case.right if known else case.score(EXPECTED)

    scored = [name for name in names if all(score(cases[name]) is not None for _, cases in sides)]
    points = [_point(side, cases, names, (scored, score), terms) for side, cases in sides]
    return tuple(evolve(point, frontier=_on_frontier(point, points)) for point in points)


def _point(
    side: SideName,
    cases: Mapping[str, Case],
    names: Sequence[str],
    scoring: tuple[Sequence[str], Callable[[Case], float | None]],
    terms: Terms,
) -> Point:
    scored, score = scoring
    scores = np.array([score(cases[name]) for name in scored], dtype=np.float64)
    clusters = [(cases[name].task, cases[name].cluster) for name in scored]
    # Numbered by task and cluster: tasks may have clusters of the same name.
    known = {cluster: code for code, cluster in enumerate(sorted(set(clusters)))}
    sums = jrh_stats.cluster_sums([known[cluster] for cluster in clusters], scores, np.ones(len(scores)))
    estimate = jrh_stats.clustered_proportion(sums[:, 0], sums[:, 1], level=terms.level)
    trials = [trial for name in names for trial in cases[name].trials]
    # A trial that failed in transit has no cost, which is not the same as an unknown one.
    unknown = sum(trial.cost is None and trial.status not in _FAILED for trial in trials)
    cost = round(sum(trial.cost or 0.0 for trial in trials), 12)
    return Point(
        side=side,
        cases=len(scored),
        items=len({(cases[name].task, cases[name].item) for name in scored}),
        clusters=estimate.clusters,
        correct=estimate.value,
        low=estimate.low,
        high=estimate.high,
        trials=len(trials),
        cost=cost,
        unknown=unknown,
        per_thousand=round(1000 * cost / len(trials), 12) if trials and not unknown else None,
        frontier=None,
    )


def _on_frontier(point: Point, points: Sequence[Point]) -> bool | None:
    if point.per_thousand is None or point.correct is None:
        return None
    here = point.per_thousand, point.correct
    placed = ((other.per_thousand, other.correct) for other in points)
    # As good in both and not equal is better in one.
    return not any(
        cost is not None and correct is not None and cost <= here[0] and correct >= here[1] and (cost, correct) != here
        for cost, correct in placed
    )


def compare(
    pairs: Sequence[tuple[Side, Side]], *, margin: float | None = None, tests: Sequence[str] = (), most_flips: int = 10
) -> Comparison:
    """Compare every pair and place all sides on the plane of cost and correct verdicts.

    Args:
        pairs: first and second side; differences are the second minus the first.
        margin: the largest negligible difference of a share, chosen old seeing the data.
        tests: only these tests; empty: all.
        most_flips: the number of flips to list per pair.

    Raises:
        JrhError: No side has one of the tests, or two runs are of other data or another scale.
    """
    labelled = _label_sides(pairs)
    _check_tests(tests, labelled)
    # The first run sets level and seed, as it names the cases: a note says if others differ.
    report = labelled[0][0].run.report
    terms = Terms(level=report.level, margin=margin, seed=report.seed)
    sides = {side.name.label: side for pair in labelled for side in pair}
    # Read all records: tests are compared with the reference condition even if only some tests are selected.
    all_cases = {label: read_cases(side.records, side.run.report) for label, side in sides.items()}
    # Noise of all cases, whichever tests are chosen: it belongs to the reference condition.
    noise = {label: rerun_noise(side_cases, terms) for label, side_cases in all_cases.items()}
    cases = {label: _of_tests(side_cases, tests) for label, side_cases in all_cases.items()}
    scored = {label: _of_tests(read_responses(side.records, side.run.report), tests) for label, side in sides.items()}
    responses = [match_responses(scored[old.name.label], scored[new.name.label]) for old, new in labelled]
    matched = [
        match(cases[old.name.label], cases[new.name.label], (old.run.report, new.run.report)) for old, new in labelled
    ]
    for (old, new), (both, matching) in zip(labelled, matched, strict=True):
        check_comparable(old, new, both, matching)
    tested, family = decide(
        [
            tuple(rows([*both, *whole_responses], (old.run.report, new.run.report), terms))
            for (old, new), (both, _), whole_responses in zip(labelled, matched, responses, strict=True)
        ],
        terms.level,
    )
    names = measure_names()
    compared = [
        Pair(
            first=old.name,
            second=new.name,
            matching=matching,
            rows=tuple(evolve(row, measure=names[row.measure], same_as=names[row.same_as]) for row in shown),
            changes=tuple(changes(both, old.run.report, (noise[old.name.label], noise[new.name.label]), terms)),
            causes=causes(old, new),
            recorded=not (old.run.imported or new.run.imported),
            flips=listed,
            flipped=counts,
            missing_cases=sum(not (case.has_verdict and other.has_verdict) for case, other in both),
            missing_first=count_missing(case for case, _ in both),
            missing_second=count_missing(other for _, other in both),
        )
        for (old, new), (both, matching), shown in zip(labelled, matched, tested, strict=True)
        for listed, counts in [flips(both, most_flips)]
    ]
    comparison = Comparison(
        level=terms.level,
        margin=margin,
        pairs=tuple(compared),
        family=family.summary,
        curve=_curve(labelled, [both for both, _ in matched], cases, terms),
        notes=tuple(_notes(labelled)),
        unfinished=tuple(_unfinished(labelled)),
    )
    return evolve(
        comparison, pairs=tuple(evolve(pair, verdict=verdict_sentence(pair, comparison)) for pair in compared)
    )


def _of_tests(cases: list[Case], tests: Sequence[str]) -> list[Case]:
    return [case for case in cases if not tests or case.test in tests]


def _curve(
    pairs: Sequence[tuple[Side, Side]], matched: Sequence[Matched], cases: dict[str, list[Case]], terms: Terms
) -> tuple[Point, ...]:
    """Build the cost curve, naming every side's cases as in the first run, which is part of every pair."""
    sides: dict[str, tuple[SideName, dict[str, Case]]] = {}
    for (first, second), both in zip(pairs, matched, strict=True):
        first_cases = {case.id: case for case in cases[first.name.label]}
        sides.setdefault(first.name.label, (first.name, first_cases))
        # Cases matched by place have another id in this run: all sides take those of the first.
        sides[second.name.label] = (second.name, {case.id: other for case, other in both})
    return curve(list(sides.values()), terms)


def _check_tests(tests: Sequence[str], pairs: Sequence[tuple[Side, Side]]) -> None:
    known = list(dict.fromkeys(test for pair in pairs for side in pair for test in side.run.report.tests))
    for test in tests:
        if test not in known:
            raise JrhError(f"no run has a test '{test}'; available: {', '.join(known)}")


def _label_sides(pairs: Sequence[tuple[Side, Side]]) -> list[tuple[Side, Side]]:
    """Label every side by what distinguishes it: the judge, the run, or both."""
    # By the run itself: two paths may lead to one directory.
    names = {(id(side.run), side.name.judge): side.name for pair in pairs for side in pair}.values()
    judges, runs = {name.judge for name in names}, {name.run for name in names}

    def label_side(side: Side) -> Side:
        label = side.name.judge if len(runs) == 1 else side.name.run if len(judges) == 1 else side.name.label
        return evolve(side, name=evolve(side.name, label=label))

    return [(label_side(first), label_side(second)) for first, second in pairs]


def _unfinished(pairs: Sequence[tuple[Side, Side]]) -> Iterable[str]:
    for run in {side.run.path: side.run for pair in pairs for side in pair}.values():
        report = run.report
        if run.unfinished:
            yield f"'{run.path}' is not finished: {run.unfinished}"
        if report.missing_records:
            yield f"'{run.path}': {report.missing_records:,} of {report.planned:,} trials were not run"


def _notes(pairs: Sequence[tuple[Side, Side]]) -> Iterable[str]:
    runs: dict[str, OpenRun] = {side.run.path: side.run for pair in pairs for side in pair}
    compared = {(side.run.path, side.name.judge) for pair in pairs for side in pair}
    for run in runs.values():
        left = [judge for judge in run.report.judges if (run.path, judge) not in compared]
        if left:
            yield f"'{run.path}' has judges that were not compared: {', '.join(left)}"
    levels = {run.report.level for run in runs.values()}
    if len(levels) > 1:
        yield f"the runs have different confidence levels; these intervals use {pairs[0][0].run.report.level:g}"
    simulated = [side.name.label for pair in pairs for side in pair if side.name.simulated]
    if simulated:
        yield f"Simulated judges (planted behaviour, no model): {', '.join(dict.fromkeys(simulated))}"
