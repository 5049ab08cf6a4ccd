"""Read the scores of Langfuse: pages of `GET /api/public/scores`, their entries as JSON Lines, or a blob export.

A score by an evaluator is a verdict; an annotation (source ANNOTATION) of the same name on the same trace is its gold
label. Keys are those of the API (camel case) or of the exports (snake case).
"""

from __future__ import annotations

from typing import Final

from jrh import Json

from jrh_import.exports.reader import Entries, Entry, Export, Kind
from jrh_import.exports.values import find, number, text

_TRACE: Final = "traceId or trace_id or subject/traceId"
_TEXTS: Final = frozenset({"TEXT", "CORRECTION"})
"""Kinds of score that are no label."""


def _item(score: Entry) -> str:
    parts = (text(find(score, _TRACE)), text(find(score, "observationId or observation_id or subject/id")))
    return ":".join(dict.fromkeys(filter(None, parts))) or text(find(score, "sessionId or session_id or datasetRunId"))


def _kind(score: Entry) -> str:
    return text(find(score, "dataType or data_type")).upper()


def _value(score: Entry) -> Json:
    value = score.get("value")
    if _kind(score) == "BOOLEAN":
        # Langfuse stores truth values as numbers, which would look like scores.
        return bool(value) if value in (0, 1) else None
    if _kind(score) == "CATEGORICAL":
        return text(find(score, "stringValue or string_value or value")) or None
    return number(value) if not isinstance(value, str) else None


class Langfuse(Export):
    """Read the scores of Langfuse."""

    lists = ("data", "scores")
    wrong = "has no Langfuse scores; export `GET /api/public/scores`"
    unmapped = (
        "what the trace holds: input, output, cost, tokens and latency (scores name the trace only)",
        "session, environment, score configuration, authors and times",
    )
    kinds = (
        Kind(
            keys=("name", "source"),
            id="id",
            item=_item,
            metric="name",
            value=_value,
            people=("source", frozenset({"ANNOTATION"})),
            judge="metadata/model",
            golds={"metadata": "metadata"},
            fields={"rationale": "comment", "group": _TRACE},
            no_item="the score '{}' names no trace; export with fields=subject",
        ),
    )

    def entries(self, found: Entries) -> Entries:
        """Leave out scores that are texts."""
        scores = [(place, score) for place, score in found if _kind(score) not in _TEXTS]
        if len(scores) < len(found):
            self.left.append(f"{len(found) - len(scores)} scores that are texts or corrections")
        return scores
