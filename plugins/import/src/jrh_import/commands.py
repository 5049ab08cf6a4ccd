"""Define the commands `jrh import` and `jrh import-decisions`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--run-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Run directory to create.  [default: runs/<name>]",
)
@click.option("--plugins", metavar="A,B", default="", help="Only the metrics of these plugins, as for `jrh run`.")
def import_table(file: Path, run_dir: Path | None, plugins: str) -> int:
    """Import a table of verdicts, described by FILE, as a run directory for `jrh report`.

    FILE is a YAML file that says where the table is and what its columns mean.
    """
    from jrh.importing import import_records, unmeasured
    from jrh.text import counted

    from jrh_import.reading import read_description
    from jrh_import.tables import read_table
    from jrh_import.verdicts import read_verdicts

    mapping = read_description(file)
    tasks = mapping.described_tasks()
    table = read_table(mapping.path, mapping.table_format(), mapping.delimiter, neutralised=mapping.is_neutralised())
    found = read_verdicts(table, mapping, tasks)
    target = run_dir or Path("runs") / mapping.name
    count = import_records(
        target,
        mapping.name,
        tasks,
        found.records,
        origins=found.origins,
        notes=mapping.notes,
        plugins=tuple(part.strip() for part in plugins.split(",") if part.strip()),
        level=mapping.level,
        resamples=mapping.resamples,
        seed=mapping.seed,
        metrics=None if mapping.metrics is None else file,
    )
    judges = len({record.judge for record in found.records})
    items = len({(record.task, record.item_id) for record in found.records})
    of = f"{counted(judges, 'judge')} on {counted(items, 'item')}"
    click.echo(f"Imported {count} verdicts of {of} into {target}.")
    _say_next(target, unmeasured(tasks, found.records))
    return 0


@click.command("import-decisions")
@click.argument("log", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--judge", default="judge", show_default=True, help="The judge's name if the log has no column for it.")
@click.option("--scale", metavar="LABELS", help="1-6, or YES,NO.  [default: from the log's gold labels]")
@click.option("--inverted", multiple=True, metavar="TEXT", help="Prompts that contain this text ask for the opposite.")
@click.option(
    "--run-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Run directory to create.  [default: runs/<name of the log>]",
)
def import_decisions(log: Path, judge: str, scale: str | None, inverted: tuple[str, ...], run_dir: Path | None) -> int:
    """Import a decision LOG (.jsonl or .csv) with two decisions per row as a run directory. Makes no model calls.

    `jrh report` then shows JSS, flip rate and kappa between the prompts.
    """
    from jrh.importing import import_records, unmeasured
    from jrh.text import counted

    from jrh_import.decision_log import read_log

    target = run_dir or Path("runs") / log.stem
    tasks, records, notes = read_log(log, judge=judge, scale=scale, inverted=inverted)
    count = import_records(target, log.stem, tasks, records, notes=notes)
    judges, items = (len({getattr(record, name) for record in records}) for name in ("judge", "item_id"))
    of = f"{counted(judges, 'judge')} on {counted(items, 'item')}"
    click.echo(f"Imported {count} decisions of {of} into {target}.")
    _say_next(target, unmeasured(tasks, records))
    return 0


def _say_next(target: Path, gaps: Sequence[str]) -> None:
    """Say what the log does not allow to measure, and what to do with what was imported."""
    if gaps:
        click.echo("\nNot measurable from this log:")
    for gap in gaps:
        click.echo(f"- {gap}")
    click.echo(f"\nNext: {shlex.join(['jrh', 'report', str(target)])}")
