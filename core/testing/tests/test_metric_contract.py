"""The metric contract fails on a planted mistake of every kind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from attrs import evolve
from jrh import Interval, Measure, MetricSpec, Record, RecordTable, Status
from jrh_testing import MetricContract, sample_records, sample_task
from jrh_testing.contracts.base import ComponentContract

pytestmark = pytest.mark.slow


class Accuracy:
    """A sound metric: share of right verdicts among labelled, answered trials, with a clustered bootstrap."""

    def measure(self, records, context):
        for (judge,), rows in records.split("judge"):
            yield self.change(self.of(judge, rows, context))

    def of(self, judge, rows, context):
        labelled = rows.where(np.array([gold is not None for gold in rows.text("gold")]))
        scales = [context.tasks[name].scale for name in labelled.text("task")]
        known = [label in scale for label, scale in zip(labelled.text("canonical"), scales, strict=True)]
        done = labelled.where(labelled.equals("status", "ok") & np.array(known, dtype=bool))
        right = np.array([a == b for a, b in zip(done.text("gold"), done.text("canonical"), strict=True)], dtype=float)
        missing = len(labelled) - len(done)
        items = sorted({item or "" for item in done.text("item_id")})
        return Measure(
            name="as-expected",
            judge=judge,
            estimate=float(right.mean()) if len(right) else None,
            interval=self.interval(done, right, items, context),
            n_trials=len(done),
            n_items=len(items),
            missing={"off_scale" if labelled.equals("status", "ok").any() else "timeout": missing} if missing else {},
            flags=self.flags(done, items, missing),
            bounds=(right.sum() / len(labelled), (right.sum() + missing) / len(labelled)) if len(labelled) else None,
        )

    def flags(self, done, items, missing):
        few, constant = 0 < len(items) < 10, len(done) > 1 and len(set(done.text("canonical"))) == 1
        found = {"few-items": few, "constant-verdicts": constant, "all-missing": missing and not items}
        return tuple(name for name, applies in found.items() if applies)

    def interval(self, done, right, items, context):
        if not items:
            return None
        owner = np.array(done.text("item_id"))
        sums = np.array([[right[owner == item].sum(), (owner == item).sum()] for item in self.ordered(done, items)])
        draws = np.random.default_rng(context.seed).integers(len(items), size=(context.resamples, len(items)))
        means = sums[draws].sum(axis=1)
        low, high = np.quantile(means[:, 0] / means[:, 1], [0.025, 0.975])
        return Interval(low=float(low), high=float(high), method="cluster-bootstrap")

    def ordered(self, done, items):
        return items

    def change(self, measure):
        return measure


class Nothing(Accuracy):
    def measure(self, records, context):
        return ()


class NotFinite(Accuracy):
    def change(self, measure):
        return evolve(measure, estimate=float("nan"))


class NotAProportion(Accuracy):
    def change(self, measure):
        return evolve(measure, estimate=None if measure.estimate is None else 87.5, interval=None, bounds=None)


class TurnedLimits(Accuracy):
    def change(self, measure):
        return evolve(measure, interval=measure.interval and Interval(low=0.9, high=0.1, method="wilson"))


class OutsideBounds(Accuracy):
    def change(self, measure):
        return evolve(measure, bounds=(0.0, 0.01))


class NamelessMethod(Accuracy):
    def change(self, measure):
        return evolve(measure, interval=measure.interval and evolve(measure.interval, method=""))


class StrangeStatus(Accuracy):
    def change(self, measure):
        return evolve(measure, missing={"nan": 1})


class LacksAReference(Accuracy):
    def change(self, measure):
        return evolve(measure, missing={"no_reference": 1})


class TooMany(Accuracy):
    def change(self, measure):
        return evolve(measure, n_items=measure.n_trials + 1)


class Twice(Accuracy):
    def measure(self, records, context):
        found = list(super().measure(records, context))
        return [*found, *found]


class FromNothing(Accuracy):
    def measure(self, records, context):
        if not len(records):
            return [Measure(name="as-expected", judge="", estimate=0.0, n_trials=0)]
        return super().measure(records, context)


class MissingIsZero(Accuracy):
    def change(self, measure):
        return evolve(measure, estimate=measure.estimate or 0.0)


class NoFlags(Accuracy):
    def flags(self, done, items, missing):
        return ()


class OwnWord(Accuracy):
    def change(self, measure):
        return evolve(measure, flags=(*measure.flags, "fishy"))


class NeedsTwo(Accuracy):
    def of(self, judge, rows, context):
        if len(rows) == 1:
            raise ZeroDivisionError("n - 1")
        return super().of(judge, rows, context)


class Drawing(Accuracy):
    counter = itertools.count()

    def change(self, measure):
        return evolve(measure, note=str(next(self.counter)))


class ByAppearance(Accuracy):
    """Draws the clusters in the order in which the rows come."""

    def ordered(self, done, items):
        return list(dict.fromkeys(done.text("item_id")))


class ByPosition(Accuracy):
    """Compares each row with the one before it."""

    def of(self, judge, rows, context):
        labels = rows.text("canonical")
        equal = [a == b for a, b in itertools.pairwise(labels)]
        estimate = sum(equal) / len(equal) if equal else None
        return Measure(
            name="stability", judge=judge, estimate=estimate, n_trials=len(equal), n_items=min(1, len(equal))
        )


SOUND = "test_every_measure_is_sound"
ORDER = "test_the_order_of_records_does_not_matter"
PLANTED = {
    Nothing: "test_it_measures_something",
    NotFinite: SOUND,
    NotAProportion: SOUND,
    TurnedLimits: SOUND,
    OutsideBounds: SOUND,
    NamelessMethod: SOUND,
    StrangeStatus: SOUND,
    TooMany: SOUND,
    Twice: "test_no_measure_comes_twice",
    FromNothing: "test_nothing_comes_out_of_nothing",
    MissingIsZero: "test_missing_verdicts_are_not_numbers",
    NoFlags: "test_the_flags_are_those_of_every_metric",
    OwnWord: "test_every_flag_says_what_it_means",
    NeedsTwo: "test_one_record_is_measured",
    Drawing: "test_the_same_records_give_the_same_measures",
    ByAppearance: ORDER,
    ByPosition: ORDER,
}


def spec(cls):
    return MetricSpec(name="planted", summary="planted", factory=lambda options, context: cls())


@pytest.mark.parametrize("cls", PLANTED, ids=lambda cls: cls.__name__)
def test_a_planted_mistake_fails_its_test(failing, cls):
    assert PLANTED[cls] in failing(MetricContract, "jrh_metrics", spec(cls))


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(MetricContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert set(PLANTED.values()) == own


def test_a_sound_metric_passes_everything(failing):
    assert failing(MetricContract, "jrh_metrics", spec(Accuracy)) == []


def test_limits_may_move_where_the_metric_says_how_far(failing):
    assert failing(MetricContract, "jrh_metrics", spec(ByAppearance), interval_tolerance=0.2) == []


def test_a_metric_may_count_verdicts_without_a_reference(failing):
    assert failing(MetricContract, "jrh_metrics", spec(LacksAReference)) == []


def test_a_metric_may_count_gaps_of_its_own_where_it_names_them(failing):
    assert failing(MetricContract, "jrh_metrics", spec(StrangeStatus), other_gaps=frozenset({"nan"})) == []


def test_a_metric_that_finds_nothing_here_may_say_why(failing):
    assert failing(MetricContract, "jrh_metrics", spec(Nothing), silent="needs transcripts") == []


def test_sample_records_are_balanced_and_follow_from_their_arguments():
    rows = sample_records()
    assert rows == sample_records()
    assert len(rows) == 2 * 12 * (2 + 1 + 1)
    assert {row.judge for row in rows if row.simulated} == {"careless"}
    right = {
        judge: np.mean([row.canonical == row.gold for row in rows if row.judge == judge and row.gold and row.canonical])
        for judge in ("careful", "careless")
    }
    assert right["careful"] > right["careless"] + 0.1


@pytest.mark.parametrize(("missing", "answered"), [(0.0, 96), (1.0, 0)])
def test_sample_records_may_have_every_verdict_or_none(missing, answered):
    rows = sample_records(missing=missing)
    assert sum(row.status is Status.OK for row in rows) == answered
    assert all((row.canonical is None) == (row.status is not Status.OK) for row in rows)


def test_sample_records_fill_every_column_of_a_table():
    table = RecordTable.from_records(sample_records(sample_task()))
    assert table.columns == tuple(field.name for field in Record.__attrs_attrs__)
