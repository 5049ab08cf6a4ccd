"""Say what was found about the covariates that no finding is about: a question that was asked gets an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import Measure
from jrh.text import clean_text
from jrh.values import LENGTH
from jrh_measuring import counted_items, format_estimate, format_interval, stated_p

from jrh_import.checking.measured import Checked
from jrh_import.covariates import covariate_name

EFFECT: Final = "covariate-effect"
"""Measure of what a covariate does to verdicts at equal label, and the kind of the findings about it."""
_DIGITS: Final = 2
_NAME: Final = 40


def open_covariates(checked: Checked, judge: str) -> Iterator[str]:
    """Yield one sentence per covariate asked for that no finding about the judge is about, with the interval."""
    told = {
        basis.cell.get("covariate")
        for finding in checked.report.findings
        if (finding.judge, finding.kind) == (judge, EFFECT)
        for basis in finding.basis
    }
    for column in checked.asked.covariates:
        name = covariate_name(column, checked.source.table)
        if name not in told:
            yield _sentence(checked, judge, name, column)


def _sentence(checked: Checked, judge: str, name: str, column: str) -> str:
    measures = [each for each in checked.report.measures if each.judge == judge and each.cell.get("covariate") == name]
    effects = [each for each in measures if each.name == EFFECT and each.estimate is not None]
    shown = f"'{clean_text(column, _NAME)}'"
    shown = f"the length of {shown}" if name == LENGTH and column != LENGTH else shown
    if not effects:
        why = next((each.note for each in measures if each.note), "too few verdicts, or a single value")
        return f"Effect of {shown} at equal gold not estimable: {why}"
    largest = max(effects, key=lambda each: (round(abs(each.estimate or 0.0), 9), each.estimate or 0.0))
    p = next((each for each in measures if each.name == f"{EFFECT}-p" and each.estimate is not None), None)
    tested = "" if p is None else f", {stated_p(p.estimate)}"
    figure = f"{_figure(largest)}{tested} ({counted_items(largest)})"
    return f"Effect of {shown} at equal gold neither shown nor ruled out: {figure}; an association"


def _figure(effect: Measure) -> str:
    """Write the effect with its interval, its unit, and the level it is about."""
    value = format_estimate(effect, _DIGITS)
    levels = " levels" if effect.unit == "difference in levels" else ""
    level = effect.cell.get("level")
    per = " per standard deviation" if level is None else f" with '{clean_text(level, _NAME)}'"
    return f"{value} {format_interval(effect, _DIGITS)}{levels}{per}".replace("  ", " ")
