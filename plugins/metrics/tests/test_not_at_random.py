"""A judge whose wrong answers are lost ten times as often as its right ones."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve
from jrh import REFERENCE, Measure, MetricContext, RecordTable, Scale, Task
from jrh.values import Categorical
from jrh_measuring import (
    INFORMATIVE_MISSING,
    SENSITIVE_TO_MISSING,
    UNTESTABLE_MISSING,
    BreakdownOptions,
    MetricOptions,
    load_flags,
    unsure,
)
from jrh_metrics.changes import AccuracyChange
from jrh_metrics.excess import NoiseExcess
from jrh_metrics.kappa import GoldKappa, SelfKappa
from jrh_metrics.options import FullOptions
from jrh_metrics.ordinal import OrdinalAssociation
from jrh_metrics.rates import GoldAccuracy, MissingByCondition

RIGHT = 0.8
LABELS = ("YES", "NO")
FLAGS = load_flags()


def records(
    rng: np.random.Generator,
    items: int,
    lost_wrong: float,
    lost_right: float,
    right: float = RIGHT,
    labels: tuple[str, str] = LABELS,
) -> RecordTable:
    """Ask every item twice in the reference condition and twice in a test; the judge never changes its mind."""
    gold = rng.integers(0, 2, items)
    said = np.where(rng.random(items) < right, gold, 1 - gold)
    item, test = np.tile(np.arange(items), 4), np.repeat([0, 0, 1, 1], items)
    answer = said[item]
    lost = rng.random(len(item)) < np.where(answer == gold[item], lost_right, lost_wrong)
    answer = np.where(lost, -1, answer)
    names = tuple(f"item-{number}" for number in range(items))
    cases = tuple(f"{name}/{part}" for part in ("reference", "test") for name in names)
    zero = np.zeros_like(item)
    columns = {
        "task": (zero, ("task",)),
        "judge": (zero, ("judge",)),
        "item_id": (item, names),
        "group": (item, names),
        "case_id": (item + test * items, cases),
        "test": (test, (REFERENCE, "changed")),
        "family": (test, (REFERENCE, "changed")),
        **dict.fromkeys(("variant", "stratum", "template", "option_order"), (zero, ("",))),
        "polarity": (zero, ("positive",)),
        "gold": (gold[item], labels),
        "expectation": (test, ("equals", "same")),
        "expected": (np.where(test == 0, gold[item], -1), labels),
        "status": (lost.astype(int), ("ok", "refused")),
        "presented": (answer, labels),
        "canonical": (answer, labels),
    }
    numbers = {"repeat": np.tile([0.0, 1.0], 2).repeat(items), "simulated": zero * 0.0, "strength": zero * 0.0}
    return RecordTable({name: Categorical(c.astype(np.int32), k) for name, (c, k) in columns.items()}, numbers)


def context(seed: int) -> MetricContext:
    return MetricContext(tasks={"task": Task(name="task", scale=Scale.of_labels(*LABELS))}, resamples=200, seed=seed)


def accuracy(table: RecordTable, seed: int) -> Measure:
    found = GoldAccuracy(BreakdownOptions()).measure(table, context(seed))
    return next(each for each in found if each.test == REFERENCE and not each.cell)


def test_it_is_flagged_and_covered() -> None:
    """Before: never flagged; with 200 items asked once the interval covered 63%, with 60 asked twice 90%."""
    rng, studies = np.random.default_rng(11), 60
    found = [accuracy(records(rng, 100, 0.3, 0.03), study) for study in range(studies)]
    flagged = [each for each in found if INFORMATIVE_MISSING in each.flags]
    assert len(flagged) >= 0.95 * studies
    intervals = [each.interval for each in flagged if each.interval is not None]
    assert {each.method for each in intervals} == {"imbens-manski"}
    assert sum(each.low <= RIGHT <= each.high for each in intervals) >= 0.9 * len(intervals)


def test_verdicts_that_are_missing_at_random_are_rarely_flagged() -> None:
    rng, studies = np.random.default_rng(12), 100
    flagged = sum(
        INFORMATIVE_MISSING in accuracy(records(rng, 60, 0.08, 0.08), study).flags for study in range(studies)
    )
    assert flagged / studies <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / studies)


def test_the_reason_is_told_and_the_change_of_accuracy_is_bounded() -> None:
    table = records(np.random.default_rng(13), 200, 0.3, 0.03)
    found = list(MissingByCondition(MetricOptions()).measure(table, context(0)))
    p = {each.name: each.estimate for each in found}
    flags = {each.name: each.flags for each in found}
    assert "missing-on-errors" in flags["missing-by-error-p"], "30% are lost where the judge is wrong, 3% elsewhere"
    assert p["missing-by-error-p"] is not None
    assert p["missing-by-error-p"] < 1e-6
    change = next(each for each in AccuracyChange(FullOptions()).measure(table, context(0)))
    assert change.interval is not None
    assert change.bounds is not None
    low, high = change.bounds
    assert low < 0 < high
    assert change.interval.low <= low
    assert change.interval.high >= high


@pytest.mark.parametrize("lost", ["reference", "test"])
def test_the_bounds_of_a_change_are_its_extremes_over_all_answers_that_were_lost(lost: str) -> None:
    """Four items, two lost answers: every way to fill them in."""
    rng = np.random.default_rng(14)
    whole = records(rng, 4, 0.0, 0.0)
    codes = {name: np.array(whole.codes(name)) for name in ("canonical", "status", "test")}
    rows = np.flatnonzero(codes["test"] == (lost == "test"))[[0, 5]]
    gold = np.array(whole.codes("gold"))

    def changed(filled: tuple[int, int] | None) -> Measure:
        answers, status = codes["canonical"].copy(), codes["status"].copy()
        answers[rows] = -1 if filled is None else filled
        status[rows] = 1 if filled is None else 0
        columns = {
            name: Categorical(np.array(whole.codes(name)), whole.categories(name))
            for name in whole.columns
            if name not in ("status", "presented", "canonical", "repeat", "simulated", "strength")
        }
        columns["status"] = Categorical(status.astype(np.int32), ("ok", "refused"))
        columns["presented"] = columns["canonical"] = Categorical(answers.astype(np.int32), LABELS)
        numbers = {name: np.array(whole.number(name)) for name in ("repeat", "simulated", "strength")}
        return next(iter(AccuracyChange(FullOptions()).measure(RecordTable(columns, numbers), context(0))))

    values = [changed((one, two)).estimate for one in (0, 1) for two in (0, 1)]
    assert gold.size
    bounds = changed(None).bounds
    assert bounds == pytest.approx((min(v for v in values if v is not None), max(v for v in values if v is not None)))


def test_a_judge_that_guesses_and_loses_its_mistakes_is_not_shown_to_agree() -> None:
    """The verdicts that are there are right in about 60%: their kappa looks real."""
    rng, studies, excluded, seen = np.random.default_rng(14), 40, 0, []
    for study in range(studies):
        table = records(rng, 200, 0.4, 0.03, right=0.5)
        kappa = next(iter(GoldKappa(BreakdownOptions()).measure(table, context(study))))
        assert INFORMATIVE_MISSING in kappa.flags
        assert kappa.interval is not None
        assert kappa.observed is not None
        assert kappa.bounds is not None
        assert (
            kappa.interval.low <= kappa.bounds[0] <= (kappa.estimate or 0.0) <= kappa.bounds[1] <= kappa.interval.high
        )
        assert kappa.interval.low < kappa.observed.low
        excluded += kappa.interval.low > 0
        seen.append(kappa.estimate or 0.0)
    assert np.mean(seen) > 0.05, "the verdicts that are there mislead"
    # One in 40 such samples agrees beyond chance before anything is lost: more than 4 have a probability of 0.003.
    assert excluded <= 4


def test_the_excess_allows_for_what_is_lost() -> None:
    """Without missing verdicts the excess is 0: the judge never changes its mind."""
    table = records(np.random.default_rng(15), 200, 0.3, 0.03)
    excess = next(each for each in NoiseExcess(FullOptions()).measure(table, context(0)) if each.interval is not None)
    assert INFORMATIVE_MISSING in excess.flags
    assert excess.bounds is not None
    assert excess.interval is not None
    assert excess.interval.method == "imbens-manski"
    assert excess.interval.low <= excess.bounds[0] < excess.bounds[1] <= excess.interval.high
    assert excess.bounds[0] <= 0.0 <= excess.bounds[1]


def test_coefficients_decide_nothing_where_verdicts_are_missing_for_a_reason() -> None:
    """Their intervals are those of the verdicts that are there, which may say too much."""
    table = records(np.random.default_rng(18), 200, 0.3, 0.03)
    found = [
        *SelfKappa(BreakdownOptions()).measure(table, context(0)),
    ]
    assert found
    for measure in found:
        assert measure.bounds is None
        assert measure.interval is not None
        assert measure.interval.method != "imbens-manski"
        assert measure.missing["refused"] > 0
        assert INFORMATIVE_MISSING in unsure(measure, FLAGS)


@pytest.mark.parametrize("labels", [LABELS, ("1", "2")])
def test_coefficients_have_the_flags_of_the_rate_that_missing_verdicts_may_sway(labels: tuple[str, str]) -> None:
    """Every item asked once: where accuracy allows for any missing verdicts, kappa and correlations decide nothing."""
    rng, flags = np.random.default_rng(19), {SENSITIVE_TO_MISSING, UNTESTABLE_MISSING}
    ordinal = labels != LABELS
    scale = Scale.of_levels(1, 2) if ordinal else Scale.of_labels(*labels)
    now = evolve(context(0), tasks={"task": Task(name="task", scale=scale)})
    seen: set[str] = set()
    for study in range(12):
        whole = records(rng, 60, 0.02 + 0.03 * (study % 6), 0.01, labels=labels)
        table = whole.where(np.flatnonzero((whole.codes("test") == 0) & (whole.number("repeat") == 0)))
        (rate,) = GoldAccuracy(BreakdownOptions()).measure(table, now)
        association = OrdinalAssociation(FullOptions()).measure(table, now) if ordinal else ()
        found = (*association, *GoldKappa(BreakdownOptions()).measure(table, now))
        for measure in (each for each in found if each.unit != "p-value"):
            assert flags.intersection(measure.flags) == flags.intersection(rate.flags), measure.name
            # Kappa with gold has an interval that allows for them, too.
            decides = measure.name == "gold-kappa"
            assert (UNTESTABLE_MISSING in unsure(measure, FLAGS)) == (UNTESTABLE_MISSING in rate.flags and not decides)
        assert UNTESTABLE_MISSING not in unsure(rate, FLAGS), "its interval allows for them"
        seen.update(rate.flags)
    assert UNTESTABLE_MISSING in seen


@pytest.mark.parametrize("items", [60, 200])
def test_a_study_that_cannot_tell_why_verdicts_are_missing_allows_for_any_reason(items: int) -> None:
    """Every item asked once, wrong verdicts lost ten times as often: no test can see it. Covered before: 67 to 90%."""
    rng, studies, told, covered = np.random.default_rng(16), 100, 0, 0
    for study in range(studies):
        whole = records(rng, items, 0.3, 0.03)
        table = whole.where(np.flatnonzero((whole.codes("test") == 0) & (whole.number("repeat") == 0)))
        measure = accuracy(table, study)
        assert measure.interval is not None
        flagged = bool({INFORMATIVE_MISSING, UNTESTABLE_MISSING} & set(measure.flags))
        told += flagged
        assert flagged == (measure.interval.method == "imbens-manski")
        covered += measure.interval.low <= RIGHT <= measure.interval.high
    assert told >= (0.8 if items == 60 else 1.0) * studies, "with 60 items few verdicts are missing in one of 9"
    assert covered / studies >= 0.95 - 3.5 * np.sqrt(0.05 * 0.95 / studies)


def test_verdicts_that_are_missing_where_the_judge_is_unsure_are_found() -> None:
    rng = np.random.default_rng(17)
    whole = records(rng, 100, 0.0, 0.0)
    item = np.array(whole.codes("item_id"))
    stated = rng.choice([0.6, 0.95], 100)[item]
    lost = rng.random(len(item)) < np.where(stated < 0.9, 0.3, 0.02)
    columns = {
        name: Categorical(np.array(whole.codes(name)), whole.categories(name))
        for name in whole.columns
        if name not in ("status", "presented", "canonical", "repeat", "simulated", "strength")
    }
    columns["status"] = Categorical(lost.astype(np.int32), ("ok", "refused"))
    answers = np.where(lost, -1, whole.codes("canonical")).astype(np.int32)
    columns["presented"] = columns["canonical"] = Categorical(answers, LABELS)
    numbers = {name: np.array(whole.number(name)) for name in ("repeat", "simulated", "strength")}
    table = RecordTable(columns, {**numbers, "probability": np.where(lost, np.nan, stated)})
    p = {each.name: each.estimate for each in MissingByCondition(MetricOptions()).measure(table, context(0))}
    assert p["missing-by-confidence-p"] is not None
    assert p["missing-by-confidence-p"] < 1e-4
    assert INFORMATIVE_MISSING in accuracy(table, 0).flags
