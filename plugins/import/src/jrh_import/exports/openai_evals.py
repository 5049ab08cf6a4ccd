"""Read OpenAI's evals: output items of a run of the Evals API, or the log of `oaieval`.

Of the API, every grader is a judge of the sample. With `output`, the sampled model is the judge. In a log of `oaieval`
the grade is an event: `match`, or the entries of `metrics`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jrh import Status

from jrh_import.exports.reader import Entries, Entry, Export, Kind, Part
from jrh_import.exports.values import find, listed, mapping, scalar, text

_ENDED: Final = {"content_filter": Status.REFUSED, "length": Status.TRUNCATED}
_MATCH: Final = "match"


def _said(place: str) -> Callable[[Entry], Any]:
    """Take the last message of what a model wrote."""

    def take(entry: Entry) -> Any:
        messages = listed(find(entry, place))
        return messages[-1].get("content") if messages else None

    return take


_OF_A_SAMPLE: Final[dict[str, Part]] = {
    "status": lambda entry: _ENDED.get(text(find(entry, "sample/finish_reason"))),
    "prompt_tokens": "sample/usage/prompt_tokens",
    "completion_tokens": "sample/usage/completion_tokens",
    "temperature": "sample/temperature",
}
_ERROR: Final = "sample/error/message or sample/error/code"


class OpenAIEvals(Export):
    """Read output items of the Evals API, or a log of `oaieval`."""

    lists = ("data",)
    wrong = "has neither output items of the Evals API nor a log of `oaieval`"
    unmapped = ("prompts and settings of the sampled model", "the input of the graders, times, final reports")
    kinds = (
        Kind(
            keys=("datasource_item_id", "results"),
            scores="results",
            id="^/id",
            item="^/datasource_item_id",
            metric="name",
            value="score",
            passed="passed",
            judge="sample/model",
            error=_ERROR,
            golds={"item": "^/datasource_item"},
            fields={"rationale": _said("sample/output"), "content": _said("^/sample/output"), **_OF_A_SAMPLE},
        ),
        Kind(
            keys=("datasource_item_id", "results"),
            id="id",
            item="datasource_item_id",
            value=_said("sample/output"),
            judge="sample/model",
            usual_judge="model",
            error=_ERROR,
            golds={"item": "datasource_item"},
            fields=_OF_A_SAMPLE,
        ),
        Kind(
            keys=("oaieval", "metric"),
            item="oaieval",
            metric="metric",
            value="value",
            judge="judge",
            golds={"data": "others"},
            fields={"content": "sampled"},
        ),
        Kind(
            keys=("oaieval", "asked"),
            item="oaieval",
            value="value",
            judge="judge",
            error="error",
            golds={"expected": "expected"},
            default_gold="expected",
        ),
    )

    def entries(self, found: Entries) -> Entries:
        """Return the output items, or of a log its answers or its grades."""
        if not found or "spec" not in found[0][1]:
            return found
        models = find(found[0][1], "spec/completion_fns")
        judge = text(models[-1]) if isinstance(models, list) and models else ""
        return list(self._logged(found, judge))

    def _logged(self, events: Entries, judge: str) -> Entries:
        sampled: dict[str, Any] = {}
        entries: Entries = []
        for place, event in events:
            kind, data, item = event.get("type"), mapping(event.get("data")), text(event.get("sample_id"))
            one: Entry = {"oaieval": item, "judge": judge}
            if kind == "sampling":
                sampled[item] = data.get("sampled")
            elif self.options.output is not None and kind in (_MATCH, "error"):
                answer = data.get("picked") if data.get("picked") is not None else data.get("sampled")
                expected = scalar(data.get("expected"))  # of several answers none is the label
                entries.append(
                    (place, {**one, "asked": True, "value": answer, "expected": expected, "error": data.get("message")})
                )
            elif self.options.output is None and kind in (_MATCH, "metrics"):
                grades = {_MATCH: data.get("correct")} if kind == _MATCH else data
                for name, value in grades.items():
                    if kind == _MATCH or scalar(value) is not None:
                        others = {key: each for key, each in data.items() if key not in (name, "correct")}
                        grade = {"metric": name, "value": value, "others": others, "sampled": sampled.get(item)}
                        entries.append((place, {**one, **grade, "judge": "" if kind == _MATCH else judge}))
        return entries
