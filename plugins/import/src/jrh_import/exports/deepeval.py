"""Read a test run of DeepEval: `.deepeval/.latest_run_full.json`, or a file in its results folder.

Every metric with an evaluation model is a judge of the actual output; the verdict is whether it passed its threshold.
"""

from __future__ import annotations

from jrh_import.exports.reader import Entries, Export, Kind
from jrh_import.exports.values import find, mappings, text


class DeepEval(Export):
    """Read a test run of DeepEval."""

    wrong = "is not a DeepEval test run; DeepEval writes one to .deepeval/.latest_run_full.json"
    unmapped = (
        "context, retrieval context and tools of the test cases",
        "verbose logs, thresholds, run durations (of a whole case, not of a metric), traces, hyperparameters",
    )
    kinds = (
        Kind(
            keys=("test_case",),
            scores="metricsData",
            item="^/test_case",
            metric="name",
            value="score",
            passed="success",
            judge="evaluationModel",
            error="error",
            golds={
                "metadata": "^/metadata",
                "expectedOutput": "^/expectedOutput or ^/expectedOutcome",
                "comments": "^/comments",
            },
            fields={
                "rationale": "reason",
                "content": "^/actualOutput or ^/turns",
                "group": "^/input",
                "cost": "evaluationCost",
                "prompt_tokens": "inputTokenCount",
                "completion_tokens": "outputTokenCount",
            },
        ),
    )

    def entries(self, found: Entries) -> Entries:
        """Return the test cases of the one run; those of one name are repeats if they look alike."""
        run = found[0][1] if len(found) == 1 else {}
        run = find(run, "testRunData") or run
        cases = [*mappings(run.get("testCases")), *mappings(run.get("conversationalTestCases"))]
        if not any("metricsData" in case for case in cases):
            return found
        looks: dict[str, str] = {}
        entries: Entries = []
        for position, case in enumerate(cases, start=1):
            name = text(case.get("name")) or f"case-{position}"
            # Names of cases are not unique: different cases of one name are different items.
            shown = text([case.get("input"), find(case, "actualOutput or turns")])
            item = name if looks.setdefault(name, shown) == shown else f"{name}-{position}"
            entries.append((f"{found[0][0]}: test case {position}", {**case, "test_case": item}))
        return entries
