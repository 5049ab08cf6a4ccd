"""Hooks whose components are no part of a suite; `jrh.plugins.hookspecs` lists them with the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pluggy

from jrh.plugins.specs import ExecutorSpec, ExporterSpec, ImporterSpec

PROJECT: Final = "jrh"
hookspec: Final = pluggy.HookspecMarker(PROJECT)


@hookspec
def jrh_importers() -> Iterable[ImporterSpec]:
    """Declare the importers this plugin provides: readers of what other tools export.

    `jrh import --from NAME FILE` calls the factory once, with the options of `--metric`, `--gold`, `--scale` and
    `--label`; without a run there is no build context. `read` is called once. Raise a `JrhError` with file and line for
    a file that the tool did not write. A missing verdict is a status, never a label. List in `unmapped` what the file
    holds and the records do not.

    Example:
        ```python
        from jrh import hookimpl
        from jrh_interchange import ExportRow, ScoreOptions, imported_scores
        from jrh.plugins import ImporterSpec

        class Ticks:
            def __init__(self, options):
                self.options = options

            def read(self, path):
                lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
                rows = [ExportRow(place=str(path), item=one, metric="tick", value=two) for one, two in lines]
                return imported_scores(rows, self.options, str(path), unmapped=("dates",))

        @hookimpl
        def jrh_importers():
            yield ImporterSpec(name="ticks", summary="lines of item,verdict", options=ScoreOptions, factory=Ticks)
        ```
    """
    return ()


@hookspec
def jrh_exporters() -> Iterable[ExporterSpec]:
    r"""Declare the exporters this plugin provides: they bring a run into another tool.

    `jrh export RUN --to NAME` calls the factory once, with the options of `--option`; without a run there is no build
    context. `export` is called once, with the report and the files of the reporters that `attach` names. Raise a
    `JrhError` where the tool is not installed or refuses. A missing verdict is never a number.

    Example:
        ```python
        from pathlib import Path

        from attrs import frozen
        from jrh import hookimpl
        from jrh.plugins import ExporterSpec

        @frozen(kw_only=True)
        class Options:
            path: str = "estimates.tsv"

        class Estimates:
            def __init__(self, options):
                self.path = Path(options.path)

            def export(self, report, attached):
                found = [each for each in report.measures if each.interval is not None]
                lines = [f"{each.name}\t{each.judge}\t{each.interval.low}\t{each.interval.high}" for each in found]
                self.path.write_text("\n".join(lines), encoding="utf-8")
                yield f"Wrote {len(found)} intervals to {self.path}."

        @hookimpl
        def jrh_exporters():
            yield ExporterSpec(name="estimates", summary="intervals as tsv", options=Options, factory=Estimates)
        ```
    """
    return ()


@hookspec
def jrh_executors() -> Iterable[ExecutorSpec]:
    """Declare the executors this plugin provides.

    `jrh run --executor NAME` calls the factory once, with the options and a logger, before the first stage. An
    executor works on units: slices of a test whose perturbers and validators ask no model, and questions to judges that
    answer in batches or are trained. Everything else, and every model call, stays in the run's process, which is the
    only one that writes. Units depend on nothing but their content. If `run` raises `LostUnitError`, the unit is worked
    on again, five times at most; another error ends the run, which can be continued.

    Example:
        ```python
        import asyncio

        from jrh import hookimpl
        from jrh.plugins import ExecutorSpec

        class Thread:
            places = 2

            async def open(self, job):
                from importlib import import_module

                module, _, name = job.runner.partition(":")
                self.perform, self.setup = getattr(import_module(module), name), job.setup

            async def run(self, unit):
                return await asyncio.to_thread(self.perform, self.setup, unit.work)

            async def aclose(self):
                pass

        @hookimpl
        def jrh_executors():
            yield ExecutorSpec(name="thread", summary="in threads of this process", factory=lambda o, c: Thread())
        ```
    """
    return ()
