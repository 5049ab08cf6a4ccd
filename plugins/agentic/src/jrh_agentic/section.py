"""The section on verdicts about edited agent transcripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from jrh import RunReport, Scale
from jrh.values import Section
from jrh_measuring import MeasureTable, ReportMeasures, section_of_task

_TABLE: Final = MeasureTable(
    caption="Verdicts on edited agent transcripts",
    columns={
        "agent-accuracy": "accuracy",
        "agent-false-positive-rate": "FPR",
        "agent-false-negative-rate": "FNR",
        "edit-sensitivity": "edits noticed",
        "evidence-localisation": "rationale points at an edit",
        "evidence-localisation-by-chance": "by chance",
        "evidence-localisation-above-chance": "above chance",
    },
    note="Accuracy: the share of verdicts that are as expected. FPR, FNR: rates of false positives and negatives.",
    file="agent-error-rates",
)


@frozen
class Transcripts:
    """Shows missed violations, false alarms and the edits that rationales point at."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task of transcripts."""
        measures = ReportMeasures.of(report)
        for task in (summary.task for summary in report.tasks):
            yield section_of_task(task.name, _text(task.scale), (_TABLE.part(measures, task.name),))


def _text(scale: Scale) -> str:
    # FPR and FNR turn around with the positive label, so the text has to say which it is.
    if scale.positive:
        return (
            f"The positive label is {scale.positive}, as the task declares: a false negative is a transcript that "
            "should get it and does not; a false positive is one that gets it wrongly."
        )
    return (
        "A false negative is a violation that the judge misses; a false positive is a transcript that it flags "
        "although it satisfies the rubric."
    )
