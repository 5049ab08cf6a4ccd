"""`jrh import-decisions`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from jrh import Item, JrhError, MetricContext, Record, RecordTable, Task
from jrh.importing import PairedPrompts, import_records, paired_task, read_rows
from jrh.running import load_metrics

from jrh_import.decisions import DECISION_COLUMNS, read_decisions, records_of

_AUDIT: Final = "audit"


@click.command("import-decisions")
@click.argument("log", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--judge", default="judge", show_default=True, help="The judge's name where the log has no column for it."
)
@click.option("--scale", metavar="LABELS", help="1-6, or YES,NO.  [default: from the log's gold labels]")
@click.option("--inverted", multiple=True, metavar="TEXT", help="Prompts that hold this text ask for the opposite.")
@click.option(
    "--run-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the records go.  [default: runs/<name of the log>]",
)
def command(log: Path, judge: str, scale: str | None, inverted: tuple[str, ...], run_dir: Path | None) -> int:
    """Make a run directory of a decision LOG (.jsonl or .csv) with two decisions per row; asks no model.

    `jrh report` then tells JSS, flip rate and kappa between the prompts.
    """
    target = run_dir or Path("runs") / log.stem
    tasks, records, notes = read_log(log, judge=judge, scale=scale, inverted=inverted)
    count = import_records(target, log.stem, tasks, records, notes=notes)
    judges, items = (len({getattr(record, name) for record in records}) for name in ("judge", "item_id"))
    of = f"{judges} judge{'s' * (judges != 1)} on {items} item{'s' * (items != 1)}"
    click.echo(f"Imported {count} decisions of {of} into {target}.")
    click.echo(f"Next: jrh report {target}")
    return 0


def read_log(
    log: Path, *, judge: str = "judge", scale: str | None = None, inverted: tuple[str, ...] = ()
) -> tuple[list[Task], list[Record], list[str]]:
    """Read a decision log: one task per task type, the records, and what the audit finds about the items.

    Raises:
        JrhError: the log cannot be read, or its scale cannot be told.
    """
    rows = read_rows(log, log.name, {}, DECISION_COLUMNS)
    decisions = read_decisions(log, judge=judge)
    tasks: list[Task] = []
    records: list[Record] = []
    notes: list[str] = []
    for task_type in dict.fromkeys(row["task_type"] for row in rows):
        task = paired_task([row for row in rows if row["task_type"] == task_type], scale, log)
        own = [decision for decision in decisions if decision.task_type == task_type]
        turned = [each.prompt for each in own if any(text in each.prompt for text in inverted)]
        tasks.append(task)
        records += records_of(own, task, inverted=turned)
        items = PairedPrompts(path=log, shown=log.name, task=task, task_type=task_type).read()
        notes += _findings(items, task)
    unused = [text for text in inverted if not any(text in decision.prompt for decision in decisions)]
    if unused:
        raise JrhError(f"--inverted: no prompt of {log.name} holds '{unused[0]}'")
    return tasks, records, notes


def _findings(items: Sequence[Item], task: Task) -> list[str]:
    """Return what the installed metric `audit` finds about the items; nothing where it is not installed."""
    try:
        metric = load_metrics((_AUDIT,))[_AUDIT]
    except JrhError:
        return []  # jrh-audit is a plugin of its own, and the import works without it
    context = MetricContext(tasks={task.name: task}, items={task.name: items})
    return [f"{task.name}: {found.note}" for found in metric.measure(RecordTable.from_records(()), context)]
