"""The judges of a run as a panel: how far they agree, what they decide together, how their errors go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import Measure, RunReport

from jrh_report.html.found import Found
from jrh_report.html.listing import Line, Table, columns, mixed_mark, table
from jrh_report.html.section import Part
from jrh_report.overview import MODEL_GOLD, of_models
from jrh_report.tables import judge_label

PAIRS: Final = 40
"""Pairs of judges that are listed, the most alike in their errors first; the others are counted."""
_AGREEMENT: Final = columns(
    ("krippendorff-alpha", "Krippendorff's alpha"),
    ("fleiss-kappa", "Fleiss' kappa"),
    ("gwet-ac1", "Gwet's AC1"),
    ("pabak", "PABAK"),
    ("icc-2-1", "ICC(2,1)"),
    ("icc-2-k", "ICC(2,k)"),
)
_AND: Final = " & "
_ESTIMATE: Final = columns(("", "estimate"))
_CORRELATION: Final = columns(("error-correlation", "correlation of errors"))
_WHAT: Final = {
    "panel-accuracy": "gold accuracy",
    "best-trio": "gold accuracy",
    "panel-mean-absolute-error": "mean absolute error, levels",
    "effective-judges": "effective number of judges",
}
"""Measure -> what it is called, in the order of the table."""
_WHOLE: Final = {
    "panel-accuracy": "all judges, by majority",
    "best-trio": "the best three judges, by majority",
    "effective-judges": "all judges",
}
_RULES: Final = {
    "weighted": "all judges, by weighted votes",
    "mean": "all judges, by their mean level",
    "median": "all judges, by their median level",
}


def together(found: Found, task: str) -> Part | None:
    """Gather agreement, decisions and correlations; None where there is no panel."""
    tables = (_agreement(found, task), _decisions(found, task), _pairs(found, task))
    shown = tuple(each for each in tables if each is not None)
    return Part(task=task, tables=shown) if shown else None


def _agreement(found: Found, task: str) -> Table | None:
    """Tabulate how far judges agree, test by test."""
    rows = [(test, [found.whole(each.name, task, "", test) for each in _AGREEMENT]) for test in found.report.tests]
    rows = [(test, measures) for test, measures in rows if any(measures)]
    used = [place for place in range(len(_AGREEMENT)) if any(measures[place] for _, measures in rows)]
    lines = [
        Line(
            heads=(test,),
            cells=tuple(found.maybe(measures[place]) for place in used),
            mark=mixed_mark(measures),
            note=next((each.note for each in measures if each is not None and each.note), ""),
        )
        for test, measures in rows
    ]
    return table(
        task, "Agreement of the judges with each other", ("Test",), tuple(_AGREEMENT[place] for place in used), lines
    )


def _decisions(found: Found, task: str) -> Table | None:
    """Tabulate what the judges decide together."""
    right = MODEL_GOLD if of_models(found.report, task) else "gold accuracy"
    lines = [
        Line(
            heads=(_WHAT[each.name].replace("gold accuracy", right), _whose(found.report, each)),
            cells=(found.cell(each),),
            mark=mixed_mark((each,)),
            note=each.note,
        )
        for name in _WHAT
        for each in _measures(found, task, name)
    ]
    return table(task, "Panel verdicts in the reference condition", ("Measure", "Of"), _ESTIMATE, lines)


def _measures(found: Found, task: str, name: str) -> Iterator[Measure]:
    """Yield the measures of a name that are about all judges, the whole panel's first."""
    whole = (found.whole(name, task, "", test) for test in found.report.tests)
    yield from (each for each in whole if each is not None)
    yield from (each for each in found.parts.get((task, name), ()) if not each.judge)


def _whose(report: RunReport, measure: Measure) -> str:
    """Say whose decision it is, and by what rule."""
    cell = measure.cell
    if not cell:
        return _WHOLE.get(measure.name, "all judges")
    if set(cell) == {"without"}:
        return f"without {judge_label(report, cell['without'])}, by majority"
    if set(cell) == {"rule"} and cell["rule"] in _RULES:
        return _RULES[cell["rule"]]
    return ", ".join(f"{name} {value}" for name, value in cell.items())


def _pairs(found: Found, task: str) -> Table | None:
    """Tabulate the correlation of errors of every two judges, the strongest first."""
    pairs = [each for each in found.parts.get((task, "error-correlation"), ()) if set(each.cell) == {"judges"}]
    pairs.sort(key=lambda each: (each.estimate is None, -(each.estimate or 0.0)))
    lines = [_pair(found, each) for each in pairs]
    caption = "Correlation of the errors of two judges in the reference condition, highest first"
    return table(task, caption, ("Judge", "and"), _CORRELATION, lines, PAIRS)


def _pair(found: Found, measure: Measure) -> Line:
    heads = _two(found.report, measure.cell["judges"])
    mark = mixed_mark((measure,)) if not heads[1] else ""
    return Line(heads=heads, cells=(found.cell(measure),), mark=mark, note=measure.note)


def _two(report: RunReport, pair: str) -> tuple[str, str]:
    """Return the names of a pair, which the metric joined, each marked where its answers are made up."""
    for first in report.judges:
        second = pair.removeprefix(f"{first}{_AND}")
        if second != pair and second in report.judges:
            return judge_label(report, first), judge_label(report, second)
    return pair, ""
