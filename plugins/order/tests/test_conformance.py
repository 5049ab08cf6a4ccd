"""The contracts that every perturber and metric holds."""

from __future__ import annotations

from typing import ClassVar

import jrh_order.plugin
from attrs import evolve
from jrh import Mode, Record, Scale, ScaleKind, Task
from jrh_testing import MetricContract, PerturberContract, sample_records, sample_task

PAIRWISE = sample_task(Mode.PAIRWISE)


class TestOtherOrders(PerturberContract):
    plugin = jrh_order.plugin
    component = "option-order"
    task = PAIRWISE


class TestRandomOrdersWithTies(PerturberContract):
    plugin = jrh_order.plugin
    component = "option-order"
    options: ClassVar = {"permutations": 3, "repeats": 5}
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

    def tasks(self) -> tuple[Task, ...]:
        """Return tasks whose options have letters, which an order needs."""
        three = Scale(kind=ScaleKind.PAIRWISE, labels=("A", "B", "C"))
        return (PAIRWISE, sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE")), sample_task(Mode.PAIRWISE, three))


class TestIdenticalChoice(_OverOrders):
    plugin = jrh_order.plugin
    component = "identical-choice"
