"""Read traces of MLflow with their assessments: a list or JSON Lines of `Trace.to_dict()`.

Feedback by a judge or by code is a verdict; feedback by people (HUMAN) of the same name is its gold label, and so is an
expectation that `gold` names.
"""

from __future__ import annotations

from typing import Final

from jrh_import.exports.reader import Entries, Entry, Export, Kind
from jrh_import.exports.values import find, mappings, text

_NAME: Final = "assessment_name or name"
_ABOUT: Final = "metadata/mlflow.assessment.judge"


def _judge(assessment: Entry) -> str:
    """Return the judge's name; `default` and the like are what MLflow writes where none was named."""
    named = text(find(assessment, "source/source_id"))
    # The name of the assessment at least says what was judged.
    return text(find(assessment, _NAME)) if named in ("", "default") else named


class MlflowTraces(Export):
    """Read traces of MLflow."""

    lists = ("traces",)
    wrong = "has no MLflow traces; write `Trace.to_dict()` of each, one per line"
    unmapped = ("spans, tags and times of the traces", "cost and tokens of the traced application")
    kinds = (
        Kind(
            keys=("info/trace_id",),
            scores="feedback",
            id="assessment_id",
            item="^/info/trace_id",
            metric=_NAME,
            value="feedback/value",
            people=("source/source_type", frozenset({"HUMAN"})),
            judge=_judge,
            error="feedback/error/error_message or feedback/error/error_code or feedback/error",
            golds={"expectation": "^/expected"},
            fields={
                "rationale": "rationale",
                "content": "^/info/response_preview",
                "group": "^/info/request_preview",
                "cost": f"{_ABOUT}Cost",
                "prompt_tokens": f"{_ABOUT}InputTokens",
                "completion_tokens": f"{_ABOUT}OutputTokens",
            },
        ),
    )

    def entries(self, found: Entries) -> Entries:
        """Tell feedback from expectations; an assessment that was overridden stays in its trace and is not valid."""
        entries: Entries = []
        for place, trace in found:
            valid = [part for part in mappings(find(trace, "info/assessments")) if part.get("valid") is not False]
            expected = {
                text(find(part, _NAME)): find(part, "expectation/value or expectation/serialized_value/value")
                for part in valid
                if "expectation" in part
            }
            feedback = [part for part in valid if part.get("feedback")]
            entries.append((place, {**trace, "expected": expected, "feedback": feedback}))
        return entries
