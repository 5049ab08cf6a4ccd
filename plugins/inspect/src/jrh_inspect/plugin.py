"""What jrh-inspect provides: the data source `inspect`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, DataSourceSpec, hookimpl
from jrh.plugins import DataSource

from jrh_inspect.options import InspectOptions


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the data source."""
    yield DataSourceSpec(
        name="inspect",
        summary="the samples of Inspect AI logs, .eval and .json, with their transcripts",
        options=InspectOptions,
        factory=_inspect,
    )


def _inspect(options: InspectOptions, context: BuildContext) -> DataSource:
    from jrh_inspect.source import inspect_source

    return inspect_source(options, context)
