"""Define the command `jrh export-transcripts`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from jrh.text import say

if TYPE_CHECKING:
    from jrh import RunReport

    from jrh_inspect.writing import Wanted


@click.command("export-transcripts")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--jsonl", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file to write.")
@click.option("--task", metavar="NAME", help="Only this task of the suite.")
@click.option("--test", metavar="NAME", help="Only this test of the suite.")
@click.option("--variant", metavar="NAME", help="Only this variant of a test.")
def command(run: Path, jsonl: Path, task: str | None, test: str | None, variant: str | None) -> int:
    """Export the edited transcripts of RUN as JSON Lines, one object per transcript.

    Exit codes: 0 written, 2 usage error or no edited transcripts in RUN.
    """
    from jrh import JrhError, open_run

    from jrh_inspect.writing import Wanted, edited_transcripts, write_lines

    wanted = Wanted(task=task, test=test, variant=variant)
    with open_run(run) as report:
        if next(edited_transcripts(report, wanted), None) is None:
            raise JrhError(f"'{run}': nothing to export: {_why_nothing(report, wanted)}")
        count = write_lines(jsonl, edited_transcripts(report, wanted))
        say(f"Wrote {count} edited transcripts to {jsonl}.")
    return 0


def _why_nothing(report: RunReport, wanted: Wanted) -> str:
    from jrh import Mode

    if all(summary.task.mode is not Mode.TRANSCRIPT for summary in report.tasks):
        return "the run has no transcripts; none of its tasks has `mode: transcript`"
    if any((wanted.task, wanted.test, wanted.variant)):
        return "no case with that task, test and variant has an edited transcript"
    return "this run edited no transcripts; a test such as `agent-perturbation` does"
