"""The contracts that every perturber and metric holds."""

from __future__ import annotations

from typing import ClassVar

import jrh_order.plugin
from attrs import evolve
from jrh import Mode, Record, Scale, Task
from jrh_testing import MetricContract, PerturberContract, sample_records, sample_task

PAIRWISE = sample_task(Mode.PAIRWISE)


class TestCrossedOrder(PerturberContract):
    plugin = jrh_order.plugin
    component = "option-order"
    task = PAIRWISE


class TestRandomOrderWithTies(PerturberContract):
    plugin = jrh_order.plugin
    component = "option-order"
    options: ClassVar = {"design": "random", "repeats": 5}
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE"))


class TestIdenticalOptions(PerturberContract):
    plugin = jrh_order.plugin
    component = "identical-options"
    task = PAIRWISE


class _OverOrders(MetricContract):
    """Sample records whose two variants are two orders of the options."""

    def records_of(self, task: Task) -> tuple[Record, ...]:
        return tuple(
            evolve(
                record,
                option_order={"blank-lines": "AB", "crlf": "BA"}.get(record.variant, ""),
                family="identical-options" if record.variant else record.family,
            )
            for record in sample_records(task)
        )


class TestPositionBias(_OverOrders):
    plugin = jrh_order.plugin
    component = "position-bias"


class TestIdenticalChoice(_OverOrders):
    plugin = jrh_order.plugin
    component = "identical-choice"
