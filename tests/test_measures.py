"""What holds across all shipped metrics: one name per measure, one table of flags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import attrs
import pytest
from jrh import Measure, MetricContext, Record, RecordTable, Task
from jrh.plugins import Metric
from jrh.plugins.loading import load_plugins
from jrh.running import load_metrics
from jrh_testing import sample_records, sample_tasks
from jrh_testing.contracts.situations import SITUATIONS

pytestmark = pytest.mark.slow

SPECS = {entry.spec.name: entry.spec for entry in load_plugins().plugins.metrics}
SHARED = {"missing", "excluded-pairs"}
"""Measures about missing verdicts: they rest on trials without one."""
FULL = {"all": True, "by": ["variant", "stratum", "gold", "strength"]}


def built(name: str) -> Metric:
    """Build a metric that measures all it can."""
    options = {key: value for key, value in FULL.items() if key in attrs.fields_dict(SPECS[name].options)}
    return load_metrics((name,), options={name: options})[name]


def records_of(task: Task) -> list[Record]:
    """Make records of every design: templates, option orders, edited transcripts, identical options."""
    found = list(sample_records(task))
    for record in sample_records(task):
        if record.test == "reference":
            continue
        placed = {"template": record.variant, "option_order": "AB" if record.variant < "b" else "BA"}
        found.append(_again(record, "templates", "templates", **placed))
        found.append(_again(record, "identical", "identical-options", expectation=None))
        for family in ("agent-perturbation", "agent-positives"):
            label = task.scale.labels[family == "agent-positives"]
            found.append(_again(record, family, family, strength=1.0, expectation="equals", expected=label))
    return found


def _again(record: Record, test: str, family: str, **how: object) -> Record:
    names = {name: f"{getattr(record, name)}-{test}" for name in ("trial_id", "case_id")}
    return attrs.evolve(record, test=test, family=family, **(names | how))


def measured(metric: Metric, task: Task, records: list[Record]) -> list[Measure]:
    context = MetricContext(tasks={task.name: task}, resamples=100, seed=1)
    return list(metric.measure(RecordTable.from_records(records), context))


def test_no_two_metrics_have_a_measure_of_the_same_name() -> None:
    by_name: defaultdict[str, set[str]] = defaultdict(set)
    for name in SPECS:
        for task in sample_tasks():
            for measure in measured(built(name), task, records_of(task)):
                by_name[measure.name].add(name)
    assert len(by_name) > 70
    assert {name: found for name, found in by_name.items() if len(found) > 1} == {}


def cells() -> Iterator[tuple[str, str]]:
    """Yield every metric with every situation."""
    yield from ((name, situation.name) for name in SPECS for situation in SITUATIONS)


@pytest.mark.parametrize(("name", "situation"), list(cells()))
def test_the_same_situation_has_the_same_flags(name: str, situation: str) -> None:
    (case,) = (each for each in SITUATIONS if each.name == situation)
    metric = built(name)
    for task in sample_tasks():
        for measure in measured(metric, task, case.change(records_of(task), task)):
            assert not list(case.faults(measure, SHARED)), measure


def test_a_coefficient_of_one_item_is_not_estimable_under_any_name() -> None:
    """Cohen's kappa had no estimate, and kappa between four templates had one, of -0.105 without an interval."""
    (one_item,) = (each for each in SITUATIONS if each.name == "one item")
    task = sample_tasks()[0]
    records = one_item.change(records_of(task), task)
    found = [measure for name in SPECS for measure in measured(built(name), task, records)]
    coefficients = {measure.name: measure.estimate for measure in found if measure.unit == "coefficient"}
    assert {"kappa", "template-kappa", "pairwise-kappa", "fleiss-kappa", "agreement-gwet-ac1"} <= set(coefficients)
    assert set(coefficients.values()) == {None}
