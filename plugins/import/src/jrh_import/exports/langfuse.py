"""Read the scores of Langfuse: pages of `GET /api/public/scores`, their entries as JSON Lines, or a blob export.

A score by an evaluator is a verdict; an annotation (source ANNOTATION) of the same name on the same trace is its gold
label. Keys are those of the API (camel case) or of the exports (snake case).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import JrhError, Json
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import ScoreOptions, imported_scores, read_objects

from jrh_import.exports.people import Annotation, Annotations
from jrh_import.exports.values import at, labels_in, mapping, number, text

_UNMAPPED: Final = (
    "what the trace holds: input, output, cost, tokens and latency (scores name the trace only)",
    "session, environment, score configuration, authors and times",
)
_TEXTS: Final = frozenset({"TEXT", "CORRECTION"})
"""Kinds of score that are no label."""


class Langfuse:
    """Read the scores of Langfuse."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one score name."""
        # A file may hold several pages, one per line.
        found = [
            (place, score)
            for place, each in read_objects(path, "data", "scores")
            for score in (each["data"] if isinstance(each.get("data"), list) else [each])
        ]
        if not all(isinstance(score, Mapping) and "name" in score and "source" in score for _, score in found):
            raise OtherToolError(f"'{path}' has no Langfuse scores; export `GET /api/public/scores`")
        kept = [(place, score) for place, score in found if _kind(score) not in _TEXTS]
        said = Annotations(_annotations(kept))
        left = [f"{len(found) - len(kept)} scores that are texts or corrections"] if len(found) > len(kept) else []
        return imported_scores(
            said.rows(), self._options, str(path), notes=[*said.notes()], unmapped=(*left, *_UNMAPPED)
        )


def _kind(score: Mapping[str, Any]) -> str:
    return text(score.get("dataType") or score.get("data_type")).upper()


def _annotations(scores: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Annotation]:
    for place, score in scores:
        subject = mapping(score.get("subject"))
        trace = text(score.get("traceId") or score.get("trace_id") or subject.get("traceId"))
        part = text(score.get("observationId") or score.get("observation_id") or subject.get("id"))
        other = text(score.get("sessionId") or score.get("session_id") or score.get("datasetRunId"))
        item = ":".join(dict.fromkeys(each for each in (trace, part) if each)) or other
        if not item:
            raise JrhError(
                f"{place}: the score '{text(score.get('name'))[:80]}' names no trace; export with fields=subject"
            )
        yield Annotation(
            place=place,
            id=text(score.get("id")),
            item=item,
            metric=text(score.get("name")),
            value=_value(score),
            by_people=text(score.get("source")).upper() == "ANNOTATION",
            judge=text(at(score, "metadata", "model")),
            golds=labels_in(score.get("metadata"), "metadata"),
            fields={"rationale": text(score.get("comment")), "group": trace or None},
        )


def _value(score: Mapping[str, Any]) -> Json:
    said = score.get("stringValue") or score.get("string_value")
    value = score.get("value")
    if _kind(score) == "BOOLEAN":
        return bool(value) if isinstance(value, bool) or value in (0, 1) else None
    if _kind(score) == "CATEGORICAL":
        return text(said) or text(value) or None
    return number(value)
