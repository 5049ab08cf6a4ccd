"""`jrh report`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from jrh.cli.shared_options import allowed, full_option, plugins_option, told
from jrh.text import telling


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
    "--salvage",
    is_flag=True,
    help="Copy what can be read of a damaged run to RUN_DIR-salvaged, and report that.",
)
@full_option
@plugins_option
def command(
    run_dir: Path,
    formats: str,
    settings: tuple[str, ...],
    output: Path | None,
    salvage: bool,
    full: bool,
    plugins: str,
) -> int:
    """Write the reports of the run in RUN_DIR again, and print the one for the terminal.

    Exit codes: 0 written, 2 usage error, or a report could not be made.
    """
    from jrh.api import report_again
    from jrh.running.progress_display import show_progress
    from jrh.running.remembered_plugins import load_for

    if salvage:
        run_dir = _salvaged(run_dir)
    loaded = told(load_for(run_dir, allowed(plugins)))
    with show_progress(plain=True) as progress:
        progress.begin("report", None)
        written = report_again(run_dir, loaded, formats=allowed(formats), settings=settings, output=output, full=full)
        progress.end()
    if written.terminal:
        telling.say(written.terminal.rstrip("\n") + "\n", styled=True)
    for path in written.files:
        telling.say(f"Report: {path}")
    if written.incomplete and not written.terminal:
        telling.tell(written.incomplete)
    for sentence in written.changed:
        telling.tell(f"{sentence}.")
    for problem in written.problems:  # what went wrong comes last
        telling.tell(f"jrh: {problem}")
    return 2 if written.problems else 0


def _salvaged(run_dir: Path) -> Path:
    """Copy what can be read of a run, say what that is, and return the directory of the copy."""
    from jrh.store.salvage import salvage

    target = run_dir.resolve().with_name(f"{run_dir.resolve().name}-salvaged")
    for line in salvage(run_dir, target).lines():
        telling.tell(line)
    telling.tell(
        f"To ask only the lost questions again, run the suite with --run-dir {shlex.quote(str(target))}: saved calls "
        "are not paid for again."
    )
    return target
