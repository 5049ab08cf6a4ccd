"""Declare the data source `inspect` and its command."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, hookimpl

from jrh_inspect.options import InspectOptions

JRH_API_VERSION = 1


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the data source."""
    yield DataSourceSpec(
        name="inspect",
        summary="samples and transcripts from Inspect AI logs (.eval and .json)",
        options=InspectOptions,
        factory="jrh_inspect.source:inspect_source",
    )
