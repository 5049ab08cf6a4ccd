import numpy as np
import pytest
from jrh import RecordTable

PAIR = {"a": 0.2, "b": 0.3, "a+b": 0.7}


def _rows(rng, moves, *, items=300, noise=0.0, prefix="crossed.", repeats=2):
    """Make records of a judge that answers YES, or NO with the probability of the perturbation, plus rerun noise."""
    rows = []
    for item in range(items):
        shared = {"item_id": f"i{item}", "task": "task", "judge": "judge", "status": "ok", "simulated": False}
        conditions = {("reference", "reference"): 0.0} | {(prefix + name, name): rate for name, rate in moves.items()}
        for (test, family), rate in conditions.items():
            for repeat in range(repeats):
                moved = rng.random() < rate
                label = "NO" if moved != (rng.random() < noise) else "YES"
                rows.append({**shared, "test": test, "family": family, "repeat": repeat, "canonical": label})
    names = ("test", "family", "item_id", "canonical", "status", "repeat", "judge", "task", "simulated")
    return RecordTable.from_columns({name: [row[name] for row in rows] for name in names})


def test_a_planted_interaction_is_recovered(measures) -> None:
    (found,) = measures("interaction", _rows(np.random.default_rng(1), PAIR))
    assert (found.test, found.unit, found.n_items) == ("crossed.a+b", "difference", 300)
    assert found.interval.low < 0.2 < found.interval.high
    assert found.interval.low > 0


@pytest.mark.parametrize("seed", range(3))
def test_effects_that_add_up_have_none_also_where_the_judge_is_noisy(measures, seed) -> None:
    (found,) = measures("interaction", _rows(np.random.default_rng(seed), {"a": 0.0, "b": 0.0, "a+b": 0.0}, noise=0.2))
    assert found.interval.low < 0 < found.interval.high


def test_intervals_cover_the_planted_interaction(measures) -> None:
    rng, planted, covered = np.random.default_rng(3), 0.2, 0
    for _ in range(200):
        (found,) = measures("interaction", _rows(rng, PAIR, items=40))
        covered += found.interval.low <= planted <= found.interval.high
    assert 0.91 <= covered / 200 <= 0.99


def test_three_perturbations_have_the_interactions_of_all_orders(measures) -> None:
    moves = {"a": 0.1, "b": 0.1, "c": 0.1, "a+b": 0.2, "a+c": 0.2, "b+c": 0.2, "a+b+c": 0.9}
    found = {each.test: each for each in measures("interaction", _rows(np.random.default_rng(2), moves))}
    assert set(found) == {"crossed.a+b", "crossed.a+c", "crossed.b+c", "crossed.a+b+c"}
    assert found["crossed.a+b"].interval.low < 0 < found["crossed.a+b"].interval.high
    assert found["crossed.a+b+c"].interval.low < 0.6 < found["crossed.a+b+c"].interval.high


def test_a_chain_without_its_parts_has_none(measures) -> None:
    assert measures("interaction", _rows(np.random.default_rng(1), {"a": 0.2, "a+b": 0.7})) == []


def test_a_chain_beside_its_parts_needs_no_crossing(measures) -> None:
    (found,) = measures("interaction", _rows(np.random.default_rng(1), PAIR, prefix=""))
    assert found.test == "a+b"


def test_without_two_reference_verdicts_it_cannot_be_estimated(measures) -> None:
    (found,) = measures("interaction", _rows(np.random.default_rng(1), PAIR, repeats=1, items=5))
    assert (found.estimate, found.n_items) == (None, 0)
    assert "no item has a verdict" in found.note


def test_records_without_families_have_none(measures, ref) -> None:
    assert measures("interaction", ref(1, "YES", "YES")) == []
