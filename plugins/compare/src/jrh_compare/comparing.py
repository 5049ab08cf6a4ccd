"""Compare sides and collect the findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve
from jrh import JrhError

from jrh_compare.causes import causes
from jrh_compare.costing import curve
from jrh_compare.flipping import flips
from jrh_compare.matching import Matched, match, match_responses
from jrh_compare.pairing import Terms, adjusted, changes, missing_verdicts, rerun_noise, rows
from jrh_compare.results import Comparison, Pair, Point, SideName
from jrh_compare.scoring import Case, read_cases, read_responses
from jrh_compare.sides import Opened, Side


def compare(
    pairs: Sequence[tuple[Side, Side]], *, margin: float | None = None, tests: Sequence[str] = (), most_flips: int = 10
) -> Comparison:
    """Compare every pair and place all sides on the plane of cost and correct verdicts.

    Args:
        pairs: first and second side; differences are the second minus the first.
        margin: the largest negligible difference of a share, chosen before seeing the data.
        tests: only these tests; empty: all.
        most_flips: the number of flips to list per pair.

    Raises:
        JrhError: No side has one of the tests.
    """
    labelled = _labelled(pairs)
    _check_tests(tests, labelled)
    first = labelled[0][0].run.report
    terms = Terms(level=first.level, margin=margin, seed=first.seed)
    sides = {side.name.label: side for pair in labelled for side in pair}
    # Read all records: tests are compared with the reference condition even if only some tests are selected.
    whole = {label: read_cases(side.records, side.run.report) for label, side in sides.items()}
    noise = {label: rerun_noise(own, terms) for label, own in whole.items()}
    cases = {label: [case for case in own if not tests or case.test in tests] for label, own in whole.items()}
    scored = {label: read_responses(side.records, side.run.report) for label, side in sides.items()}
    if tests:
        scored = {label: [case for case in own if case.test in tests] for label, own in scored.items()}
    responses = [match_responses(scored[one.name.label], scored[two.name.label]) for one, two in labelled]
    matched = [
        match(cases[one.name.label], cases[two.name.label], (one.run.report, two.run.report)) for one, two in labelled
    ]
    tested = adjusted(
        [
            tuple(rows([*both, *whole_responses], (one.run.report, two.run.report), terms))
            for (one, two), (both, _), whole_responses in zip(labelled, matched, responses, strict=True)
        ],
        terms.level,
    )
    found = [
        Pair(
            first=one.name,
            second=two.name,
            matching=matching,
            rows=decided,
            changes=tuple(changes(both, one.run.report, (noise[one.name.label], noise[two.name.label]), terms)),
            causes=causes(one, two),
            recorded=not (one.run.imported or two.run.imported),
            flips=shown[0],
            flipped=shown[1],
            missing_cases=sum(not (case.answered and other.answered) for case, other in both),
            missing_first=missing_verdicts(case for case, _ in both),
            missing_second=missing_verdicts(other for _, other in both),
        )
        for (one, two), (both, matching), decided in zip(labelled, matched, tested, strict=True)
        for shown in [flips(both, most_flips)]
    ]
    return Comparison(
        level=terms.level,
        margin=margin,
        pairs=tuple(found),
        curve=_curve(labelled, [both for both, _ in matched], cases, terms),
        notes=tuple(_notes(labelled)),
    )


def _curve(
    pairs: Sequence[tuple[Side, Side]], matched: Sequence[Matched], cases: dict[str, list[Case]], terms: Terms
) -> tuple[Point, ...]:
    """Build the cost curve, naming every side's cases as in the first run, which is part of every pair."""
    sides: dict[str, tuple[SideName, dict[str, Case]]] = {}
    for (one, two), both in zip(pairs, matched, strict=True):
        own = {case.id: case for case in cases[one.name.label]}
        sides.setdefault(one.name.label, (one.name, own))
        sides[two.name.label] = (two.name, {case.id: other for case, other in both})
    return curve(list(sides.values()), terms)


def _check_tests(tests: Sequence[str], pairs: Sequence[tuple[Side, Side]]) -> None:
    known = list(dict.fromkeys(test for pair in pairs for side in pair for test in side.run.report.tests))
    for test in tests:
        if test not in known:
            raise JrhError(f"no run has a test '{test}'; available: {', '.join(known)}")


def _labelled(pairs: Sequence[tuple[Side, Side]]) -> list[tuple[Side, Side]]:
    """Label every side by what distinguishes it: the judge, the run, or both."""
    names = {(id(side.run), side.name.judge): side.name for pair in pairs for side in pair}.values()
    judges, runs = {name.judge for name in names}, {name.run for name in names}

    def labelled(side: Side) -> Side:
        label = side.name.judge if len(runs) == 1 else side.name.run if len(judges) == 1 else side.name.label
        return evolve(side, name=evolve(side.name, label=label))

    return [(labelled(one), labelled(two)) for one, two in pairs]


def _notes(pairs: Sequence[tuple[Side, Side]]) -> Iterable[str]:
    runs: dict[str, Opened] = {side.run.path: side.run for pair in pairs for side in pair}
    for run in runs.values():
        report = run.report
        if run.unfinished:
            yield f"'{run.path}' is not finished: {run.unfinished}"
        if report.missing_records:
            yield f"'{run.path}': {report.missing_records} of {report.planned} trials were not run"
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
