"""Read OpenAI's evals: the output items of a run of the Evals API.

Every grader is a judge of the sample. With `output`, the sampled model is the judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jrh import Status

from jrh_import.exports.reader import Entry, Export, Kind, Part
from jrh_import.exports.values import find, mappings, text

_ENDED: Final = {"content_filter": Status.REFUSED, "length": Status.TRUNCATED}


def _message(place: str) -> Callable[[Entry], Any]:
    """Take the last message of what a model wrote."""

    def take(entry: Entry) -> Any:
        messages = mappings(find(entry, place))
        # The last message is the answer.
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
    """Read output items of the Evals API."""

    lists = ("data",)
    wrong = "has no output items of the Evals API; list those of a run, one per line"
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
            fields={"rationale": _message("sample/output"), "content": _message("^/sample/output"), **_OF_A_SAMPLE},
        ),
        Kind(
            keys=("datasource_item_id", "results"),
            id="id",
            item="datasource_item_id",
            value=_message("sample/output"),
            judge="sample/model",
            usual_judge="model",
            error=_ERROR,
            golds={"item": "datasource_item"},
            fields=_OF_A_SAMPLE,
        ),
    )
