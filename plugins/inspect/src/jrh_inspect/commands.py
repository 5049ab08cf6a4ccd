"""Define the command `jrh export-transcripts`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from jrh.text import say

if TYPE_CHECKING:
    from jrh import RunReport

    from jrh_inspect.writing import Edited, Wanted


@click.command("export-transcripts")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--log", type=click.Path(path_type=Path), help="An .eval or .json log; a directory for several logs.")
@click.option("--jsonl", type=click.Path(path_type=Path, dir_okay=False), help="One JSON object per edited transcript.")
@click.option("--task", metavar="NAME", help="Only this task of the suite.")
@click.option("--test", metavar="NAME", help="Only this test of the suite.")
@click.option("--variant", metavar="NAME", help="Only this variant of a test.")
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    help="The logs that were judged.  [default: the suite's path, relative to the current directory]",
)
def command(run: Path, *, log: Path | None, jsonl: Path | None, source: Path | None, **selection: str | None) -> int:
    """Export the edited transcripts of RUN as an Inspect log, JSON Lines, or both.

    Exit codes: 0 written, 2 usage error or no edited transcripts in RUN.
    """
    from jrh import JrhError, open_run

    from jrh_inspect.writing import Wanted, find_edits, one_per_item, write_lines

    if log is None and jsonl is None:
        raise JrhError("no output given; pass --log out.eval, --jsonl out.jsonl, or both")
    wanted = Wanted(**selection)
    with open_run(run) as report:
        if next(find_edits(report, wanted), None) is None:
            raise JrhError(f"'{run}': nothing to export: {_why_nothing(report, wanted)}")
        if log is not None:
            edited = one_per_item(find_edits(report, wanted))
            _write_logs(report, edited, log, source)
        if jsonl is not None:
            count = write_lines(jsonl, find_edits(report, wanted))
            say(f"Wrote {count} edited transcripts to {jsonl}.")
    return 0


def _why_nothing(report: RunReport, wanted: Wanted) -> str:
    from jrh import Mode

    if all(summary.task.mode is not Mode.TRANSCRIPT for summary in report.tasks):
        return "the run has no transcripts; none of its tasks has `mode: transcript`"
    if any((wanted.task, wanted.test, wanted.variant)):
        return "no case with that task, test and variant has an edited transcript"
    return "this run edited no transcripts; a test such as `agent-perturbation` does"


def _write_logs(report: RunReport, edited: Mapping[str, Edited], log: Path, source: Path | None) -> None:
    from jrh import JrhError

    from jrh_inspect.guard import Bounds
    from jrh_inspect.logs import find_logs
    from jrh_inspect.source import log_prefix
    from jrh_inspect.writing import write_log

    used = [component for component in report.components if component.component == "jrh-inspect/inspect"]
    if not used:
        raise JrhError("--log: the run did not read Inspect logs; use --jsonl")
    items: set[str] = set()
    for options in {str(component.options["path"]): component.options for component in used}.values():
        path = source or Path(str(options["path"]))
        paths = find_logs(path, f"--source {path}" if source else str(path))
        bounds = Bounds.of(int(str(options["max_mb"])), int(str(options["max_ratio"])))
        if len(paths) > 1 and log.suffix:
            raise JrhError(f"--log: the run read {len(paths)} logs; name a directory")
        for file in paths:
            target = log if log.suffix else log / file.name
            written = write_log(file, target, edited, prefix=log_prefix(file, paths), bounds=bounds)
            items |= written
            if written:
                say(f"Wrote {len(written)} edited transcripts to {target}.")
    missing = sorted(set(edited) - items)
    if missing:
        raise JrhError(
            f"the logs have no sample for item '{missing[0]}' (and {len(missing) - 1} more); is --source right?"
        )
