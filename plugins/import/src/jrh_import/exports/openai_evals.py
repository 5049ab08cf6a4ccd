"""Read OpenAI's evals: output items of a run of the Evals API, or the log of `oaieval`.

Of the API, every grader is a judge of the sample. With `output`, the sampled model is the judge. In a log of `oaieval`
the grade is an event: `match`, or the entries of `metrics`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import Json, Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import OUTPUT, ExportRow, ScoreOptions, imported_scores, read_objects

from jrh_import.exports.values import at, labels_in, listed, mapping, number, text

_UNMAPPED: Final = ("prompts and settings of the sampled model", "the input of the graders, times, final reports")
_MATCH: Final = "match"
Entry = Mapping[str, Any]


class OpenAIEvals:
    """Read output items of the Evals API, or a log of `oaieval`."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one grader, or the outputs."""
        found = list(read_objects(path, "data"))
        items = [
            (place, item)
            for place, each in found
            for item in (listed(each["data"]) if isinstance(each.get("data"), list) else [each])
        ]
        if all("datasource_item_id" in item and "results" in item for _, item in items):
            rows = self._answers(items) if self._options.output is not None else _graded(items)
        elif "spec" in found[0][1]:
            rows = self._logged(found)
        else:
            raise OtherToolError(f"'{path}' has neither output items of the Evals API nor a log of `oaieval`")
        return imported_scores(list(rows), self._options, str(path), unmapped=_UNMAPPED)

    def _answers(self, items: list[tuple[str, Entry]]) -> Iterator[ExportRow]:
        for place, item in items:
            sample = mapping(item.get("sample"))
            status, detail = _failure(sample)
            yield ExportRow(
                place=place,
                id=text(item.get("id")),
                item=text(item.get("datasource_item_id")),
                metric=self._options.metric or OUTPUT,
                value=at(_said(sample), *(self._options.output or ())),
                judge=text(sample.get("model")) or "model",
                golds=labels_in(item.get("datasource_item"), "item"),
                fields={"status": status, "detail": detail, **_used(sample)},
            )

    def _logged(self, events: list[tuple[str, Entry]]) -> Iterator[ExportRow]:
        models = at(events[0][1], "spec", "completion_fns")
        judge = text(models[-1]) if isinstance(models, list) and models else ""
        said: dict[str, tuple[str, Any]] = {}
        for place, event in events:
            kind, data, item = event.get("type"), mapping(event.get("data")), text(event.get("sample_id"))
            if kind == "sampling":
                said[item] = place, data.get("sampled")
            elif kind == _MATCH and self._options.output is not None:
                yield _answer(place, item, data, self._options, judge)
            elif kind == _MATCH:
                yield _event(place, item, _MATCH, data.get("correct"), judge, data, said)
            elif kind == "metrics" and self._options.output is None:
                for name, value in data.items():
                    if isinstance(value, bool | int | float | str):
                        yield _event(place, item, text(name), value, judge, data, said)
            elif kind == "error" and self._options.output is not None:
                fields = {"status": Status.PROVIDER_ERROR, "detail": text(data.get("message"))[:200]}
                yield ExportRow(
                    place=place,
                    item=item,
                    metric=self._options.metric or OUTPUT,
                    value=None,
                    judge=judge,
                    fields=fields,
                )


def _answer(place: str, item: str, data: Entry, options: ScoreOptions, judge: str) -> ExportRow:
    picked = data.get("picked")
    return ExportRow(
        place=place,
        item=item,
        metric=options.metric or OUTPUT,
        value=at(picked if picked is not None else data.get("sampled"), *(options.output or ())),
        judge=judge,
        golds={"expected": _single(data.get("expected"))},
        default_gold="expected",
    )


def _single(value: Any) -> Json:
    """Return an expected answer; None where there are several."""
    return value if isinstance(value, bool | int | float | str) else None


def _event(
    place: str, item: str, metric: str, value: Json, judge: str, data: Entry, said: Mapping[str, tuple[str, Any]]
) -> ExportRow:
    return ExportRow(
        place=place,
        item=item,
        metric=metric,
        value=value,
        judge=judge if metric != _MATCH else "",
        golds=labels_in({key: each for key, each in data.items() if key not in (metric, "correct")}, "data"),
        fields={"content": text(said[item][1]) if item in said else ""},
    )


def _graded(items: list[tuple[str, Entry]]) -> Iterator[ExportRow]:
    for place, item in items:
        golds = labels_in(item.get("datasource_item"), "item")
        for result in listed(item.get("results")):
            sample = mapping(result.get("sample"))
            status, detail = _failure(sample)
            yield ExportRow(
                place=place,
                id=text(item.get("id")),
                item=text(item.get("datasource_item_id")),
                metric=text(result.get("name")),
                value=None if status else number(result.get("score")),
                passed=result.get("passed") if isinstance(result.get("passed"), bool) else None,
                judge=text(sample.get("model")),
                golds=golds,
                fields={
                    "status": status,
                    "detail": detail,
                    "rationale": text(_said(sample)),
                    "content": text(_said(mapping(item.get("sample")))),
                    **_used(sample),
                },
            )


def _said(sample: Entry) -> Any:
    messages = listed(sample.get("output"))
    return messages[-1].get("content") if messages else None


def _failure(sample: Entry) -> tuple[Status | None, str | None]:
    error = mapping(sample.get("error"))
    if text(error.get("message")) or text(error.get("code")):
        return Status.PROVIDER_ERROR, text(error.get("message") or error.get("code"))[:200]
    ended = {"content_filter": Status.REFUSED, "length": Status.TRUNCATED}.get(text(sample.get("finish_reason")))
    return ended, None


def _used(sample: Entry) -> dict[str, Any]:
    usage = mapping(sample.get("usage"))
    return {
        "prompt_tokens": number(usage.get("prompt_tokens")),
        "completion_tokens": number(usage.get("completion_tokens")),
        "temperature": number(sample.get("temperature")),
    }
