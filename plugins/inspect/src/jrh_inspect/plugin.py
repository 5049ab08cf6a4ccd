"""Declare the data source and the importer `inspect`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, hookimpl
from jrh.plugins import ImporterSpec

from jrh_inspect.options import InspectOptions, VerdictOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the data source."""
    yield DataSourceSpec(
        name="inspect",
        summary="samples and transcripts from Inspect AI logs (.eval and .json)",
        options=InspectOptions,
        factory="jrh_inspect.source:inspect_source",
    )


@hookimpl
def jrh_importers() -> Iterable[ImporterSpec]:
    """Declare the importer."""
    yield ImporterSpec(
        name="inspect",
        summary="verdicts of Inspect AI logs: of a scorer, or of the evaluated model",
        options=VerdictOptions,
        factory="jrh_inspect.importer:InspectLog",
    )
