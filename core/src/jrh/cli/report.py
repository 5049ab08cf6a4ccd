"""`jrh report`."""

from __future__ import annotations

from pathlib import Path

import click

from jrh.cli.options import allowed, plugins_option


@click.command("report")
@click.argument("run_dir", type=click.Path(path_type=Path, file_okay=False))
@plugins_option
def command(run_dir: Path, plugins: str) -> int:
    """Write the reports of the run in RUN_DIR again, and print the one for the terminal."""
    from jrh.loading import load_plugins
    from jrh.runs import report_again

    written = report_again(run_dir, load_plugins(allowed(plugins)))
    click.echo(written.terminal.rstrip("\n"))
    for problem in written.problems:
        click.echo(f"jrh: {problem}", err=True)
    click.echo()
    for path in written.files:
        click.echo(f"Report: {path}")
    return 0
