"""Compare sides in verdicts, flips and costs, and collect the findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve
from jrh import JrhError
from jrh_measuring.comparing.causes import causes, check_comparable
from jrh_measuring.comparing.cost_curve import curve
from jrh_measuring.comparing.flips import flips
from jrh_measuring.comparing.matching import Matched, leave_out_other_texts, match, match_responses
from jrh_measuring.comparing.pairing import Terms, changes, count_missing, decide, rerun_noise, rows
from jrh_measuring.comparing.results import Comparison, Pair, Point, SideName
from jrh_measuring.comparing.scoring import Case, measure_names, read_cases, read_responses
from jrh_measuring.comparing.sides import OpenRun, Side

from jrh_compare.document import verdict_sentence


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
    matched, responses = [], []
    for old, new in labelled:
        reports, before, after = (old.run.report, new.run.report), old.name.label, new.name.label
        both, matching = leave_out_other_texts(*match(cases[before], cases[after], reports), reports)
        check_comparable(old, new, matching)
        matched.append((both, matching))
        responses.append(match_responses(scored[before], scored[after], reports))
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
    left = {
        path: ", ".join(judge for judge in run.report.judges if (path, judge) not in compared)
        for path, run in runs.items()
    }
    if any(left.values()):
        named = "; ".join(f"{judges} (in '{path}')" for path, judges in left.items() if judges)
        yield f"judges that were not compared: {named}"
    if len({run.report.level for run in runs.values()}) > 1:
        yield f"the runs have different confidence levels; these intervals use {pairs[0][0].run.report.level:g}"
    simulated = [side.name.label for pair in pairs for side in pair if side.name.simulated]
    if simulated:
        yield f"Simulated judges (planted behaviour, no model): {', '.join(dict.fromkeys(simulated))}"
