"""Read an experiment of Braintrust: the events of `experiment.fetch()` or of its API, as JSON or JSON Lines.

Scores of a root span are verdicts; the span of a scorer (type `score`) tells its rationale, tokens and time. People
score in the same place, so that `gold` names their score: `scores.NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import Json, Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import OUTPUT, ExportRow, ScoreOptions, imported_scores, read_objects

from jrh_import.exports.values import Names, at, labels_in, mapping, number, seconds, text

_UNMAPPED: Final = ("spans below a scorer", "tags, comments, datasets and times of the events")
Event = Mapping[str, Any]


class Braintrust:
    """Read an experiment of Braintrust."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one score, or the outputs."""
        events = list(read_objects(path, "events", "data", "rows"))
        if not all("span_id" in event or "scores" in event for _, event in events):
            raise OtherToolError(
                f"'{path}' has no Braintrust events; write those of `experiment.fetch()`, one per line"
            )
        roots = [(place, event) for place, event in events if _is_root(event)]
        scorers = {
            (text(event.get("root_span_id")), text(at(event, "span_attributes", "name"))): event
            for _, event in events
            if at(event, "span_attributes", "type") == "score"
        }
        rows = self._answers(roots) if self._options.output is not None else _scored(roots, scorers)
        return imported_scores(list(rows), self._options, str(path), unmapped=_UNMAPPED)

    def _answers(self, roots: list[tuple[str, Event]]) -> Iterator[ExportRow]:
        inputs = Names("input")
        for place, event in roots:
            error = text(event.get("error"))
            metrics = mapping(event.get("metrics"))
            yield ExportRow(
                place=place,
                id=text(event.get("id")),
                item=inputs.of(event.get("input")),
                metric=self._options.metric or OUTPUT,
                value=None if error else at(event.get("output"), *(self._options.output or ())),
                judge=text(at(event, "metadata", "model")) or "task",
                golds=_golds(event),
                default_gold="expected",
                fields={
                    "status": Status.PROVIDER_ERROR if error else None,
                    "detail": error[:200] or None,
                    **_used(metrics),
                },
            )


def _scored(roots: list[tuple[str, Event]], scorers: Mapping[tuple[str, str], Event]) -> Iterator[ExportRow]:
    inputs = Names("input")
    names = list(dict.fromkeys(name for _, event in roots for name in mapping(event.get("scores"))))
    for place, event in roots:
        for name in names:
            scorer = scorers.get((text(event.get("root_span_id")), name), {})
            error = text(scorer.get("error"))
            scores = mapping(event.get("scores"))
            if name not in scores and not error:
                continue  # nobody asked this scorer
            yield ExportRow(
                place=place,
                id=text(event.get("id")),
                item=text(event.get("id")),
                metric=name,
                value=None if error else _scalar(scores.get(name)),
                judge=text(at(scorer, "metadata", "model")),
                golds={each: value for each, value in _golds(event).items() if each != f"scores.{name}"},
                fields={
                    "status": Status.PLUGIN_ERROR if error else None,
                    "detail": error[:200] or None,
                    "rationale": text(_rationale(scorer)),
                    "content": text(event.get("output")),
                    "group": inputs.of(event.get("input")),
                    **_used(mapping(scorer.get("metrics"))),
                },
            )


def _is_root(event: Event) -> bool:
    if isinstance(event.get("is_root"), bool):
        return bool(event["is_root"])
    return not event.get("span_parents")


def _rationale(scorer: Event) -> Any:
    for keys in (("metadata", "rationale"), ("output", "metadata", "rationale"), ("output", "rationale")):
        if at(scorer, *keys) is not None:
            return at(scorer, *keys)
    return None


def _golds(event: Event) -> dict[str, Json]:
    return {
        **labels_in(event.get("expected"), "expected"),
        **labels_in(event.get("metadata"), "metadata"),
        **labels_in(event.get("scores"), "scores"),
    }


def _used(metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt_tokens": number(metrics.get("prompt_tokens")),
        "completion_tokens": number(metrics.get("completion_tokens")),
        "cost": number(metrics.get("estimated_cost")),
        "latency": seconds(metrics.get("start"), metrics.get("end")),
    }


def _scalar(value: Any) -> Json:
    return value if isinstance(value, bool | int | float | str) else None
