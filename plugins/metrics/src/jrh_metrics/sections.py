"""The sections of reports on agreement with gold and people, wrong verdicts, variance and interactions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import REFERENCE, RunReport
from jrh.values import Column, Importance, MeasureRef, Row, Section, TablePart, TaskSummary
from jrh_measuring import (
    CurvePart,
    MatrixPart,
    MeasureTable,
    MeasureTables,
    Panel,
    ReportMeasures,
    Series,
    Spot,
    TaskPart,
    mark_simulated,
    section_of_task,
)

from jrh_metrics.judges_by_tests import brief_accuracy, right_verdicts

ROWS: Final = 150
"""Bins that are listed; the others are counted."""
MATRICES: Final = 24
"""Confusion matrices of a task."""
# A measure has one estimate: of the two numbers of a bin the other one is in its note.
_MEAN: Final = re.compile(r"mean stated probability ((?:0|1)\.\d+)")
"""What the metric `calibration` notes of every bin."""
_CALIBRATION: Final = (
    "A judge is calibrated if a share p of the verdicts that it gives with probability p is right. The Brier score is "
    "the mean squared difference between the stated probability and the outcome (1 if right, 0 if wrong): 0 is best, "
    "and always saying 0.5 gives 0.25. The calibration error is the mean distance between the share right and the "
    "stated probability over the bins: 0 is best. Only verdicts with a probability count. On the dashed line of a plot "
    "a judge is calibrated; below it, it is right less often than it says."
)
_SCORES: Final = MeasureTable(
    caption="Scores of stated probabilities",
    columns={"brier": "Brier score", "calibration-error": "calibration error (ECE)"},
)
_ERROR_RATES: Final = "error-rates"
_ALARMS: Final = MeasureTable(
    caption="Wrong verdicts by kind",
    columns={"false-positive-rate": "FPR", "false-negative-rate": "FNR"},
    file="error-rates",
)
_PUBLISHED: Final = MeasureTable(
    caption="Agreement between templates by the estimator of JudgeSense, and by jrh's",
    columns={
        "compat-judgesense-jss": "JSS, paper",
        "jss": "JSS",
        "compat-judgesense-kappa": "kappa, paper",
        "template-kappa": "kappa",
    },
    note="The paper's estimator bootstraps rows as if they were independent and sets kappa to 1 where it is undefined. "
    "Both compare what labels mean. That of jrh is clustered by item.",
    file="templates-as-published",
)
_VARIANCE: Final = (
    "How much each factor contributes to the differences between verdicts. Verdicts count as numbers: the level on an "
    "ordinal scale, 1 for the first of two labels, one half for a tie. Differences between items are wanted; all other "
    "components are noise. The analysis covers the reference condition and the tests that change the prompt template "
    "or the option order and expect the same verdict.\n\nBoth coefficients are shares of wanted variance: "
    "generalizability if items are compared, dependability if the verdict itself counts; 1 is best. The cheapest "
    "design says how often to ask an item, with how many judges or templates."
)
_COEFFICIENTS: Final = {
    "generalizability": ("generalizability of one verdict", 3),
    "dependability": ("dependability of one verdict", 3),
    "cheapest-design": ("cheapest design that is dependable enough (D-study), calls per item", 0),
}
"""Measure -> what it is called, and its digits."""


def people() -> MeasureTables:
    """Build the section on people and judges."""
    return MeasureTables.of_table(
        "Agreement of judges with people, and of people with each other",
        {
            "judge-people-kappa": "judge and a person, kappa",
            "people-kappa": "two people, kappa",
            "people-kappa-difference": "difference",
        },
        "Kappa (quadratically weighted on ordinal scales) on the items that two people or more labelled, in the "
        "reference condition. The difference compares both on the same items, clustered by item; below 0 the judge "
        "agrees less with people than they agree with each other. It holds for these people only.",
    )


def beyond_chance() -> MeasureTables:
    """Build the section on agreement with the gold labels beyond chance."""
    table = MeasureTable(
        caption="Agreement with the gold labels beyond chance", columns={"gold-kappa": "kappa with gold"}
    )
    return MeasureTables(
        text="Cohen's kappa of verdicts and gold labels: 1 is perfect, 0 is what chance gives. A judge that always "
        "gives the most common label has a kappa of 0.",
        tables=(_on_scales(table, ordered=False),),
    )


def _on_scales(table: MeasureTable, *, ordered: bool) -> TaskPart:
    """Show a table only for tasks on ordinal scales, or only for the others: they share the name of kappa with gold."""

    def build_part(measures: ReportMeasures, task: str) -> TablePart | None:
        scales = {summary.task.name: summary.task.scale for summary in measures.report.tasks}
        return table.part(measures, task) if scales[task].ordered == ordered else None

    return build_part


def interactions() -> MeasureTables:
    """Build the section on chains of perturbations."""
    return MeasureTables.of_table(
        "Effects of chains beyond their parts",
        {"interaction": "interaction, difference of shares"},
        "The effect of a chain of perturbations beyond the sum of its parts' effects: 0 if their effects add up. "
        "Above 0, the chain moves more verdicts than the sum of its parts; below 0, fewer.",
    )


def as_published() -> MeasureTables:
    """Build the section that shows the estimates of the metric `compat-judgesense` next to those of jrh."""
    return MeasureTables(tables=(_table_as_published,), importance=Importance.DETAIL)


def _table_as_published(measures: ReportMeasures, task: str) -> TablePart | None:
    return _PUBLISHED.part(measures, task) if any(measures.select(task, next(iter(_PUBLISHED.columns)))) else None


@frozen
class FalseVerdicts:
    """Shows false positives and negatives, and which label they are about."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task."""
        measures = ReportMeasures.of(report)
        for summary in report.tasks:
            text = (
                "A false positive (FPR: their rate) gives the positive label where another is right; a false negative "
                "(FNR) gives another label where the positive one is right. The positive label is "
                f"{_positive_label(report, summary)}"
            )
            more = "" if summary.task.scale.positive else "; declare another one as `positive` of the task's scale"
            name = summary.task.name
            yield section_of_task(name, f"{text}{more}.", (_error_rates(measures, name),))


def _error_rates(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate the share of right verdicts with both kinds of errors."""
    rates, right = _ALARMS.part(measures, task), right_verdicts(measures, task)
    if rates is None:
        return None
    columns = (Column(heading=brief_accuracy(measures.report, task)), *rates.columns)
    # Accuracy in front: a low rate of one kind of error may be bought with the other.
    rows = (evolve(row, cells=(right.get((row.heads[0], row.heads[1])), *row.cells)) for row in rates.rows)
    return evolve(rates, columns=columns, rows=tuple(rows))


def _positive_label(report: RunReport, summary: TaskSummary) -> str:
    """Return the label that the rates of false positives and negatives are about; empty where there is none."""
    scale = summary.task.scale
    stated = [used.options.get("positive") for used in report.components if used.component.endswith(_ERROR_RATES)]
    known = [label for label in stated if isinstance(label, str) and label in scale]
    # The same order as in `jrh_measuring.positive_label`, which the rates were computed with.
    return scale.positive or next(iter(known), "") or scale.positive_label or ""


def variance() -> MeasureTables:
    """Build the section on where the variance of verdicts comes from, and how dependable that leaves them."""
    return MeasureTables(text=_VARIANCE, tables=(_components, _coefficients))


def _components(measures: ReportMeasures, task: str) -> TablePart | None:
    rows = tuple(
        Row(
            heads=(measure.cell["component"].replace(":", " by "),),
            cells=(MeasureRef(measure=place, digits=4),),
            note=measure.note,
        )
        for place, measure in measures.select(task, "variance", "component")
    )
    columns = (Column(heading="variance, squared score", measure="variance"),)
    caption = "Variance components of verdicts"
    return TablePart(caption=caption, heads=("Component",), columns=columns, rows=rows) if rows else None


def _coefficients(measures: ReportMeasures, task: str) -> TablePart | None:
    rows = tuple(
        Row(heads=(what,), cells=(MeasureRef(measure=place, digits=digits),), note=measure.note)
        for name, (what, digits) in _COEFFICIENTS.items()
        for place, measure in measures.select(task, name)
    )
    caption, columns = "Reliability from the components", (Column(heading="estimate"),)
    return TablePart(caption=caption, heads=("Coefficient",), columns=columns, rows=rows) if rows else None


def gold_levels() -> MeasureTables:
    """Build the section on agreement with the gold levels of ordinal scales."""
    table = MeasureTable(
        caption="Agreement with the gold levels",
        columns={
            "gold-kappa": "quadratic kappa with gold (CCC)",
            "pearson": "Pearson",
            "spearman": "Spearman",
            "mean-absolute-error": "MAE",
            "root-mean-squared-error": "RMSE",
            "bias": "bias",
        },
        note="Quadratic kappa is Lin's concordance correlation (CCC). MAE (mean absolute error), RMSE and bias are in "
        "levels.",
        file="ordinal",
    )
    return MeasureTables(tables=(_on_scales(table, ordered=True),))


@frozen
class Confusion:
    """Shows how often each verdict is given where each level is right."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task with a confusion matrix, those of the reference condition first."""
        measures = ReportMeasures.of(report)
        for task in (summary.task for summary in report.tasks):
            places: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
            for place, measure in measures.select(task.name, "confusion", "right", "verdict"):
                key = measure.cell["right"], measure.cell["verdict"]
                places.setdefault((measure.judge, measure.test), {})[key] = place
            order = [(judge, test) for test in report.tests for judge in report.judges]
            keys = sorted((key for key in order if key in places), key=lambda key: key[1] != REFERENCE)
            text = "Share of each verdict where each label is right."
            # Many tests and judges make hundreds of matrices: the others are counted.
            if len(keys) > MATRICES:
                text = f"{text} {len(keys) - MATRICES} more matrices are in report.json."
            parts = (_matrix(report, key, task.scale.labels, places[key]) for key in keys[:MATRICES])
            yield section_of_task(task.name, text, parts, Importance.DETAIL)


def _matrix(
    report: RunReport, key: tuple[str, str], labels: Sequence[str], places: dict[tuple[str, str], int]
) -> MatrixPart:
    return MatrixPart(
        caption=f"Confusion matrix: {mark_simulated(report, key[0])}, {key[1]}",
        head="Right label",
        columns=tuple(Column(heading=f"verdict {label}", measure="confusion") for label in labels),
        rows=tuple(
            Row(
                heads=(right,),
                cells=tuple(
                    MeasureRef(measure=places[right, verdict], digits=2) if (right, verdict) in places else None
                    for verdict in labels
                ),
            )
            for right in labels
            if any((right, verdict) in places for verdict in labels)
        ),
        folded=key[1] != REFERENCE,
    )


@frozen
class StatedProbabilities:
    """Shows whether the probabilities that judges state are those of being right."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task with stated probabilities."""
        measures = ReportMeasures.of(report)
        for task in (summary.task.name for summary in report.tasks):
            yield section_of_task(task, _CALIBRATION, (_SCORES.part(measures, task), *_reliability(measures, task)))


def _reliability(measures: ReportMeasures, task: str) -> tuple[CurvePart | None, TablePart | None]:
    """Draw the curves of the reference condition, and tabulate the bins of the other tests."""
    panels: dict[str, list[Spot]] = {}
    rows: list[Row] = []
    for place, measure in measures.select(task, "reliability", "stated"):
        stated = _MEAN.fullmatch(measure.note)
        # Curves of every test would cover each other.
        if measure.test != REFERENCE or not stated:
            heads = measure.judge, measure.test, measure.cell["stated"], stated[1] if stated else measure.note
            rows.append(Row(heads=heads, cells=(MeasureRef(measure=place),)))
        else:
            spot = Spot(at=float(stated[1]), measure=place, name=measure.cell["stated"])
            panels.setdefault(measure.judge, []).append(spot)
    curves = None
    if panels:
        curves = CurvePart(
            caption="Share of right verdicts by mean stated probability, reference condition",
            heading="Judge",
            names="Stated probability",
            across="mean stated probability",
            up="share right",
            panels=tuple(
                Panel(heading=judge, series=(Series(name="", spots=tuple(sorted(spots, key=lambda spot: spot.at))),))
                for judge, spots in panels.items()
            ),
            guide=((0.0, 0.0), (1.0, 1.0)),
        )
    table = TablePart(
        caption="Share of right verdicts by stated probability, elsewhere",
        heads=("Judge", "Test", "Stated probability", "Mean stated"),
        columns=(Column(heading="share right", measure="reliability"),),
        rows=tuple(rows[:ROWS]),
        more=len(rows[ROWS:]),
        folded=True,
    )
    return curves, table if rows else None


def differences() -> MeasureTables:
    """Build the section on one test against another, and one task against another."""
    between = {"tests": "Accuracy of a test less that of another", "tasks": "Accuracy of a task less that of another"}
    tables = (
        MeasureTable(
            caption=caption,
            columns={f"accuracy-between-{what}": "difference"},
            levels={"against": "Against"},
            file=f"differences-between-{what}",
        )
        for what, caption in between.items()
    )
    pairs = MeasureTable(
        caption="Verdicts under one variant against another",
        columns={"pair-agreement": "agreement", "pair-accuracy-difference": "difference in accuracy"},
        levels={"variant": "Variant", "against": "Against"},
        file="variant-pairs",
    )
    text = "The interval counts that tests share items. Tasks are compared over the tests that both have."
    return MeasureTables(text=text, tables=(*tables, pairs))


def binary_levels() -> MeasureTables:
    """Build the section on ordinal verdicts made binary."""
    columns = {
        "accuracy": "accuracy",
        "false-positive-rate": "FPR",
        "false-negative-rate": "FNR",
        "flip-rate": "flip rate",
    }
    return MeasureTables.of_table(
        "Verdicts made binary at a stated level",
        {f"binary-{name}": heading for name, heading in columns.items()},
        notes=True,
        file="binary-levels",
    )
