"""Read LangSmith: rows of `evaluate()` (run, example, evaluation_results), or feedback as `list_feedback` returns it.

An evaluator's score is a verdict; feedback that people gave in the app is its gold label. With `output`, the target
function is the judge and its output the verdict.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from jrh import Status

from jrh_import.exports.reader import Entries, Entry, Export, Kind
from jrh_import.exports.values import find, seconds, text

_EXAMPLE: Final = "example/id or run/reference_example_id or run/id"
_GOLDS: Final = {"reference": "^/example/outputs", "metadata": "^/example/metadata"}


def _value(result: Entry) -> Any:
    """Return the value of a category, which is its label, or the score."""
    value = result.get("value")
    return value if isinstance(value, str | bool) and value != "" else result.get("score")


def _error(result: Entry) -> str:
    failed = find(result, "extra/error") is True or find(result, "evaluator_info/error") is not None
    return text(result.get("comment")) or "the evaluator failed" if failed else ""


class LangSmith(Export):
    """Read experiments and feedback of LangSmith."""

    lists = ("results", "feedback")
    wrong = "has neither LangSmith feedback nor rows of `evaluate()`, one per line"
    unmapped = ("traces of the evaluators, with their cost and tokens", "corrections, tags and times")
    kinds = (
        Kind(
            keys=("key", "run_id"),
            id="id",
            item="run_id or trace_id",
            metric="key",
            value=_value,
            people=("feedback_source/type", frozenset({"APP", "HUMAN"})),
            judge="feedback_source/metadata/model",
            error=_error,
            failed=Status.PLUGIN_ERROR,
            fields={"rationale": "comment", "group": "trace_id"},
            no_item="the feedback '{}' names no run",
        ),
        Kind(
            keys=("run", "evaluation_results"),
            scores="evaluation_results/results",
            item="^/item",
            metric="key",
            value=_value,
            judge="metadata/model or evaluator_info/model",
            error=_error,
            failed=Status.PLUGIN_ERROR,
            golds=_GOLDS,
            fields={
                "rationale": lambda result: "" if _error(result) else result.get("comment"),
                "content": "^/run/outputs",
                "group": lambda result: find(result["^"], _EXAMPLE),
            },
        ),
        Kind(
            keys=("run", "evaluation_results"),
            id="run/id",
            item=_EXAMPLE,
            value="run/outputs",
            judge="run/extra/metadata/ls_model_name or run/name",
            usual_judge="target",
            error="run/error",
            golds=_GOLDS,
            fields={
                "prompt_tokens": "run/prompt_tokens",
                "completion_tokens": "run/completion_tokens",
                "cost": "run/total_cost",
                "latency": seconds("run/start_time", "run/end_time"),
            },
            unmapped="feedback",
        ),
    )

    def entries(self, found: Entries) -> Entries:
        """Number the runs of an example; those of pages that overlap count once."""
        if self.options.output is not None or not all("run" in row for _, row in found):
            return found
        runs: Entries = []
        ids: set[str] = set()
        again: Counter[str] = Counter()
        for place, row in found:
            run, example = text(find(row, "run/id")), text(find(row, _EXAMPLE))
            # Pages of an export can overlap: a run counts once.
            if not run or run not in ids:
                ids.add(run)
                again[example] += 1
                runs.append((place, {**row, "item": example + (f"#{again[example]}" if again[example] > 1 else "")}))
        failed = sum(bool(find(row, "run/error")) for _, row in found)
        if failed:
            # Their scores are about an output that does not exist: the reader has to know.
            self.notes.append(f"Runs that failed and have no output: {failed}; their evaluator scores count.")
        return runs
