import jrh_metrics.plugin
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jrh import Scale

pytestmark = pytest.mark.slow

SCALE = Scale.of_labels("YES", "NO", "MAYBE")
METRICS = [spec.name for spec in jrh_metrics.plugin.jrh_metrics()]

_label = st.sampled_from(["YES", "NO", "MAYBE", None])
_item = st.tuples(st.lists(_label, max_size=3), st.lists(_label, max_size=4), _label)


def _rows(items, ref, row) -> list[dict]:
    rows = []
    for number, (before, now, gold) in enumerate(items):
        rows += ref(number, *before, gold=gold)
        rows += [row(number, label, variant="abcd"[place], gold=gold) for place, label in enumerate(now)]
    return rows


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(_item, min_size=1, max_size=8), seed=st.integers(0, 99))
@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_rows_changes_nothing_to_the_last_digit(measures, ref, row, metric, items, seed) -> None:
    rows = _rows(items, ref, row)
    order = np.random.default_rng(seed).permutation(len(rows))

    assert list(measures(metric, [rows[place] for place in order], SCALE)) == list(measures(metric, rows, SCALE))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(_item, min_size=1, max_size=8))
@example(
    items=[
        (["YES"], [], "YES"),
        ([], ["YES", "NO"], "YES"),
        (["NO"], [None], "YES"),
        (["YES", None], ["YES", None], "NO"),
        (["NO", None], ["YES", "NO"], "YES"),
        ([None], ["NO"], "YES"),
        (["NO", None], ["YES", "NO"], "YES"),
    ]
)
def test_agreement_is_the_mean_over_trials_of_pairs_counted_one_by_one(measure, ref, row, items) -> None:
    scores = []
    planned = 0
    for before, now, _ in items:
        usable = [label for label in before if label]
        planned += len(now)
        scores += [np.mean([label == other for other in usable]) for label in now if label and usable]
    found = measure("agreement", _rows(items, ref, row), SCALE).get(("judge", "t", ""))

    if planned == 0:
        assert found is None
        return
    assert found.n_trials == len(scores)
    assert found.n_trials + sum(found.missing.values()) == planned
    assert found.estimate == (pytest.approx(np.mean(scores)) if scores else None)
    if scores:
        assert found.bounds[0] - 1e-12 <= found.estimate <= found.bounds[1] + 1e-12


_level = st.sampled_from(["1", "2", "3", None])
_graded = st.tuples(st.lists(_level, max_size=2), st.lists(_level, max_size=3), _level)


def _by_key(found) -> dict:
    return {(m.name, m.judge, m.test, *sorted(m.cell.items())): m for m in found}


def _relabelled(rows, names: dict) -> list[dict]:
    columns = ("canonical", "gold", "expected")
    return [{key: names.get(value, value) if key in columns else value for key, value in row.items()} for row in rows]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(_item, min_size=1, max_size=8))
@pytest.mark.parametrize("metric", ["as-expected", "flip-rate", "noise-excess", "self-kappa", "judge-agreement"])
def test_other_names_for_the_labels_change_no_estimate(measures, ref, row, metric, items) -> None:
    rows = _rows(items, ref, row)
    names = {"YES": "b", "NO": "c", "MAYBE": "a"}
    before = measures(metric, rows, SCALE)
    after = measures(metric, _relabelled(rows, names), Scale.of_labels("b", "c", "a"))
    gold_free = [[m for m in found if "gold" not in m.cell] for found in (before, after)]

    one, other = (_by_key(found) for found in gold_free)
    assert one.keys() == other.keys()
    for key, measure in one.items():
        if not key[0].endswith(
            ("-p", "-p-least")
        ):  # a drawn p-value moves with the order of the labels, within its error
            expected = None if measure.estimate is None else pytest.approx(measure.estimate, abs=1e-9)
            assert other[key].estimate == expected


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(_graded, min_size=1, max_size=8))
@pytest.mark.parametrize("metric", ["ordinal-errors", "ordinal-association"])
def test_turning_the_scale_round_turns_the_bias_and_nothing_else(measures, ref, row, metric, items) -> None:
    rows = _rows(items, ref, row)
    scale = Scale.of_levels(1, 3)
    one = _by_key(m for m in measures(metric, rows, scale) if "gold" not in m.cell)
    turned = _relabelled(rows, {"1": "3", "3": "1"})
    other = _by_key(m for m in measures(metric, turned, scale) if "gold" not in m.cell)

    for key, measure in one.items():
        if measure.estimate is None:
            assert other[key].estimate is None
        elif key[0] == "bias":
            assert other[key].estimate == pytest.approx(-measure.estimate)
        else:
            assert other[key].estimate == pytest.approx(measure.estimate, abs=1e-9)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(_graded, min_size=1, max_size=6), fill=st.lists(_level.filter(bool), min_size=40, max_size=40))
@pytest.mark.parametrize("metric", ["as-expected", "gold-accuracy", "flip-rate", "ordinal-errors"])
def test_no_verdict_in_place_of_the_missing_ones_leaves_the_bounds(measures, ref, row, metric, items, fill) -> None:
    rows = _rows(items, ref, row)
    scale = Scale.of_levels(1, 3)
    answers = iter(fill)
    filled = [r if r["canonical"] else {**r, "canonical": next(answers), "status": "ok"} for r in rows]
    complete = _by_key(measures(metric, filled, scale))

    for key, measure in _by_key(measures(metric, rows, scale)).items():
        if measure.bounds is not None and complete[key].estimate is not None:
            assert measure.bounds[0] - 1e-9 <= complete[key].estimate <= measure.bounds[1] + 1e-9
            if measure.estimate is not None:
                assert measure.bounds[0] - 1e-9 <= measure.estimate <= measure.bounds[1] + 1e-9
