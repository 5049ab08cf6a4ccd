"""Bring a run into another tool by the exporter that a plugin provides, or write one of its reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from jrh import JrhError, Json, open_report
from jrh.errors import RAISED, PluginError
from jrh.plugins import Exporter, ReportTarget
from jrh.plugins.factories import make
from jrh.running.remembered_plugins import load_for
from jrh.running.stored_run import report_again
from jrh.text import Redactor
from jrh.text.redact import error_line, secrets_of_options

from jrh_interchange.settings import component_options


def export_run(
    run_dir: str | Path,
    target: str,
    options: Mapping[str, Json] | None = None,
    *,
    output: str | Path | None = None,
    plugins: Sequence[str] = (),
) -> Iterator[str]:
    """Bring a run into another tool, or write one report; yield what was done, a sentence each. Asks no model.

    Args:
        run_dir: the run or the import.
        target: name of an exporter, such as `mlflow`, or of a reporter that writes files, such as `xlsx`.
        options: its options.
        output: directory for a report; the run's own by default.
        plugins: plugins to load, as `--plugins`.

    Raises:
        JrhError: there is no such exporter, option or run, or the exporter refuses.
        PluginError: the exporter raised something else.
    """
    place, loaded = Path(run_dir), load_for(Path(run_dir), plugins)
    reporters = [reporter.spec for reporter in loaded.plugins.reporters]
    reports = [spec.name for spec in reporters if spec.target in (ReportTarget.FILE, ReportTarget.DIRECTORY)]
    known = {exporter.spec.name for exporter in loaded.plugins.exporters}
    if target not in known and target in reports:
        settings = [f"{target}.{name}={json.dumps(value)}" for name, value in (options or {}).items()]
        result = report_again(place, loaded, formats=[target], settings=settings, output=Path(output or run_dir))
        if result.problems:
            raise JrhError("\n".join(result.problems))
        yield from (f"Report: {path}" for path in result.files)
        yield from filter(None, [result.incomplete])
        return
    if target not in known:
        raise JrhError(f"unknown exporter '{target}'\nInstalled: {', '.join(sorted([*known, *reports]))}.")
    entry = loaded.plugins.exporters.find(target)
    if output is not None:
        raise JrhError(f"'{target}' takes its destination from its options; only reports take an output directory")
    # Before the run is read: a wrong option costs no time.
    given = component_options(entry, options or {}, "--to")
    exporter: Exporter = make(entry, given, None)
    hide = Redactor.from_environment(also=secrets_of_options([given]))
    formats = [spec.name for spec in reporters if spec.name in entry.spec.attach]
    # Attached reports go to a temporary directory: those of the run stay as they are.
    with open_report(place, measure=True, plugins=plugins) as report, TemporaryDirectory() as files:
        written = report_again(place, loaded, formats=formats, output=Path(files)) if formats else None
        # The causes are cut off: libraries put addresses with keys into their errors.
        try:
            yield from map(hide, exporter.export(report, tuple(written.files if written else ())))
        except JrhError as error:
            raise JrhError(hide(str(error))) from None
        except RAISED as error:
            raise PluginError(hide(f"exporter '{target}' failed: {error_line(error)}")) from None
        yield from [report.totals] if report.incomplete else []
        yield from (f"Not attached: {problem}" for problem in (written.problems if written else ()))
