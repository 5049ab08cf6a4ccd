import numpy as np
import pytest
from jrh_measuring import unsure
from jrh_testing import flags_by_name


def _by_name(found) -> dict:
    return {m.name: m for m in found if not m.cell}


def test_raw_floor_and_excess_stand_side_by_side_and_add_up(measures, ref, row) -> None:
    rows = []
    for item in range(20):
        rows += ref(item, "YES", "NO" if item < 4 else "YES")
        rows += [row(item, "NO" if item < 10 else "YES", repeat=repeat) for repeat in range(2)]
    found = _by_name(measures("noise-excess", rows))

    assert found["disagreement"].estimate == pytest.approx((4 * 0.5 + 6) / 20)
    assert found["noise-floor"].estimate == pytest.approx(4 * 1 / 2 / 20)
    assert found["excess-disagreement"].estimate == pytest.approx(0.4 - 0.1)
    assert found["excess-disagreement"].unit == "difference"
    assert found["excess-disagreement-p"].estimate < 0.02


def test_a_noisy_judge_without_a_defect_has_no_excess(measures, ref, row) -> None:
    generator = np.random.default_rng(5)
    rows = []
    for item in range(100):
        labels = generator.choice(["YES", "NO"], 4)
        rows += [*ref(item, *labels[:2]), *(row(item, label, repeat=n) for n, label in enumerate(labels[2:]))]
    found = _by_name(measures("noise-excess", rows))

    assert found["disagreement"].estimate > 0.35
    assert found["excess-disagreement"].interval.low < 0 < found["excess-disagreement"].interval.high
    assert found["excess-disagreement-p"].estimate > 0.05


def test_a_test_that_asks_once_says_whose_floor_it_uses(measures, ref, row) -> None:
    found = _by_name(measures("noise-excess", [*ref(1, "YES", "NO"), row(1, "YES")]))

    assert "reference-floor" in found["excess-disagreement"].flags
    assert "reference's" in found["excess-disagreement"].note


def test_a_reference_asked_once_has_no_floor_to_compare_with(measures, ref, row) -> None:
    for found in measures("noise-excess", [*ref(1, "YES"), row(1, "NO")]):
        assert (found.estimate, found.n_trials) == (None, 0)
        assert found.note == "no item has two verdicts in the reference condition and one in the test"


@pytest.mark.parametrize(("said", "ends"), [("YES", (None, 1 - 0.025 ** (1 / 40))), ("NO", (0.5, 1.0))])
def test_the_limits_of_an_excess_that_is_the_same_on_every_item_decide_a_rule(measures, ref, row, said, ends) -> None:
    rows = [each for item in range(40) for each in (*ref(item, "YES", "YES"), row(item, said))]
    (found,) = [each for each in measures("noise-excess", rows, one_sided=True) if each.name == "excess-disagreement"]

    assert unsure(found, flags_by_name()) == ()
    assert found.interval.high == pytest.approx(ends[1])
    assert ends[0] is None or found.interval.low > ends[0]
