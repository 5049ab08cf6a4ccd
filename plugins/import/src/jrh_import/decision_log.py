"""Turn a decision log, with two decisions per row, into tasks and records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jrh import Item, JrhError, MetricContext, Record, RecordTable, Task
from jrh.importing import PairedPrompts, paired_task, read_rows
from jrh.running import load_metrics

from jrh_import.decisions import DECISION_COLUMNS, read_decisions, records_of

_AUDIT: Final = "audit"


def read_log(
    log: Path, *, judge: str = "judge", scale: str | None = None, inverted: tuple[str, ...] = ()
) -> tuple[list[Task], list[Record], list[str]]:
    """Read a decision log; return one task per task type, the records, and the audit's findings about the items.

    Raises:
        JrhError: The log cannot be read, or its scale cannot be inferred.
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
        raise JrhError(f"--inverted: no prompt in {log.name} contains '{unused[0]}'")
    return tasks, records, notes


def _findings(items: Sequence[Item], task: Task) -> list[str]:
    """Return the findings of the metric `audit` about the items; empty if it is not installed."""
    try:
        metric = load_metrics((_AUDIT,))[_AUDIT]
    except JrhError:
        return []  # jrh-audit is a separate plugin; the import works without it
    context = MetricContext(tasks={task.name: task}, items={task.name: items})
    return [f"{task.name}: {found.note}" for found in metric.measure(RecordTable.from_records(()), context)]
