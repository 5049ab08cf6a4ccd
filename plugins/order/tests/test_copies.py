"""Ten copies of every pair are no further evidence of a position bias."""

from __future__ import annotations

import numpy as np
import pytest
from jrh import Mode
from jrh_measuring import MetricOptions
from jrh_order.position import PositionBias
from jrh_testing import RecordBench, sample_task

OTHER = {"A": "B", "B": "A"}
ITEMS, COPIES = 40, 10


def asked(copies: int, repeats: int) -> RecordBench:
    bench = RecordBench(sample_task(Mode.PAIRWISE))
    generator = np.random.default_rng(3)
    for item in range(ITEMS):
        good = generator.beta(1, 1)
        for repeat in range(repeats):
            own = "A" if generator.random() < good + 0.1 else "B"
            swapped = "A" if generator.random() < 1.1 - good else "B"
            for copy in range(copies):
                for order, label in (("AB", own), ("BA", swapped)):
                    canonical = label if order == "AB" else OTHER[label]
                    bench.add(
                        f"{item:02}-{copy}", "", canonical, presented=label, option_order=order, variant=order,
                        test="order", family="option-order", gold="A", repeat=repeat, group=f"g{item:02}",
                    )  # fmt: skip
    return bench


@pytest.mark.parametrize("repeats", [1, 3])
def test_no_interval_is_narrower_than_that_of_single_pairs(repeats: int) -> None:
    metric = PositionBias(MetricOptions())
    alone, found = (
        {(one.name, *one.cell.items()): one for one in asked(copies, repeats).measure(metric)} for copies in (1, COPIES)
    )
    assert found.keys() == alone.keys()
    for place, one in found.items():
        other = alone[place]
        assert one.estimate == pytest.approx(other.estimate, abs=0.1 if one.unit == "p-value" else 1e-9), place
        if one.interval is not None and other.interval is not None:
            widths = [each.high - each.low for each in (one.interval, other.interval)]
            assert widths[0] >= 0.95 * widths[1], place
            assert one.n_clusters == ITEMS
