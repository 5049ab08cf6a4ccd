"""Agreement between prompt templates as plain tables: constant verdicts apart, and the effect of leaving some out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from jrh import Measure, RunReport
from jrh.text import format_measure
from jrh_measuring import DEGENERATE

from jrh_report.tables import Table, judge_label

_KAPPA: Final = "template-kappa"
_SHOWN: Final = {
    "jss-raw": "JSS, raw",
    "jss": "JSS, corrected",
    "jss-correction": "difference",
    "template-flip-rate": "flip rate",
    _KAPPA: "kappa",
}
Key = tuple[str, str, str, str]
"""Task, judge, test, and the name of what is left out; empty for the whole."""


def prompt_templates(report: RunReport, digits: int) -> Iterator[Table]:
    """Yield the tables that have rows, sorted by task and JSS, the least agreement first."""
    found: dict[Key, dict[str, Measure]] = {}
    for each in report.measures:
        if each.name in _SHOWN and set(each.cell) <= {"without"}:
            key = each.task, each.judge, each.test, each.cell.get("without", "")
            found.setdefault(key, {})[each.name] = each
    whole = sorted(
        (key for key, own in found.items() if not key[3] and "jss" in own), key=lambda key: _order(found, key)
    )
    constant = [key for key in whole if _is_constant(found[key])]
    others = [key for key in whole if key not in constant]
    names = [name for name in _SHOWN if any(name in found[key] for key in others)]
    yield from _table(report, "Prompt templates", found, others, names, digits)
    note = "One label under every template: agreement is certain, and kappa is undefined."
    rates = [name for name in names or _SHOWN if name != _KAPPA]
    yield from _table(report, "Prompt templates: constant verdicts", found, constant, rates, digits, note)
    rows = tuple(
        (
            *_heads(report, key),
            key[3],
            *(_written(found, each, name, digits) for name in ("jss", _KAPPA) for each in both),
        )
        for key in sorted(key for key in found if key[3] and (*key[:3], "") in found)
        if (both := ((*key[:3], ""), key))
    )
    if rows:
        heads = ("task", "judge", "test", "left out", "JSS, all", "JSS, without", "kappa, all", "kappa, without")
        yield Table(title="Prompt templates: effect of leaving some out", columns=heads, rows=rows)


def _table(
    report: RunReport,
    title: str,
    found: Mapping[Key, Mapping[str, Measure]],
    keys: list[Key],
    names: list[str],
    digits: int,
    note: str = "",
) -> Iterator[Table]:
    if keys:
        rows = tuple((*_heads(report, key), *(_written(found, key, name, digits) for name in names)) for key in keys)
        columns = ("task", "judge", "test", *(_SHOWN[name] for name in names))
        yield Table(title=title, columns=columns, rows=rows, note=note)


def _heads(report: RunReport, key: Key) -> tuple[str, str, str]:
    return key[0], judge_label(report, key[1]), key[2]


def _written(found: Mapping[Key, Mapping[str, Measure]], key: Key, name: str, digits: int) -> str:
    measure = found[key].get(name)
    return "" if measure is None else format_measure(measure, digits)


def _order(found: Mapping[Key, Mapping[str, Measure]], key: Key) -> tuple[str, float]:
    value = found[key]["jss"].estimate
    return key[0], 2.0 if value is None else value


def _is_constant(own: Mapping[str, Measure]) -> bool:
    return _KAPPA in own and DEGENERATE in own[_KAPPA].flags
