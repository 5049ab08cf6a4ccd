"""The section on the judges as a panel: how far they agree, what they decide together, how their errors go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from jrh import Measure, RunReport
from jrh.values import Column, MeasureRef, Row, Section, TablePart, has_model_gold
from jrh_measuring import MeasureTable, ReportMeasures, section_of_task

PAIRS: Final = 40
"""Pairs of judges that are listed, the most alike in their errors first; the others are counted."""
_TEXT: Final = (
    "How the judges do as a panel. Agreement is corrected for chance: 1 is perfect agreement, 0 is what chance alone "
    "gives. A tied vote decides nothing and counts as wrong: an even number of judges loses whenever votes are split "
    "evenly, as those of two judges are whenever they differ.\n\nJudges that err on the same items are worth less than "
    "their number. The effective number is how many judges with independent errors would do as well; negatively "
    "correlated errors make it larger than the number of judges."
)
_AGREEMENT: Final = MeasureTable(
    caption="Agreement of the judges with each other",
    columns={
        "krippendorff-alpha": "Krippendorff's alpha",
        "fleiss-kappa": "Fleiss' kappa",
        "gwet-ac1": "Gwet's AC1",
        "pabak": "PABAK",
        "icc-2-1": "ICC(2,1)",
        "icc-2-k": "ICC(2,k)",
    },
    panel=True,
    notes=True,
)
_AND: Final = " & "
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


@frozen
class Panel:
    """Shows agreement, decisions and correlations of errors."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task with a panel."""
        measures = ReportMeasures.of(report)
        for task in (summary.task.name for summary in report.tasks):
            parts = (_AGREEMENT.part(measures, task), _decisions(measures, task), _pairs(measures, task))
            yield section_of_task(task, _TEXT, parts)


def _decisions(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate what the judges decide together."""
    report = measures.report
    by_model = any(has_model_gold(each.gold_sources) for each in report.tasks if each.task.name == task)
    right = "agreement with model labels" if by_model else "gold accuracy"
    rows = tuple(
        Row(
            heads=(what.replace("gold accuracy", right), _whose(report, measure)),
            cells=(MeasureRef(measure=place),),
            note=measure.note,
        )
        for name, what in _WHAT.items()
        for place, measure in sorted(measures.by_name.get((task, name), ()), key=lambda each: bool(each[1].cell))
        if not measure.judge
    )
    caption, columns = "Panel verdicts in the reference condition", (Column(heading="estimate"),)
    return TablePart(caption=caption, heads=("Measure", "Of"), columns=columns, rows=rows) if rows else None


def _whose(report: RunReport, measure: Measure) -> str:
    """Say whose decision it is, and by what rule."""
    cell = measure.cell
    if not cell:
        return _WHOLE.get(measure.name, "all judges")
    if set(cell) == {"without"}:
        return f"without {_marked(report, cell['without'])}, by majority"
    if set(cell) == {"rule"} and cell["rule"] in _RULES:
        return _RULES[cell["rule"]]
    return ", ".join(f"{name} {value}" for name, value in cell.items())


def _pairs(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate the correlation of errors of every two judges, the strongest first."""
    pairs = list(measures.named(task, "error-correlation", "judges"))
    pairs.sort(key=lambda each: (each[1].estimate is None, -(each[1].estimate or 0.0)))
    if not pairs:
        return None
    return TablePart(
        caption="Correlation of the errors of two judges in the reference condition, highest first",
        heads=("Judge", "and"),
        columns=(Column(heading="correlation of errors", measure="error-correlation"),),
        rows=tuple(
            Row(
                heads=_two(measures.report, measure.cell["judges"]),
                cells=(MeasureRef(measure=place),),
                note=measure.note,
            )
            for place, measure in pairs[:PAIRS]
        ),
        more=len(pairs[PAIRS:]),
    )


def _two(report: RunReport, pair: str) -> tuple[str, str]:
    """Return the names of a pair, which the metric joined, each marked where its answers are made up."""
    for first in report.judges:
        second = pair.removeprefix(f"{first}{_AND}")
        if second != pair and second in report.judges:
            return _marked(report, first), _marked(report, second)
    return pair, ""


def _marked(report: RunReport, judge: str) -> str:
    return f"{judge} (simulated)" if judge in report.simulated else judge
