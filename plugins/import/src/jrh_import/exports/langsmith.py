"""Read LangSmith: rows of `evaluate()` (run, example, evaluation_results), or feedback as `list_feedback` returns it.

An evaluator's score is a verdict; feedback that people gave in the app is its gold label. With `output`, the target
function is the judge and its output the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import JrhError, Json, Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import OUTPUT, ExportRow, ScoreOptions, imported_scores, read_objects

from jrh_import.exports.people import Annotation, Annotations
from jrh_import.exports.values import at, labels_in, listed, mapping, number, seconds, text

_UNMAPPED: Final = ("traces of the evaluators, with their cost and tokens", "corrections, tags and times")
_PEOPLE: Final = frozenset({"app", "human"})
Row = Mapping[str, Any]


class LangSmith:
    """Read experiments and feedback of LangSmith."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one feedback key, or the outputs."""
        found = list(read_objects(path, "results", "feedback"))
        if all("key" in row and "run_id" in row for _, row in found):
            said = Annotations(_feedback(found))
            return imported_scores(said.rows(), self._options, str(path), notes=[*said.notes()], unmapped=_UNMAPPED)
        if not all("run" in row and "evaluation_results" in row for _, row in found):
            raise OtherToolError(f"'{path}' has neither LangSmith feedback nor rows of `evaluate()`, one per line")
        if self._options.output is not None:
            rows = [self._answer(place, row) for place, row in found]
            return imported_scores(rows, self._options, str(path), unmapped=("feedback", *_UNMAPPED))
        failed = sum(bool(at(row, "run", "error")) for _, row in found)
        notes = [f"Runs that failed and have no output: {failed}; their evaluator scores count."] if failed else []
        return imported_scores(list(_scored(found)), self._options, str(path), notes=notes, unmapped=_UNMAPPED)

    def _answer(self, place: str, row: Row) -> ExportRow:
        run = mapping(row.get("run"))
        error = text(run.get("error"))
        return ExportRow(
            place=place,
            id=text(run.get("id")),
            item=_example(row),
            metric=self._options.metric or OUTPUT,
            value=None if error else at(run.get("outputs"), *(self._options.output or ())),
            judge=text(at(run, "extra", "metadata", "ls_model_name")) or text(run.get("name")) or "target",
            golds=_golds(row),
            fields={
                "status": Status.PROVIDER_ERROR if error else None,
                "detail": error[:200] or None,
                "prompt_tokens": number(run.get("prompt_tokens")),
                "completion_tokens": number(run.get("completion_tokens")),
                "cost": number(run.get("total_cost")),
                "latency": seconds(run.get("start_time"), run.get("end_time")),
            },
        )


def _example(row: Row) -> str:
    return text(at(row, "example", "id")) or text(at(row, "run", "reference_example_id")) or text(at(row, "run", "id"))


def _golds(row: Row) -> dict[str, Json]:
    return {
        **labels_in(at(row, "example", "outputs"), "reference"),
        **labels_in(at(row, "example", "metadata"), "metadata"),
    }


def _scored(rows: list[tuple[str, Row]]) -> Iterator[ExportRow]:
    again: Counter[str] = Counter()
    seen: set[str] = set()  # rows of pages that overlap
    for place, row in rows:
        example = _example(row)
        run = text(at(row, "run", "id"))
        if run in seen:
            continue
        seen.update({run} if run else ())
        again[example] += 1
        for each in listed(at(row, "evaluation_results", "results")):
            failed = at(each, "extra", "error") is True or at(each, "evaluator_info", "error") is not None
            yield ExportRow(
                place=place,
                item=example if again[example] == 1 else f"{example}#{again[example]}",
                metric=text(each.get("key")),
                value=None if failed else _value(each),
                judge=text(at(each, "metadata", "model") or at(each, "evaluator_info", "model")),
                golds=_golds(row),
                fields={
                    "status": Status.PLUGIN_ERROR if failed else None,
                    "detail": text(each.get("comment"))[:200] if failed else None,
                    "rationale": "" if failed else text(each.get("comment")),
                    "content": text(at(row, "run", "outputs")),
                    "group": example,
                },
            )


def _feedback(found: list[tuple[str, Row]]) -> Iterator[Annotation]:
    for place, each in found:
        run = text(each.get("run_id") or each.get("trace_id"))
        if not run:
            raise JrhError(f"{place}: the feedback '{text(each.get('key'))[:80]}' names no run")
        failed = at(each, "extra", "error") is True
        yield Annotation(
            place=place,
            id=text(each.get("id")),
            item=run,
            metric=text(each.get("key")),
            value=None if failed else _value(each),
            by_people=text(at(each, "feedback_source", "type")) in _PEOPLE,
            judge=text(at(each, "feedback_source", "metadata", "model")),
            fields={
                "rationale": text(each.get("comment")),
                "status": Status.PLUGIN_ERROR if failed else None,
                "group": text(each.get("trace_id")) or None,
            },
        )


def _value(result: Row) -> Json:
    """Return the score, or the value of a category: its label."""
    value = result.get("value")
    if isinstance(value, str | bool) and value != "":
        return value
    score = result.get("score")
    return score if isinstance(score, bool) else number(score)
