from collections.abc import Callable, Iterable
from typing import Any

import attrs
import jrh_metrics.plugin
import pytest
from jrh import Measure, MetricContext, RecordTable, Scale, Task
from jrh_testing import build

COLUMNS = ("test", "item_id", "variant", "canonical", "status", "gold", "expectation", "expected", "repeat", "judge")
DEFAULTS = {
    "test": "reference",
    "variant": "",
    "status": "ok",
    "gold": None,
    "expectation": None,
    "expected": None,
    "repeat": 0,
    "judge": "judge",
}


def rows_to_table(rows: Iterable[dict[str, Any]]) -> RecordTable:
    full = [DEFAULTS | row for row in rows]
    columns = {name: [row.get(name) for row in full] for name in COLUMNS}
    columns["task"] = [row.get("task", "task") for row in full]
    columns["case_id"] = [
        row.get("case_id", "/".join(str(row.get(part, "")) for part in ("task", "test", "item_id", "variant")))
        for row in full
    ]
    for name in ("stratum", "trial_id", "strength", "probability", "cluster", "family", "template"):
        if any(name in row for row in full):
            columns[name] = [row.get(name, 0.0 if name == "strength" else None) for row in full]
    columns["simulated"] = [row.get("simulated", False) for row in full]
    return RecordTable.from_columns(columns)


def everything(metric: str) -> dict[str, Any]:
    """Return the options with which a metric measures all it can."""
    spec = next(spec for spec in jrh_metrics.plugin.jrh_metrics() if spec.name == metric)
    full = {"all": True, "by": ["variant", "stratum", "gold", "strength"]}
    return {name: value for name, value in full.items() if name in attrs.fields_dict(spec.options)}


def measures_of(
    metric: str,
    rows: Iterable[dict[str, Any]] | RecordTable,
    scale: Scale | None = None,
    options: dict[str, Any] | None = None,
    seed: int = 0,
    *,
    one_sided: bool = False,
) -> list[Measure]:
    options = options if options is not None else everything(metric)
    table = rows if isinstance(rows, RecordTable) else rows_to_table(rows)
    task = Task(name="task", scale=scale or Scale.of_labels("YES", "NO"))
    context = MetricContext(tasks={"task": task}, resamples=200, seed=seed, one_sided=one_sided)
    return list(build(jrh_metrics.plugin, metric, options=options, task=task).measure(table, context))


@pytest.fixture
def measures() -> Callable[..., list[Measure]]:
    """Return a function: metric name, rows -> all measures the metric can make, or those of the options given."""
    return measures_of


@pytest.fixture
def measure() -> Callable[..., dict[tuple[str, str, str], Measure]]:
    """Return a function: metric name, rows -> measures by (judge, test, variant); other breakdowns are left out.

    With `name`, those of that name only: for metrics that yield several measures.
    """

    def run(
        metric: str,
        rows: Iterable[dict[str, Any]] | RecordTable,
        scale: Scale | None = None,
        options: dict[str, Any] | None = None,
        seed: int = 0,
        name: str = "",
    ) -> dict[tuple[str, str, str], Measure]:
        found = measures_of(metric, rows, scale, options, seed)
        kept = [m for m in found if set(m.cell) <= {"variant"} and name in ("", m.name)]
        return {(m.judge, m.test, m.cell.get("variant", "")): m for m in kept}

    return run


@pytest.fixture
def table_of() -> Callable[[Iterable[dict[str, Any]]], RecordTable]:
    """Return a function: rows -> the records of a report."""
    return rows_to_table


def reference(item: object, *labels: str | None, **more: Any) -> list[dict[str, Any]]:
    """Make the reference rows of an item; None is a missing verdict."""
    return [_row("reference", item, label, repeat=repeat, **more) for repeat, label in enumerate(labels)]


def perturbed(item: object, label: str | None, *, test: str = "t", **more: Any) -> dict[str, Any]:
    """Make one row of a test; None is a missing verdict."""
    return _row(test, item, label, **({"expectation": "same"} | more))


def _row(test: str, item: object, label: str | None, **more: Any) -> dict[str, Any]:
    missing = {"status": "unparsable", "canonical": None} if label is None else {"canonical": label}
    return {"test": test, "item_id": str(item), **missing, **more}


@pytest.fixture
def ref() -> Callable[..., list[dict[str, Any]]]:
    return reference


@pytest.fixture
def row() -> Callable[..., dict[str, Any]]:
    return perturbed
