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
    for name, summary, factory in (
        ("promptfoo", "results of `promptfoo eval --output`", "promptfoo:Promptfoo"),
        ("deepeval", "a test run of DeepEval", "deepeval:DeepEval"),
        ("langfuse", "scores and annotations of Langfuse", "langfuse:Langfuse"),
        ("langsmith", "experiments or feedback of LangSmith", "langsmith:LangSmith"),
        ("phoenix", "experiments or annotations of Arize Phoenix", "phoenix:Phoenix"),
        ("braintrust", "events of a Braintrust experiment", "braintrust:Braintrust"),
        ("mlflow", "traces of MLflow with assessments", "mlflow:MlflowTraces"),
        ("openai-evals", "output items of OpenAI's Evals API", "openai_evals:OpenAIEvals"),
    ):
        yield ImporterSpec(name=name, summary=summary, options=ExportOptions, factory=f"jrh_import.exports.{factory}")
    yield ImporterSpec(
        name="judgesense",
        summary="a JudgeSense decision log, two decisions per row",
        options=JudgeSenseOptions,
        factory="jrh_import.decisions:JudgeSense",
    )
    yield ImporterSpec(
        name="judge-reliability-harness",
        summary="a result folder of RAND's Judge Reliability Harness",
        options=HarnessOptions,
        factory="jrh_import.result_folder:Harness",
    )
