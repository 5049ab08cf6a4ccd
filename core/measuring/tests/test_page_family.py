"""Claims of a difference are one family per report."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from attrs import evolve
from jrh import REFERENCE, Interval, Measure, RunReport, Scale, Task
from jrh.values import Severity, TaskSummary
from jrh_measuring import PValue, findings_of, with_findings
from jrh_measuring.findings.page_family import PageFamily, Test
from jrh_stats import Estimate, excess_decision, paired_change
from jrh_testing import empty_report, loop_over

CLAIMS = {"moves-more-than-reruns", "accuracy-change"}


def shown(name: str, judge: str, test: str, p: float, least: float | None = None) -> Iterator[Measure]:
    """Yield an effect of 0.2 with the interval that goes with its p-value, and the p-value."""
    from scipy import stats

    half = 0.2 * 1.96 / max(float(stats.norm.isf(p / 2)), 1e-9)
    place = {"judge": judge, "task": "task", "test": test, "n_trials": 60, "n_items": 60}
    ends = Interval(low=max(0.2 - half, -1.0), high=min(0.2 + half, 1.0))
    yield Measure(name=name, estimate=0.2, interval=ends, unit="difference", **place)
    yield Measure(name=f"{name}-p", estimate=p, unit="p-value", **place)
    if least is not None:
        yield Measure(name=f"{name}-p-least", estimate=least, unit="p-value", **place)


def report(*measures: Measure) -> RunReport:
    summary = TaskSummary(
        task=Task(name="task", scale=Scale.of_labels("YES", "NO")), items=60, labelled=60, gold={"YES": 30, "NO": 30}
    )
    return evolve(
        empty_report(),
        tasks=(summary,),
        judges=tuple(dict.fromkeys(each.judge for each in measures)),
        tests=(REFERENCE, *dict.fromkeys(each.test for each in measures)),
        measures=measures,
    )


def claimed(*measures: Measure) -> set[tuple[str, str, str]]:
    found = findings_of(report(*measures))
    return {(each.judge, test, each.kind) for each in found if each.kind in CLAIMS for test in each.tests}


def grid(p: float, others: float, least: float | None = None, judges: int = 8, tests: int = 6) -> list[Measure]:
    """Return the changes of all judges and tests: one with the p-value, the others with theirs."""
    return [
        each
        for judge in range(judges)
        for test in range(tests)
        for each in shown(
            "excess-disagreement",
            f"judge{judge}",
            f"test{test}",
            others if judge or test else p,
            least if judge or test else None,
        )
    ]


def test_the_family_spans_all_judges_and_tests_of_a_report() -> None:
    assert claimed(*grid(0.005, 0.9, judges=1)) == {("judge0", "test0", "moves-more-than-reruns")}
    assert claimed(*grid(0.005, 0.9)) == set(), "0.005 is below 0.05 / 6, not below 0.05 / 48"
    assert len(claimed(*grid(0.001, 0.9))) == 1


def test_a_test_that_cannot_decide_is_not_counted() -> None:
    assert len(claimed(*grid(0.005, 0.9, least=0.3))) == 1


def test_a_chain_of_verdicts_and_accuracy_costs_one_test() -> None:
    both = [
        *shown("excess-disagreement", "judge", "format", 0.03),
        *shown("accuracy-change", "judge", "format", 0.04),
    ]
    assert len(claimed(*both)) == 2


def test_accuracy_that_changes_decides_where_the_excess_does_not() -> None:
    """A chain opens through either test; before, it said "too few data" where a gate on the change itself decides."""
    swapped = [
        *shown("excess-disagreement", "judge", "format", 0.06),
        *shown("accuracy-change", "judge", "format", 0.001),
    ]
    assert claimed(*swapped) == {("judge", "format", "accuracy-change")}, "the excess has an interval that holds 0"
    found = findings_of(report(*swapped))
    assert "undecided" not in {each.kind for each in found}
    swapped[2:] = shown("accuracy-change", "judge", "format", 0.006)
    assert claimed(*swapped) == set(), "0.006 is above a tenth of 0.05"
    (open_one,) = [each for each in findings_of(report(*swapped)) if each.kind == "undecided"]
    assert open_one.statement == "Possibly a change of accuracy; not significant after correcting for 2 tests"


def test_what_is_asked_beside_a_change_takes_little_of_the_level() -> None:
    """48 rates of noise that are not shown do not make 48 changes harder to show: before, 0.0008 was not claimed."""
    place = {"task": "task", "n_trials": 120, "n_items": 60}
    quiet = Interval(low=0.0, high=0.08)
    noise = [
        Measure(name="rerun-disagreement", estimate=0.02, interval=quiet, judge=f"judge{judge}", test=test, **place)
        for judge in range(8)
        for test in (REFERENCE, *(f"test{number}" for number in range(6)))
    ]
    assert len(claimed(*grid(0.0008, 0.9), *noise)) == 1
    assert claimed(*grid(0.0012, 0.9), *noise) == set(), "0.0012 is above 0.9 * 0.05 / 48"


def test_claims_that_rest_on_an_interval_belong_to_the_family() -> None:
    place = {"judge": "judge0", "task": "task", "n_trials": 60, "n_items": 60}
    ends = Interval(low=0.01, high=0.19)
    over = Measure(name="overconfidence", estimate=0.1, interval=ends, unit="difference", test=REFERENCE, **place)
    alone = findings_of(report(over))
    assert [each.kind for each in alone] == ["miscalibration"]
    among = findings_of(report(over, *grid(0.9, 0.9)))
    assert "miscalibration" not in {each.kind for each in among}


def test_the_report_says_what_is_controlled() -> None:
    family = with_findings(report(*grid(0.001, 0.9))).family
    assert family is not None
    assert (family.tests, family.claimed, family.alpha) == (48, 1, 0.05)
    assert family.brief == "Corrected for 48 tests (Holm, 5%)"


@pytest.mark.study
@loop_over(("judges", "tests"), [(8, 6), (8, 12)])
def test_a_large_page_under_the_complete_null_makes_a_false_claim_in_at_most_five_percent(
    judges: int, tests: int
) -> None:
    hold_the_complete_null(judges, tests)


@loop_over(("judges", "tests"), [(1, 1), (2, 3)])
def test_a_page_under_the_complete_null_makes_a_false_claim_in_at_most_five_percent(judges: int, tests: int) -> None:
    hold_the_complete_null(judges, tests)


def hold_the_complete_null(judges: int, tests: int) -> None:
    """Tests of a judge share a reference; accuracy and verdicts are two tests each. Before: 24% of pages of 8 x 6."""
    from scipy import stats

    rng = np.random.default_rng(judges * 100 + tests)
    pages, false = 150, 0
    for _ in range(pages):
        shared = rng.standard_normal((judges, 1, 2))
        z = np.sqrt(0.5) * (shared + rng.standard_normal((judges, tests, 2)))
        p = 2 * stats.norm.sf(np.abs(z))
        measures = [
            each
            for judge in range(judges)
            for test in range(tests)
            for place, name in enumerate(("excess-disagreement", "accuracy-change"))
            for each in shown(name, f"judge{judge}", f"test{test}", float(p[judge, test, place]))
        ]
        found = findings_of(report(*measures))
        false += any(each.severity in (Severity.BAD, Severity.WARNING, Severity.INFO, Severity.GOOD) for each in found)
    assert false / pages <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / pages)


def measured(name: str, judge: str, test: str, found: Estimate, p: float | None, least: float) -> Iterator[Measure]:
    place = {"judge": judge, "task": "task", "test": test, "n_trials": 80, "n_items": 80}
    ends = Interval(low=found.low or 0.0, high=found.high or 0.0)
    yield Measure(name=name, estimate=found.value, interval=ends, unit="difference", **place)
    yield Measure(name=f"{name}-p", estimate=p, unit="p-value", **place)
    yield Measure(name=f"{name}-p-least", estimate=least, unit="p-value", **place)


def page(rng: np.random.Generator, lost: tuple[float, ...], items: int = 80) -> list[Measure]:
    """Ask two noisy judges twice, and once per test; a test takes the right belief away from a share of items."""
    found: list[Measure] = []
    for judge in ("one", "other"):
        right = rng.random(items) < 0.85
        reference = np.where(rng.random((items, 2)) < 0.3, rng.random((items, 2)) < 0.5, right[:, None])
        for number, share in enumerate(lost):
            belief = right & (rng.random(items) >= share)
            said = np.where(rng.random(items) < 0.3, rng.random(items) < 0.5, belief)[:, None]
            counts = np.stack([np.stack([g.sum(axis=1), (~g).sum(axis=1)], axis=1) for g in (reference, said)], axis=1)
            excess, moves = excess_decision(counts, resamples=500)
            answers = np.hstack([reference, said]).astype(float).ravel()
            change = paired_change(answers, np.tile([False, False, True], items), np.repeat(np.arange(items), 3))
            place = judge, f"test{number}"
            found += measured("excess-disagreement", *place, excess.excess, moves.p, moves.least)
            found += measured("accuracy-change", *place, change.estimate, change.test.p, change.test.least)
    return found


def test_pages_of_real_tests_claim_what_is_there_and_little_else() -> None:
    """Two of four tests change nothing. Where only the excess opened a chain, 54% of the real changes were claimed."""
    rng, pages = np.random.default_rng(14), 120
    found = [claimed(*page(rng, (0.0, 0.4, 0.0, 0.4))) for _ in range(pages)]
    places = [{(judge, test) for judge, test, _ in each} for each in found]
    false = sum(any(test in ("test0", "test2") for _, test in each) for each in places)
    shown_places = sum(test in ("test1", "test3") for each in places for _, test in each)
    assert false / pages <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / pages)
    assert shown_places / (4 * pages) > 0.65


def same(test: str, p: float, judge: str = "judge", name: str = "accuracy-equivalence") -> Iterator[Measure]:
    """Yield an equivalence that passed on its own, and its p-value."""
    place = {"judge": judge, "task": "task", "test": test, "n_trials": 60, "n_items": 60}
    ends = Interval(low=-0.04, high=0.04, level=0.9)
    answer = "equivalent" if p < 0.05 else "undecided"
    yield Measure(name=name, estimate=0.0, interval=ends, flags=(answer,), margin=0.05, unit="difference", **place)
    yield Measure(name=f"{name}-p", estimate=p, unit="p-value", **place)


def equivalent(*measures: Measure) -> set[tuple[str, str]]:
    found = with_findings(report(*measures)).findings
    kinds = {("accuracy-equivalence", Severity.GOOD), ("robust", Severity.GOOD)}
    return {(each.kind, test) for each in found if (each.kind, each.severity) in kinds for test in each.tests}


def test_claims_of_equivalence_are_corrected_over_the_report() -> None:
    """Benjamini and Hochberg: 60 items without any change have p = 0.046, in one test or in six."""
    names = [f"test{number}" for number in range(6)]
    still = [each for name in names for each in same(name, 0.046)]
    assert equivalent(*still) == {("accuracy-equivalence", name) for name in names}
    lone = [*same("test0", 0.046), *(each for name in names[1:] for each in same(name, 0.4))]
    assert equivalent(*lone) == set()
    assert equivalent(*same("test0", 0.008), *lone[2:]) == {("accuracy-equivalence", "test0")}
    robust = [
        each for name in names for each in same(name, 0.04 if name == "test0" else 0.4, name="excess-equivalence")
    ]
    assert equivalent(*robust) == set()


def test_pages_of_which_every_test_lies_at_the_margin_seldom_claim_equivalence() -> None:
    """200 items, 8 judges and 6 tests, a change of 5%: before, 89% of such pages had a false "equivalent"."""
    from scipy import stats

    changed = np.random.default_rng(5).binomial(200, 0.05, size=(400, 48))
    p = stats.binom.cdf(changed, 200, 0.05)
    alone, together = 0, 0
    for page in p:
        hypotheses = [Test(key=("rule", number), result=PValue(p=each)) for number, each in enumerate(page)]
        together += bool(PageFamily.of((), 0.95, hypotheses).equivalent)
        alone += bool((page < 0.05).any())
    assert alone > 0.6 * len(p)
    assert together <= stats.binom.ppf(0.999, len(p), 0.05)


def test_a_report_says_what_is_controlled_of_its_claims_of_equivalence() -> None:
    family = with_findings(report(*same("test0", 0.01), *same("test1", 0.2))).family
    assert family is not None
    assert family.equivalences == 2
    expected = "and 2 tests of equivalence (Benjamini-Hochberg, 5%)."
    assert expected in family.sentence


def unchanged(test: str, p: float, items: int = 60) -> Iterator[Measure]:
    """Yield the measures of a test in which nothing changed, with a p-value of its equivalence."""
    place = {"judge": "judge", "task": "task", "test": test, "n_trials": items, "n_items": items}
    ends = Interval(low=-0.06, high=0.06, method="wilson-clusters")
    yield Measure(
        name="accuracy-change", estimate=0.0, interval=ends, unit="difference", flags=("few-events",), **place
    )
    yield Measure(name="accuracy-change-p", estimate=1.0, unit="p-value", **place)
    yield from (evolve(each, n_trials=items, n_items=items) for each in same(test, p))


@loop_over(
    ("equal", "others", "needed"),
    [
        # ln(0.05 k / m) / ln(0.95): brute force in `fewest`.
        (3, 3, 72),
        (1, 5, 94),
        (24, 24, 72),
        (1, 47, 134),
    ],
)
def test_an_equivalence_that_only_others_keep_from_being_claimed_says_so_and_what_decides_it(
    equal: int, others: int, needed: int
) -> None:
    """Before: "too few data to confirm or rule out a change", beside an interval within the margin; 120 items."""
    some = [each for n in range(equal) for each in unchanged(f"same{n}", 0.046)]
    rest = [each for n in range(others) for each in same(f"other{n}", 0.6)]
    assert equivalent(*some, *rest) == set()
    found = [each for each in findings_of(report(*some, *rest)) if each.tests[:1] == ("same0",)]
    (one,) = found
    assert one.kind == "undecided"
    assert one.statement == (
        f"Accuracy possibly equivalent within ±0.05; not significant after correcting for {equal + others} claims of "
        "equivalence"
    )
    assert needed == fewest(0.05 * equal / (equal + others))
    shown_needed = needed if needed < 100 else -(-needed // 10) * 10
    assert one.decide == f"ruling out 0.05 if none changes takes {shown_needed} items in all"
    # So many items without a change decide it, one less does not.
    for items, wanted in ((needed, equal), (needed - 1, 0)):
        enough = [each for n in range(equal) for each in unchanged(f"same{n}", 0.95**items, items)]
        assert len(equivalent(*enough, *rest)) == wanted


def fewest(level: float) -> int:
    return next(items for items in range(1, 1000) if 0.95**items <= level)


def test_an_open_effect_near_zero_asks_for_the_items_of_the_equivalence() -> None:
    """A margin of 0.05 and a change with noise: the distance to tell is the margin, one-sided at 5% / 6 here."""
    from scipy import stats

    place = {"judge": "judge", "task": "task", "test": "test0", "n_trials": 300, "n_items": 300}
    change = [
        Measure(
            name="accuracy-change", estimate=-0.01, interval=Interval(low=-0.06, high=0.04), unit="difference", **place
        ),
        Measure(name="accuracy-change-p", estimate=0.7, unit="p-value", **place),
        Measure(
            name="accuracy-equivalence",
            estimate=-0.01,
            interval=Interval(low=-0.052, high=0.032, level=0.9),
            flags=("undecided",),
            margin=0.05,
            unit="difference",
            **place,
        ),
        Measure(name="accuracy-equivalence-p", estimate=0.058, unit="p-value", **place),
    ]
    rest = [each for n in range(1, 6) for each in same(f"test{n}", 0.6)]
    (found,) = [each for each in findings_of(report(*change, *rest)) if each.tests[:1] == ("test0",)]
    assert found.statement == "Too few data to confirm or rule out a change of accuracy"
    error = 0.042 / stats.norm.isf(0.05)
    # 90% power for either side is 80% for both.
    expected = 300 * (error * (stats.norm.isf(0.05 / 6) + stats.norm.isf(0.1)) / 0.05) ** 2
    low, high = (float(end) for end in re.findall(r"[\d,]{4,}|\d{3}", found.decide.replace(",", ""))[-2:])
    assert found.decide.startswith("80% power for equivalence within ±0.05 takes ")
    assert low < expected < high
