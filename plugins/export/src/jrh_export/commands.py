"""Define the command `jrh export`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from jrh.cli.shared_options import plugins_option
from jrh.text import say


@click.command("export")
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--to", "target", metavar="TOOL", required=True, help="mlflow, wandb, langfuse, or a report: xlsx, pdf, csv, ..."
)
@click.option("--option", "more", metavar="KEY=VALUE", multiple=True, help="An option of the tool. Repeatable.")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), help="Directory for a report.  [default: RUN]"
)
@plugins_option
def command(run_dir: Path, target: str, more: tuple[str, ...], output: Path | None, plugins: Sequence[str]) -> int:
    """Bring the run in the directory RUN into another tool, or write one report. Makes no model calls.

    mlflow, wandb and langfuse get every measure with its interval, sizes and missing verdicts; simulated judges are
    marked. Any report that is a file can be named instead, as with `jrh report --format`.

    Exit codes: 0 exported, 2 usage error, or the tool refuses.
    """
    # In the command: `jrh export --help` needs none of it.
    from jrh_interchange import export_run, read_pairs

    for sentence in export_run(run_dir, target, read_pairs(more), output=output, plugins=plugins):
        say(sentence)
    return 0
