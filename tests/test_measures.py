"""What holds across all shipped metrics: one name per measure, one table of flags."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import attrs
import pytest
from jrh import Measure, MetricContext, Record, RecordTable, Task
from jrh.plugins import Metric
from jrh.plugins.loading import load_plugins
from jrh_measuring import load_flags, load_metrics
from jrh_testing import sample_records, sample_tasks
from jrh_testing.contracts.metrics import SITUATIONS

pytestmark = pytest.mark.slow

SPECS = {entry.spec.name: entry.spec for entry in load_plugins().plugins.metrics}
SHARED = {"missing", "excluded-pairs"}
"""Measures about missing verdicts: they rest on trials without one."""
DECLARATIONS = {"measure_list.py", "plugin.py"}
FULL = {"all": True, "by": ["variant", "stratum", "gold", "strength"]}
WHOLE = {"all": True}
"""Without parts of tests, whose measures have the names of the whole."""


def built(name: str, most: Mapping[str, object] = FULL) -> Metric:
    """Build a metric that measures all it can, or less."""
    options = {key: value for key, value in most.items() if key in attrs.fields_dict(SPECS[name].options)}
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
            for measure in measured(built(name, WHOLE), task, records_of(task)):
                by_name[measure.name].add(name)
    assert len(by_name) > 70
    assert {name: found for name, found in by_name.items() if len(found) > 1} == {}
    declared = [(metric, each) for metric, spec in SPECS.items() for each in spec.measures]
    unseen = [(metric, each.name) for metric, each in declared if not any(map(each.describes, by_name))]
    assert [pair for pair in unseen if not _in_source(*pair)] == []


def _in_source(metric: str, name: str) -> bool:
    """Tell whether a string in the metric's plugin makes this name of a measure."""
    literals = _literals(SPECS[metric].factory.partition(".")[0])
    halves = [(name[:place], name[place:]) for place in range(1, len(name) + 1)]
    return any(all(not half or any(each.fullmatch(half) for each in literals) for half in pair) for pair in halves)


@cache
def _literals(package: str) -> list[re.Pattern[str]]:
    """Return what the strings of a package can be, without those of declarations and those of a letter or less."""
    (root,) = importlib.import_module(package).__path__
    paths = [path for path in Path(root).rglob("*.py") if path.name not in DECLARATIONS]
    found = []
    for node in (node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node] if isinstance(node, ast.Constant) else []
        texts = [str(part.value) if isinstance(part, ast.Constant) else None for part in parts]
        if len("".join(filter(None, texts))) > 1:
            found.append(re.compile("".join(".*" if text is None else re.escape(text) for text in texts)))
    return found


def test_every_shipped_metric_declares_its_measures() -> None:
    assert [name for name, spec in SPECS.items() if not spec.measures] == []
    names = [each.name for spec in SPECS.values() for each in spec.measures]
    assert sorted(set(names)) == sorted(names)
    declared = set(load_flags())
    unknown = {(each.name, flag) for spec in SPECS.values() for each in spec.measures for flag in each.flags}
    assert {pair for pair in unknown if pair[1] not in declared} == set()


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
    found = [measure for name in SPECS for measure in measured(built(name, WHOLE), task, records)]
    coefficients = {measure.name: measure.estimate for measure in found if measure.unit == "coefficient"}
    assert {"kappa", "template-kappa", "pairwise-kappa", "fleiss-kappa"} <= set(coefficients)
    assert set(coefficients.values()) == {None}
