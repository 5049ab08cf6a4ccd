"""Read Phoenix: the runs of an experiment (`/v1/experiments/ID/json`), or annotations of spans.

An annotation by a model or by code is a verdict; one by people (HUMAN) of the same name is its gold label. With
`output`, the experiment's task is the judge and its output the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import JrhError, Json, Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import OUTPUT, ExportRow, ScoreOptions, imported_scores, read_objects

from jrh_import.exports.people import Annotation, Annotations
from jrh_import.exports.values import at, labels_in, listed, number, seconds, text

_UNMAPPED: Final = (
    "trace ids and times of the runs",
    "metadata of annotations",
    "scores of annotations that also have labels",
)
_LISTS: Final = ("data", "span_annotations", "runs")


class Phoenix:
    """Read experiments and annotations of Phoenix."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one annotation name, or the outputs."""
        found = [
            (place, entry)
            for place, each in read_objects(path, *_LISTS)
            for entry in (listed(each["data"]) if isinstance(each.get("data"), list) else [each])
        ]
        experiment = all("example_id" in run for _, run in found)
        if not experiment and not all("annotator_kind" in each for _, each in found):
            raise OtherToolError(f"'{path}' has neither a Phoenix experiment (/v1/experiments/ID/json) nor annotations")
        if self._options.output is not None and experiment:
            rows = [self._answer(place, run) for place, run in found]
            return imported_scores(rows, self._options, str(path), unmapped=("annotations", *_UNMAPPED))
        said = Annotations(_of_runs(found) if experiment else _of_spans(found))
        return imported_scores(said.rows(), self._options, str(path), notes=[*said.notes()], unmapped=_UNMAPPED)

    def _answer(self, place: str, run: Mapping[str, Any]) -> ExportRow:
        error = text(run.get("error"))
        return ExportRow(
            place=place,
            id=f"{text(run.get('example_id'))}#{run.get('repetition_number')}" if run.get("repetition_number") else "",
            item=text(run.get("example_id")),
            metric=self._options.metric or OUTPUT,
            value=None if error else at(run.get("output"), *(self._options.output or ())),
            judge="task",
            golds=_golds(run),
            fields={**_asked(run), "status": Status.PROVIDER_ERROR if error else None, "detail": error[:200] or None},
        )


def _golds(run: Mapping[str, Any]) -> dict[str, Json]:
    return {
        **labels_in(run.get("reference_output"), "reference_output"),
        **labels_in(run.get("metadata"), "metadata"),
        **labels_in(run.get("input"), "input"),
    }


def _asked(run: Mapping[str, Any]) -> dict[str, Any]:
    repeat, milliseconds = number(run.get("repetition_number")), number(run.get("latency_ms"))
    return {
        "repeat": None if repeat is None else max(repeat - 1, 0),
        "latency": None if milliseconds is None else milliseconds / 1000,
        "prompt_tokens": number(run.get("prompt_token_count")),
        "completion_tokens": number(run.get("completion_token_count")),
    }


def _of_runs(runs: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Annotation]:
    for place, run in runs:
        repeat = number(run.get("repetition_number")) or 1
        for each in listed(run.get("annotations")):
            error = text(each.get("error"))
            yield Annotation(
                place=place,
                id="",
                item=f"{text(run.get('example_id'))}#{repeat}",
                metric=text(each.get("name")),
                value=None if error else _value(each),
                by_people=_by_people(each),
                golds=_golds(run),
                fields={
                    "status": Status.PROVIDER_ERROR if error else None,
                    "detail": error[:200] or None,
                    "rationale": text(each.get("explanation")),
                    "content": text(run.get("output")),
                    "group": text(run.get("example_id")),
                    "latency": seconds(each.get("start_time"), each.get("end_time")),
                },
            )


def _of_spans(found: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Annotation]:
    for place, each in found:
        item = text(each.get("span_id") or each.get("trace_id") or each.get("session_id"))
        if not item:
            raise JrhError(f"{place}: the annotation '{text(each.get('name'))[:80]}' names no span")
        yield Annotation(
            place=place,
            id=text(each.get("id")),
            item=item,
            metric=text(each.get("name")),
            value=_value(each.get("result") or each),
            by_people=_by_people(each),
            judge=text(at(each, "metadata", "model")),
            golds=labels_in(each.get("metadata"), "metadata"),
            fields={"rationale": text(at(each, "result", "explanation") or each.get("explanation"))},
        )


def _by_people(annotation: Mapping[str, Any]) -> bool:
    return text(annotation.get("annotator_kind")).upper() == "HUMAN"


def _value(result: Mapping[str, Any]) -> Json:
    return text(result.get("label")) or number(result.get("score"))
