"""Declare the exporters."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import ExporterSpec

from jrh_export.options import LangfuseOptions, MlflowOptions, WandbOptions

JRH_API_VERSION = 2

_REPORTS = ("html", "json", "csv")


@hookimpl
def jrh_exporters() -> Iterable[ExporterSpec]:
    """Declare the exporters."""
    yield ExporterSpec(
        name="mlflow",
        summary="measures as metrics, tables and reports as artifacts of an MLflow run",
        options=MlflowOptions,
        factory="jrh_export.to_mlflow:MlflowExporter",
        attach=_REPORTS,
    )
    yield ExporterSpec(
        name="wandb",
        summary="measures as summary and table, records and reports as an artifact of a Weights & Biases run",
        options=WandbOptions,
        factory="jrh_export.to_wandb:WandbExporter",
        attach=_REPORTS,
    )
    yield ExporterSpec(
        name="langfuse",
        summary="measures and verdicts as Langfuse scores",
        options=LangfuseOptions,
        # Nothing attached: Langfuse has no place for files.
        factory="jrh_export.to_langfuse:LangfuseExporter",
    )
