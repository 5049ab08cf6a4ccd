import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

METRICS = ["accuracy", "gold-accuracy", "agreement", "flip-rate", "rerun-disagreement", "kappa", "missing"]

_label = st.sampled_from(["YES", "NO", "MAYBE", None])
_item = st.tuples(st.lists(_label, max_size=3), st.lists(_label, max_size=4), _label)


def _rows(items, ref, row) -> list[dict]:
    rows = []
    for number, (before, now, gold) in enumerate(items):
        rows += ref(number, *before, gold=gold)
        rows += [row(number, label, variant="abcd"[place], gold=gold) for place, label in enumerate(now)]
    return rows


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(_item, min_size=1, max_size=8), seed=st.integers(0, 99))
@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_rows_changes_nothing_to_the_last_digit(measure, ref, row, metric, items, seed) -> None:
    rows = _rows(items, ref, row)
    order = np.random.default_rng(seed).permutation(len(rows))

    assert list(measure(metric, [rows[place] for place in order]).items()) == list(measure(metric, rows).items())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(_item, min_size=1, max_size=8))
def test_agreement_is_the_mean_over_trials_of_pairs_counted_one_by_one(measure, ref, row, items) -> None:
    scores = []
    planned = 0
    for before, now, _ in items:
        usable = [label for label in before if label]
        planned += len(now)
        scores += [np.mean([label == other for other in usable]) for label in now if label and usable]
    found = measure("agreement", _rows(items, ref, row)).get(("judge", "t", ""))

    if planned == 0:
        assert found is None
        return
    assert found.n_trials == len(scores)
    assert found.n_trials + sum(found.missing.values()) == planned
    assert found.estimate == (pytest.approx(np.mean(scores)) if scores else None)
    if scores:
        assert found.bounds[0] - 1e-12 <= found.estimate <= found.bounds[1] + 1e-12
