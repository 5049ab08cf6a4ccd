"""Which measures deserve caution, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh import REFERENCE, RunReport

from jrh_report.findings import FINDING
from jrh_report.overview import COLUMNS, EXPECTED
from jrh_report.tables import judge_label

MEANING: Final = {
    "few-items": "few items; the interval is wide, and its coverage is approximate.",
    "change-due": "this test asks for different verdicts than the reference; agreement is not a merit here.",
    "one-item": "one item only; chance-corrected agreement cannot be estimated.",
    "few-labels": "fewer than 30 labels to correct with; the interval is approximate.",
    "few-missing": "too few missing verdicts for this test's approximation.",
    "few": "too few events for this test's approximation.",
    "few-events": "only a few items vary; actual coverage may differ from the stated level.",
    "few-clusters": "too few items; actual coverage may fall below the stated level.",
    "constant-gold": "all gold labels are the same; a judge that always gives that label scores 100%.",
    "constant-verdicts": "the judge gave a single label throughout.",
    "constant-reference": "the judge gave a single label in the reference condition, so kappa is 0 by definition.",
    "degenerate": "undefined for these data.",
    "all-missing": "every verdict is missing.",
    "empty": "no data.",
    "no-interval": "no interval; nothing varies, or the estimate lies at the end of its range.",
    "conservative": "the interval is wider than necessary.",
    "cut": "the estimate fell outside [0, 1] and was clipped.",
    "reference-floor": "this test asks once; the reference's rerun noise stands in for its own.",
    "single-level": "the factor has a single level and was left out.",
    "confounded": "no question was repeated; the last component includes rerun noise.",
    "identical-repeats": "repeats never differ; their variance is 0.",
    "negative": "a negative variance estimate was set to 0.",
    "equivalent": "equivalent: the change lies within the declared margin.",
    "different": "different: the change exceeds the declared margin.",
    "undecided": "inconclusive: too few data to decide whether the change lies within the declared margin.",
}
"""What the flags of the shipped metrics mean; flags of other metrics are shown by name alone."""

GOLD: Final = "constant-gold"

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
