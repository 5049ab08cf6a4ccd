"""The section: how often each judge changes its verdict because a response is in capitals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.values import Column, MeasureRef, Row, Section, TablePart, TextPart

_TEST: Final = "shout"
_MEASURE: Final = "flip-rate"
_TEXT: Final = "The response says the same in capitals: a reliable judge does not change its verdict."


@frozen
class Capitals:
    """Shows the share of changed verdicts of each judge, task by task."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task that has been put to the test."""
        for task in (summary.task.name for summary in report.tasks):
            rows = tuple(
                Row(heads=(measure.judge,), cells=(MeasureRef(measure=place),))
                for place, measure in enumerate(report.measures)
                if (measure.name, measure.task, measure.test) == (_MEASURE, task, _TEST) and not measure.cell
            )
            table = TablePart(
                caption="Verdicts that change in capitals",
                heads=("Judge",),
                columns=(Column(heading="share of verdicts", measure=_MEASURE),),
                rows=rows,
            )
            yield Section(task=task, parts=(TextPart(text=_TEXT), table) if rows else ())
