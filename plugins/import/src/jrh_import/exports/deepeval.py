"""Read a test run of DeepEval: `.deepeval/.latest_run_full.json`, or a file in its results folder.

Every metric with an evaluation model is a judge of the actual output; the verdict is whether it passed its threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from jrh import Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import ExportRow, ScoreOptions, imported_scores, read_objects

from jrh_import.exports.values import at, labels_in, listed, mapping, number, text

_UNMAPPED: Final = (
    "context, retrieval context and tools of the test cases",
    "verbose logs, thresholds, run durations (of a whole case, not of a metric), traces, hyperparameters",
)


class DeepEval:
    """Read a test run of DeepEval."""

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one metric."""
        found = list(read_objects(path))
        run = found[0][1]
        run = mapping(run.get("testRunData")) or run
        cases = [*listed(run.get("testCases")), *listed(run.get("conversationalTestCases"))]
        if len(found) != 1 or not any("metricsData" in case for case in cases):
            raise OtherToolError(
                f"'{path}' is not a DeepEval test run; DeepEval writes one to .deepeval/.latest_run_full.json"
            )
        rows = list(_rows(cases, str(path)))
        return imported_scores(rows, self._options, str(path), unmapped=_UNMAPPED)


def _rows(cases: list[Mapping[str, Any]], source: str) -> Iterator[ExportRow]:
    seen: dict[str, str] = {}
    for position, case in enumerate(cases, start=1):
        name = text(case.get("name")) or f"case-{position}"
        judged = text(case.get("actualOutput")) or text(case.get("turns"))
        # Names are the user's: two cases of one name are repeats only if they show the same.
        shown = text([case.get("input"), judged])
        item = name if seen.setdefault(name, shown) == shown else f"{name}-{position}"
        golds = {
            **labels_in(case.get("metadata"), "metadata"),
            **labels_in(case.get("expectedOutput") or case.get("expectedOutcome"), "expectedOutput"),
            **labels_in(case.get("comments"), "comments"),
        }
        for metric in listed(case.get("metricsData")):
            error = text(metric.get("error"))
            score = number(metric.get("score"))
            yield ExportRow(
                place=f"{source}: test case {position}",
                item=item,
                metric=text(metric.get("name")) or "metric",
                value=None if error else score,
                passed=metric.get("success") if isinstance(metric.get("success"), bool) else None,
                judge=text(metric.get("evaluationModel")),
                golds=golds,
                fields={
                    "status": Status.PROVIDER_ERROR if error else None,
                    "detail": error[:200] or None,
                    "rationale": text(metric.get("reason")),
                    "content": judged,
                    "group": text(at(case, "input")) or None,
                    "cost": number(metric.get("evaluationCost")),
                    "prompt_tokens": number(metric.get("inputTokenCount")),
                    "completion_tokens": number(metric.get("outputTokenCount")),
                },
            )
