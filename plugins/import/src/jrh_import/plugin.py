"""Declare the importers: one for each tool whose exports are read."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import ImporterSpec

from jrh_import.options import ExportOptions, HarnessOptions, JudgeSenseOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_importers() -> Iterable[ImporterSpec]:
    """Declare the importers."""
    for name, summary, options, factory in (
        ("promptfoo", "results of `promptfoo eval --output`", ExportOptions, "exports.promptfoo:Promptfoo"),
        ("deepeval", "a test run of DeepEval", ExportOptions, "exports.deepeval:DeepEval"),
        ("langfuse", "scores and annotations of Langfuse", ExportOptions, "exports.langfuse:Langfuse"),
        ("langsmith", "experiments or feedback of LangSmith", ExportOptions, "exports.langsmith:LangSmith"),
        ("phoenix", "experiments or annotations of Arize Phoenix", ExportOptions, "exports.phoenix:Phoenix"),
        ("braintrust", "events of a Braintrust experiment", ExportOptions, "exports.braintrust:Braintrust"),
        ("mlflow", "traces of MLflow with assessments", ExportOptions, "exports.mlflow:MlflowTraces"),
        ("openai-evals", "output items of OpenAI's Evals API", ExportOptions, "exports.openai_evals:OpenAIEvals"),
        ("judgesense", "a JudgeSense decision log, two decisions per row", JudgeSenseOptions, "decisions:JudgeSense"),
        (
            "judge-reliability-harness",
            "a result folder of RAND's Judge Reliability Harness",
            HarnessOptions,
            "result_folder:Harness",
        ),
    ):
        yield ImporterSpec(name=name, summary=summary, options=options, factory=f"jrh_import.{factory}")
