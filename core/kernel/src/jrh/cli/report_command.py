"""`jrh report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from jrh.cli.shared_options import full_option, plugins_option, split_names, tell_remembered
from jrh.text import terminal


@click.command("report")
@click.argument("run_dir", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--format",
    "formats",
    metavar="A,B",
    default="",
    help="Write only these reports.  [default: those the suite names, else all default reports]",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="REPORTER.OPTION=VALUE",
    help="Set a report option, such as markdown.details=false. Repeatable.",
)
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), help="Write to this directory.  [default: RUN_DIR]"
)
@click.option(
    "--rules",
    type=click.Choice(["run", "installed"]),
    default="run",
    help="Findings of the run's rules, or decided again with the installed ones.  [default: run]",
)
@full_option
@plugins_option
def command(
    run_dir: Path,
    formats: str,
    settings: tuple[str, ...],
    output: Path | None,
    rules: str,
    full: bool,
    plugins: Sequence[str],
) -> int:
    """Write the reports of the run in RUN_DIR again, and print the one for the terminal.

    Exit codes: 0 written, 2 usage error, or a report could not be made.
    """
    from jrh.running.progress import show_progress
    from jrh.running.remembered_plugins import load_for
    from jrh.running.stored_run import report_again

    # The plugins come first: a reporter that is not loaded writes nothing.
    loaded = tell_remembered(load_for(run_dir, plugins))
    with show_progress(plain=True) as progress:
        progress.begin("report", None)
        written = report_again(
            run_dir,
            loaded,
            formats=split_names(formats),
            settings=settings,
            output=output,
            full=full,
            installed_rules=rules == "installed",
        )
        progress.end()
    if written.terminal:
        terminal.say(written.terminal.rstrip("\n") + "\n", styled=True)
    for path in written.files:
        terminal.say(f"Report: {path}")
    # The report for the terminal says it itself.
    if written.incomplete and not written.terminal:
        terminal.tell(written.incomplete)
    for sentence in written.changed:
        terminal.tell(f"{sentence}.")
    for problem in written.problems:  # what went wrong comes last
        terminal.tell(f"jrh: {problem}")
    terminal.say_next("view", run_dir)
    return 2 if written.problems else 0
