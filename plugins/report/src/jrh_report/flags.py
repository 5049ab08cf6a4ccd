"""Which measures deserve caution, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh import REFERENCE, RunReport
from jrh_measuring import CONSTANT_GOLD, FINDING, SIMULATED

from jrh_report.overview import COLUMNS, EXPECTED
from jrh_report.tables import judge_label

EXPECTED_LABEL: Final = (
    "this test expects a single label; a judge that always gives it scores 100%. Compare with the reference."
)
"""What `constant-gold` means in a test that plants the right label, where the gold labels themselves vary."""

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
    places: dict[tuple[str, str], dict[str, list[str]]] = {}
    names: dict[tuple[str, str], list[str]] = {}
    varied = len([label for label, items in _gold(report, task).items() if items]) > 1
    for measure in report.measures:
        if measure.task != task or measure.cell or measure.name not in MAIN:
            continue
        for flag in measure.flags:
            if flag not in (SIMULATED, FINDING):
                told = (
                    flag,
                    _meaning(report, flag, made=varied and measure.test != REFERENCE and measure.name == EXPECTED),
                )
                _note(places.setdefault(told, {}).setdefault(measure.judge, []), measure.test)
                _note(names.setdefault(told, []), measure.name)
    return [_line(told, names[told], places[told], report) for told in places]


def _gold(report: RunReport, task: str) -> Mapping[str, int]:
    return next((summary.gold for summary in report.tasks if summary.task.name == task), {})


def flag_meanings(report: RunReport) -> Mapping[str, str]:
    """Return what the flags mean that the run declares."""
    return {flag.name: flag.meaning for flag in report.flags.values()}


def _meaning(report: RunReport, flag: str, *, made: bool) -> str:
    return EXPECTED_LABEL if flag == CONSTANT_GOLD and made else flag_meanings(report).get(flag, "")


def _note(known: list[str], name: str) -> None:
    if name not in known:
        known.append(name)


def _line(told: tuple[str, str], names: list[str], places: dict[str, list[str]], report: RunReport) -> str:
    flag, meaning = told
    what = ", ".join(names) if len(names) < _SEVERAL else "several measures"
    # In the suite's order, whatever order the measures came in.
    judges = [judge for judge in report.judges if judge in places] or list(places)
    where = "; ".join(_where(judge, places[judge], report) for judge in judges)
    return f"{flag} ({what}): {f'{meaning} Seen for ' if meaning else ''}{where}"


def _where(judge: str, tests: list[str], report: RunReport) -> str:
    name = judge_label(report, judge)
    if set(tests) >= set(report.tests):
        return f"{name} in all tests"
    if not any(tests):
        return name
    return f"{name} in {', '.join(test for test in report.tests if test in tests) or ', '.join(tests)}"
