"""Read Phoenix: the runs of an experiment (`/v1/experiments/ID/json`), or annotations of spans.

An annotation by a model or by code is a verdict; one by people (HUMAN) of the same name is its gold label. With
`output`, the experiment's task is the judge and its output the verdict.
"""

from __future__ import annotations

from typing import Any, Final

from jrh_import.exports.reader import Entry, Export, Kind
from jrh_import.exports.values import find, number, seconds, text, thousandths

_PEOPLE: Final = ("annotator_kind", frozenset({"HUMAN"}))
_GOLDS: Final = {name: f"^/{name}" for name in ("reference_output", "metadata", "input")}


def _value(annotation: Entry) -> Any:
    return text(find(annotation, "result/label or label")) or find(annotation, "result/score or score")


def _repeat(run: Entry) -> float | None:
    repeat = number(run.get("repetition_number"))
    # Phoenix counts from 1, records from 0.
    return None if repeat is None else max(repeat - 1, 0)


def _repetition(run: Entry) -> str:
    return f"{text(run.get('example_id'))}#{number(run.get('repetition_number')) or 1}"


class Phoenix(Export):
    """Read experiments and annotations of Phoenix."""

    lists = ("data", "span_annotations", "runs")
    wrong = "has neither a Phoenix experiment (/v1/experiments/ID/json) nor annotations"
    unmapped = (
        "trace ids and times of the runs",
        "metadata of annotations",
        "scores of annotations that also have labels",
    )
    kinds = (
        Kind(
            keys=("example_id",),
            scores="annotations",
            item=lambda annotation: _repetition(annotation["^"]),
            metric="name",
            value=_value,
            people=_PEOPLE,
            error="error",
            golds=_GOLDS,
            fields={
                "rationale": "explanation",
                "content": "^/output",
                "group": "^/example_id",
                "latency": seconds("start_time", "end_time"),
            },
        ),
        Kind(
            keys=("example_id",),
            # Without a number, runs of one example would look like copies of one run.
            id=lambda run: _repetition(run) if run.get("repetition_number") else "",
            item="example_id",
            value="output",
            usual_judge="task",
            error="error",
            golds=_GOLDS,
            fields={
                "repeat": _repeat,
                "latency": thousandths("latency_ms"),
                "prompt_tokens": "prompt_token_count",
                "completion_tokens": "completion_token_count",
            },
            unmapped="annotations",
        ),
        Kind(
            keys=("annotator_kind",),
            id="id",
            item="span_id or trace_id or session_id",
            metric="name",
            value=_value,
            people=_PEOPLE,
            judge="metadata/model",
            golds={"metadata": "metadata"},
            fields={"rationale": "result/explanation or explanation"},
            no_item="the annotation '{}' names no span",
        ),
    )
