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
from jrh_testing import loop_over, sample_records, sample_tasks
from jrh_testing.contracts.metrics import SITUATIONS, Situation

pytestmark = pytest.mark.slow

SPECS = {entry.spec.name: entry.spec for entry in load_plugins().plugins.metrics}
SHARED = {"missing", "excluded-pairs"}
"""Measures about missing verdicts: they rest on trials without one."""
DECLARATIONS = {"measure_list.py", "plugin.py"}
FULL = {"all": True, "by": ["variant", "stratum", "gold", "strength"]}
WHOLE = {"all": True}
"""Without parts of tests, whose measures have the names of the whole."""


@cache
def built(*, whole: bool = False) -> Mapping[str, Metric]:
    """Build all metrics, to measure all they can, or whole tests alone."""
    most = WHOLE if whole else FULL
    options = {
        name: {key: value for key, value in most.items() if key in attrs.fields_dict(spec.options)}
        for name, spec in SPECS.items()
    }
    return load_metrics(tuple(SPECS), options=options)


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


def measured(task: Task, records: list[Record], *, whole: bool = False) -> Iterator[tuple[str, Measure]]:
    """Measure with all metrics, of one table as a run does; yield the name of the metric with each measure."""
    table = RecordTable.from_records(records)
    for name, metric in built(whole=whole).items():
        context = MetricContext(tasks={task.name: task}, resamples=100, seed=1)
        yield from ((name, measure) for measure in metric.measure(table, context))


def test_no_two_metrics_have_a_measure_of_the_same_name() -> None:
    by_name: defaultdict[str, set[str]] = defaultdict(set)
    for task in sample_tasks():
        for name, measure in measured(task, records_of(task), whole=True):
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


def test_a_run_makes_three_fifths_of_the_measures_that_it_once_made_without_being_asked() -> None:
    """171 were made by default where 198 were declared: more than anybody reads."""
    usual = [each.name for spec in SPECS.values() if spec.default for each in spec.measures if not each.on_request]
    assert len(usual) <= 106


@loop_over("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_the_same_situation_has_the_same_flags(situation: Situation) -> None:
    seen, faults = set(), []
    for task in sample_tasks()[::2]:  # of all kinds of scales the contract of each metric shows it
        for name, measure in measured(task, situation.change(records_of(task), task)):
            seen.add(name)
            faults += [f"{name}: {fault}: {measure}" for fault in situation.faults(measure, SHARED)]
    assert faults == []
    assert len(seen) > 20 or not situation.change(records_of(sample_tasks()[0]), sample_tasks()[0])


def test_a_coefficient_of_one_item_is_not_estimable_under_any_name() -> None:
    """Cohen's kappa had no estimate, and kappa between four templates had one, of -0.105 without an interval."""
    (one_item,) = (each for each in SITUATIONS if each.name == "one item")
    task = sample_tasks()[0]
    records = one_item.change(records_of(task), task)
    found = [measure for _, measure in measured(task, records, whole=True)]
    coefficients = {measure.name: measure.estimate for measure in found if measure.unit == "coefficient"}
    assert {"self-kappa", "gold-kappa", "template-kappa", "pairwise-kappa", "krippendorff-alpha"} <= set(coefficients)
    assert set(coefficients.values()) == {None}
