"""Measures and records as data frames of pandas, polars or Arrow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from jrh import Case, JrhError, Json, Measure, RecordTable, RunReport, open_report
from jrh.running import RunResult
from jrh.values import NUMERIC, Evidence

FrameLibrary: TypeAlias = Literal["pandas", "polars", "arrow"]
"""What a frame can be made as."""
_MODULES: Final[Mapping[str, str]] = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
_SLICE: Final = 2000
"""Records whose texts are read at a time."""
_WHOLE: Final = ("repeat", "prompt_tokens", "completion_tokens", "attempts", "left_out", "parse_attempts")


def measures_frame(result: RunResult | RunReport, as_: FrameLibrary | None = None) -> Any:
    """Return the measures of a run as a data frame, one row each.

    Args:
        result: what `jrh.run` or `jrh.open_run` returns, or `jrh.open_report` yields.
        as_: `pandas`, `polars` or `arrow`; by default the first of them that is installed.

    Raises:
        JrhError: the library is not installed.
    """
    return _frame(_measure_columns(result.measures), as_)


def records_frame(result: RunResult | RunReport, *, texts: bool = False, as_: FrameLibrary | None = None) -> Any:
    """Return the records of a run as a data frame, one row per verdict that was asked for.

    Args:
        result: what `jrh.run` or `jrh.open_run` returns, or `jrh.open_report` yields.
        texts: add what the judge was shown and what it replied, as columns `text.FIELD` and `text.reply`; read from
            the run directory.
        as_: `pandas`, `polars` or `arrow`; by default the first of them that is installed.

    Raises:
        JrhError: the library is not installed, or the run directory is gone.
    """
    columns = {name: _column(result.records, name) for name in result.records.columns}
    if texts:
        # A report that the user opened is the user's to close.
        opened = nullcontext(result) if isinstance(result, RunReport) else open_report(result.run_dir)
        with opened as report:
            columns |= _text_columns(result.records, report.evidence)
    return _frame(columns, as_)


def _measure_columns(measures: Iterable[Measure]) -> dict[str, list[Any]]:
    """Return one column per property of a measure."""
    rows = [_row(measure) for measure in measures]
    names = list(rows[0]) if rows else list(_row(Measure(name="", judge="", estimate=None)))
    return {name: [row[name] for row in rows] for name in names}


def _row(each: Measure) -> dict[str, Any]:
    interval, bounds = each.interval, each.bounds or (None, None)
    return {
        "name": each.name,
        "judge": each.judge,
        "task": each.task,
        "test": each.test,
        "cell": ", ".join(f"{key}={value}" for key, value in each.cell.items()),
        "estimate": each.estimate,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "method": interval.method if interval else "",
        "unit": each.unit,
        "n_trials": each.n_trials,
        "n_items": each.n_items,
        "n_clusters": each.n_clusters,
        "missing": sum(each.missing.values()),
        "worst": bounds[0],
        "best": bounds[1],
        "flags": ", ".join(each.flags),
        "note": each.note,
    }


def _column(records: RecordTable, name: str) -> list[Any]:
    """Return a column as plain values; what is not known is None."""
    if name not in NUMERIC:
        return records.text(name)
    values = [None if np.isnan(value) else value for value in records.number(name).tolist()]
    if name == "simulated":
        return [None if value is None else bool(value) for value in values]
    return [None if value is None else int(value) for value in values] if name in _WHOLE else values


def _text_columns(records: RecordTable, evidence: Evidence) -> dict[str, list[Any]]:
    """Return what the judge was shown, field by field, and what it replied."""
    rows: list[dict[str, str | None]] = []
    # Cases hold whole texts, and many records share one.
    for start in range(0, len(records), _SLICE):
        part = records.where(np.arange(start, min(start + _SLICE, len(records))))
        cases, trials = part.text("case_id"), part.text("trial_id")
        known = evidence.cases([case_id for case_id in dict.fromkeys(cases) if case_id])
        replies = evidence.replies([trial_id for trial_id in trials if trial_id])
        for case_id, trial_id in zip(cases, trials, strict=True):
            reply = replies.get(trial_id or "")
            rows.append({**_field_texts(known.get(case_id or "")), "reply": reply.text if reply else None})
    names = dict.fromkeys(name for row in rows for name in row)
    return {f"text.{name}": [row.get(name) for row in rows] for name in names}


def _field_texts(case: Case | None) -> Mapping[str, str | None]:
    return {} if case is None else {name: _text(value) for name, value in case.fields.items()}


def _text(value: Json | Sequence[Any]) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=list)


def _frame(columns: Mapping[str, Sequence[Any]], as_: FrameLibrary | None = None) -> Any:
    """Return columns as a data frame; None in them is a missing value.

    Args:
        columns: name -> values, all of one length.
        as_: the library; by default the first of pandas, polars and Arrow that is installed.

    Raises:
        JrhError: the library is not installed, or not one of the three.
    """
    name, module = _library(as_)
    if name == "pandas":
        return module.DataFrame({key: list(values) for key, values in columns.items()})
    if name == "polars":
        # Not strict: a column of numbers may begin with whole ones.
        return module.DataFrame({key: list(values) for key, values in columns.items()}, strict=False)
    return module.table({key: list(values) for key, values in columns.items()})


def _library(as_: str | None) -> tuple[str, Any]:
    names = get_args(FrameLibrary)
    if as_ is not None and as_ not in names:
        raise JrhError(f"as_: expected one of {', '.join(names)}, got {as_!r}")
    # In the order of the docstring: pandas, polars, Arrow.
    for name in names if as_ is None else (as_,):
        try:
            return name, import_module(_MODULES[name])
        except ImportError:
            continue
    if as_ is None:
        raise JrhError("a frame needs pandas, polars or pyarrow, and none is installed; run `pip install pandas`")
    raise JrhError(f"{as_} is not installed; run `pip install {_MODULES[as_]}`")
