"""Which measures deserve caution, and why."""

from __future__ import annotations

from typing import Final

from jrh import RunReport

from jrh_report.findings import FINDING
from jrh_report.overview import COLUMNS, EXPECTED
from jrh_report.tables import judge_label

MEANING: Final = {
    "few-items": "few items, so that intervals are wide and rough",
    "constant-gold": "one gold label only, so that always saying it looks perfect",
    "constant-verdicts": "the judge gave one label only",
    "constant-reference": "the judge gave one label only in the reference condition, which makes kappa 0",
    "degenerate": "not defined on these data",
    "all-missing": "no verdict to compute it from",
}
"""What the flags of jrh-metrics mean; flags of other metrics are shown by name alone."""

MAIN: Final = frozenset({*COLUMNS, EXPECTED, "agreement", "missing"})
"""The measures whose flags are told beside the main table."""

_SEVERAL: Final = 3
"""Names of measures are listed where they are fewer; more are `several measures`."""


def cautions(report: RunReport, task: str) -> list[str]:
    """Return one line per flag: what it means, which measures have it, and of which judges in which tests.

    The measures of the main table and their like, for whole tests; those of all measures stand beside them in the
    Markdown and the JSON report. `simulated` is left out: simulated judges are marked wherever they appear. So are
    findings, which are told in words of their own.
    """
    places: dict[str, dict[str, list[str]]] = {}
    names: dict[str, list[str]] = {}
    for measure in report.measures:
        if measure.task != task or measure.cell or measure.name not in MAIN:
            continue
        for flag in measure.flags:
            if flag not in ("simulated", FINDING):
                _note(places.setdefault(flag, {}).setdefault(measure.judge, []), measure.test)
                _note(names.setdefault(flag, []), measure.name)
    return [_line(flag, names[flag], places[flag], report) for flag in places]


def _note(known: list[str], name: str) -> None:
    if name not in known:
        known.append(name)


def _line(flag: str, names: list[str], places: dict[str, list[str]], report: RunReport) -> str:
    meaning = f"{flag}, {MEANING[flag]}" if flag in MEANING else flag
    what = ", ".join(names) if len(names) < _SEVERAL else "several measures"
    # In the suite's order, whatever order the measures came in.
    judges = [judge for judge in report.judges if judge in places] or list(places)
    return f"{meaning} ({what}): {'; '.join(_where(judge, places[judge], report) for judge in judges)}"


def _where(judge: str, tests: list[str], report: RunReport) -> str:
    name = judge_label(report, judge)
    if set(tests) >= set(report.tests):
        return f"{name} in all tests"
    if not any(tests):
        return name
    return f"{name} in {', '.join(test for test in report.tests if test in tests) or ', '.join(tests)}"
