"""Read an experiment of Braintrust: the events of `experiment.fetch()` or of its API, as JSON or JSON Lines.

Scores of a root span are verdicts; the span of a scorer (type `score`) tells its rationale, tokens and time. People
score in the same place, so that `gold` names their score: `scores.NAME`.
"""

from __future__ import annotations

from typing import Final

from jrh import Status

from jrh_import.exports.reader import Entries, Entry, Export, Kind, Part
from jrh_import.exports.values import Names, find, mapping, seconds, text

_GOLDS: Final = {name: f"^/{name}" for name in ("expected", "metadata", "scores")}
_RATIONALE: Final = "/metadata/rationale or scorer/output/metadata/rationale or scorer/output/rationale"


def _used(start: str) -> dict[str, Part]:
    return {
        "prompt_tokens": f"{start}metrics/prompt_tokens",
        "completion_tokens": f"{start}metrics/completion_tokens",
        "cost": f"{start}metrics/estimated_cost",
        "latency": seconds(f"{start}metrics/start", f"{start}metrics/end"),
    }


class Braintrust(Export):
    """Read an experiment of Braintrust."""

    lists = ("events", "data", "rows")
    wrong = "has no Braintrust events; write those of `experiment.fetch()`, one per line"
    unmapped = ("spans below a scorer", "tags, comments, datasets and times of the events")
    kinds = (
        Kind(
            keys=("input_name",),
            scores="scored",
            id="^/id",
            item="^/id",
            metric="name",
            value="score",
            judge="scorer/metadata/model",
            error="scorer/error",
            failed=Status.PLUGIN_ERROR,
            golds=_GOLDS,
            fields={
                "rationale": f"scorer{_RATIONALE}",
                "content": "^/output",
                "group": "^/input_name",
                **_used("scorer/"),
            },
        ),
        Kind(
            keys=("input_name",),
            id="id",
            item="input_name",
            value="output",
            judge="metadata/model",
            usual_judge="task",
            error="error",
            golds=_GOLDS,
            default_gold="expected",
            fields=_used(""),
        ),
    )

    def entries(self, found: Entries) -> Entries:
        """Return the root spans, each with its scores and their scorers."""
        # A file of another tool: `read` says so.
        if not all("span_id" in event or "scores" in event for _, event in found):
            return found
        scorers = {
            (text(event.get("root_span_id")), text(find(event, "span_attributes/name"))): event
            for _, event in found
            if find(event, "span_attributes/type") == "score"
        }
        roots = [(place, event) for place, event in found if _is_root(event)]
        # Over all roots: a scorer that failed leaves no score at its root.
        names = dict.fromkeys(name for _, event in roots for name in mapping(event.get("scores")))
        inputs = Names("input")
        entries: Entries = []
        for place, event in roots:
            scores = mapping(event.get("scores"))
            scored = [
                {"name": name, "score": scores.get(name), "scorer": scorer}
                for name in names
                for scorer in [scorers.get((text(event.get("root_span_id")), name), {})]
                if name in scores or scorer.get("error")  # else this scorer was not asked
            ]
            entries.append((place, {**event, "input_name": inputs.of(event.get("input")), "scored": scored}))
        return entries


def _is_root(event: Entry) -> bool:
    root = event.get("is_root")
    return root if isinstance(root, bool) else not event.get("span_parents")
