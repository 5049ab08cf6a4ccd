"""Read traces of MLflow with their assessments: a list or JSON Lines of `Trace.to_dict()`.

Feedback by a judge or by code is a verdict; feedback by people (HUMAN) of the same name is its gold label, and so is an
expectation that `gold` names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import Json, Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import ScoreOptions, imported_scores, read_objects

from jrh_import.exports.people import Annotation, Annotations
from jrh_import.exports.values import at, listed, mapping, number, text

_UNMAPPED: Final = ("spans, tags and times of the traces", "cost and tokens of the traced application")


class MlflowTraces:
    """Read traces of MLflow."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one assessment name."""
        traces = list(read_objects(path, "traces"))
        if not all("trace_id" in mapping(trace.get("info")) for _, trace in traces):
            raise OtherToolError(f"'{path}' has no MLflow traces; write `Trace.to_dict()` of each, one per line")
        said = Annotations(each for place, trace in traces for each in _annotations(place, mapping(trace["info"])))
        return imported_scores(said.rows(), self._options, str(path), notes=[*said.notes()], unmapped=_UNMAPPED)


def _annotations(place: str, info: Mapping[str, Any]) -> Iterator[Annotation]:
    # An assessment that was overridden stays in the trace and is not valid any more.
    valid = [each for each in listed(info.get("assessments")) if each.get("valid") is not False]
    expected = {
        f"expectation.{text(_name(each))}": _scalar(_expectation(each)) for each in valid if "expectation" in each
    }
    for each in valid:
        feedback = mapping(each.get("feedback"))
        if not feedback:
            continue
        error = mapping(feedback.get("error"))
        about = mapping(each.get("metadata"))
        source = mapping(each.get("source"))
        yield Annotation(
            place=place,
            id=text(each.get("assessment_id")),
            item=text(info.get("trace_id")),
            metric=text(_name(each)),
            value=None if error else _scalar(feedback.get("value")),
            by_people=text(source.get("source_type")).upper() == "HUMAN",
            judge=_judge(source, text(_name(each))),
            golds=expected,
            fields={
                "status": Status.PROVIDER_ERROR if error else None,
                "detail": text(error.get("error_message") or error.get("error_code"))[:200] or None,
                "rationale": text(each.get("rationale")),
                "content": text(info.get("response_preview")),
                "group": text(info.get("request_preview")) or None,
                "cost": _number(about.get("mlflow.assessment.judgeCost")),
                "prompt_tokens": _number(about.get("mlflow.assessment.judgeInputTokens")),
                "completion_tokens": _number(about.get("mlflow.assessment.judgeOutputTokens")),
            },
        )


def _name(assessment: Mapping[str, Any]) -> Any:
    return assessment.get("assessment_name") or assessment.get("name")


def _judge(source: Mapping[str, Any], metric: str) -> str:
    """Return the judge's name; `default` and the like are what MLflow writes if nobody named one."""
    named = text(source.get("source_id"))
    return metric if named in ("", "default") else named


def _expectation(assessment: Mapping[str, Any]) -> Any:
    found = mapping(assessment.get("expectation"))
    return found["value"] if "value" in found else at(found, "serialized_value", "value")


def _scalar(value: Any) -> Json:
    return value if isinstance(value, bool | int | float | str) or value is None else json.dumps(value)[:200]


def _number(value: Any) -> float | int | None:
    """Return a number, which metadata hold as text."""
    try:
        return number(value) if not isinstance(value, str) else float(value)
    except ValueError:
        return None
