"""Which measures deserve caution, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh import REFERENCE, RunReport

from jrh_report.findings import FINDING
from jrh_report.overview import COLUMNS, EXPECTED
from jrh_report.tables import judge_label

MEANING: Final = {
    "few-items": "few items, so that intervals are wide and rough",
    "change-due": "the test asks for other verdicts than the reference's, so that agreeing is no merit",
    "one-item": "one item only, which tells nothing of agreement beyond chance",
    "few-labels": "fewer than 30 labels to correct by, so that the interval is rough",
    "few-missing": "too few missing verdicts for the approximation of the test",
    "few": "too few of what is counted for the approximation of the test",
    "few-events": "few items carry what varies, so that the interval may cover less or more than it says",
    "few-clusters": "too few items for the interval to cover as often as it says",
    "constant-gold": "one gold label only, so that always saying it looks perfect",
    "constant-verdicts": "the judge gave one label only",
    "constant-reference": "the judge gave one label only in the reference condition, which makes kappa 0",
    "degenerate": "not defined on these data",
    "all-missing": "no verdict to compute it from",
    "empty": "nothing to compute it from",
    "no-interval": "an estimate without an interval: nothing varies, or it lies at the end of its range",
    "conservative": "an interval that is rather too long",
    "cut": "the estimate was beyond 0 or 1 and was cut off there",
    "reference-floor": "a test that asks once, so that its own rerun noise is taken to be the reference's",
    "single-level": "a factor with one level, which was left out",
    "confounded": "nothing was asked twice, so that the last component holds the rerun noise as well",
    "identical-repeats": "repeats never differ, so that the variance of repeats is 0",
    "negative": "a variance that came out below 0 and counts as 0",
    "equivalent": "the change is smaller than the declared margin",
    "different": "the change is larger than the declared margin",
    "undecided": "the data do not say whether the change is smaller than the declared margin",
}
"""What the flags of the shipped metrics mean; flags of other metrics are shown by name alone."""

GOLD: Final = "constant-gold"

EXPECTED_LABEL: Final = (
    "one expected label only, as the test is made: always saying it looks perfect there, so see the reference too"
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
            if flag not in ("simulated", FINDING):
                told = flag, _meaning(flag, made=varied and measure.test != REFERENCE and measure.name == EXPECTED)
                _note(places.setdefault(told, {}).setdefault(measure.judge, []), measure.test)
                _note(names.setdefault(told, []), measure.name)
    return [_line(told, names[told], places[told], report) for told in places]


def _gold(report: RunReport, task: str) -> Mapping[str, int]:
    return next((summary.gold for summary in report.tasks if summary.task.name == task), {})


def _meaning(flag: str, *, made: bool) -> str:
    return EXPECTED_LABEL if flag == GOLD and made else MEANING.get(flag, "")


def _note(known: list[str], name: str) -> None:
    if name not in known:
        known.append(name)


def _line(told: tuple[str, str], names: list[str], places: dict[str, list[str]], report: RunReport) -> str:
    meaning = ", ".join(part for part in told if part)
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
