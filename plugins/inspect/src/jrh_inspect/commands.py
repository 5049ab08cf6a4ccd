"""Define the command `jrh export-transcripts`."""

from __future__ import annotations

from pathlib import Path

import click
from jrh.text import say


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
    # Imported here, as in all commands: `jrh --help` loads every one of them.
    from jrh import JrhError, open_report

    from jrh_inspect.writing import Wanted, find_edits, one_per_item, why_nothing, write_lines, write_logs

    if log is None and jsonl is None:
        raise JrhError("no output given; pass --log out.eval, --jsonl out.jsonl, or both")
    wanted = Wanted(**selection)
    with open_report(run) as report:
        # Before anything is written: an empty log would look like a result.
        if next(find_edits(report, wanted), None) is None:
            raise JrhError(f"'{run}': nothing to export: {why_nothing(report, wanted)}")
        if log is not None:
            write_logs(report, one_per_item(find_edits(report, wanted)), log, source)
        if jsonl is not None:
            count = write_lines(jsonl, find_edits(report, wanted))
            say(f"Wrote {count} edited transcripts to {jsonl}.")
    return 0
