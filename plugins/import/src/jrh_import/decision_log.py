"""Turn a decision log, with two decisions per row, into tasks, items and records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from jrh import Item, JrhError, Json, Record, Task
from jrh.errors import OtherToolError
from jrh.running import load_metrics
from jrh.values import ImportedLog
from jrh_interchange import Mistakes, PairedPrompts, paired_task, read_rows

from jrh_import.decisions import (
    DECISION_COLUMNS,
    Decision,
    check_scale,
    first_successes,
    read_decisions,
    records_of,
    with_rows,
)
from jrh_import.options import JudgeSenseOptions

_SENSITIVITY: Final = "template-sensitivity"
_COMPAT: Final = "compat-judgesense"
_OVERLAP: Final = "flipped-by-every-judge"


_NO_LOG: Final = ("no column", "the file has no rows", "not JSON", "expected one JSON object per line")
"""What is said of files that are no log of decisions at all."""


class JudgeSense:
    """Read a decision log of JudgeSense."""

    def __init__(self, options: JudgeSenseOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the decisions, one template per prompt."""
        try:
            return read_log(path, self._options)
        except JrhError as error:
            if any(reason in str(error) for reason in _NO_LOG):
                raise OtherToolError(str(error)) from error
            raise


def read_log(log: Path, options: JudgeSenseOptions) -> ImportedLog:
    """Read a decision log: one task per task type, its items and records.

    Raises:
        SuiteError: lists the mistakes of the log, such as every value that is off the scale, with their lines.
        JrhError: the log cannot be read, its scale cannot be inferred, or an option fits nothing in it.
    """
    rows = read_rows(log, log.name, {}, DECISION_COLUMNS)
    decisions = read_decisions(log, judge=options.judge)
    _check_used(decisions, options, log.name)
    kinds = list(dict.fromkeys(row["task_type"] for row in rows))
    by_kind = {kind: [each for each in decisions if each.task_type == kind] for kind in kinds}
    tasks = {
        kind: paired_task([row for row in rows if row["task_type"] == kind], options.scale, log, options.gold_labels)
        for kind in kinds
    }
    _check_labels(by_kind, tasks, options, log.name)
    if options.runs == "first-success":
        by_kind = {kind: first_successes(own, tasks[kind], options.labels) for kind, own in by_kind.items()}
    items: dict[str, tuple[Item, ...]] = {}
    records: list[Record] = []
    for kind, task in tasks.items():
        own = by_kind[kind]
        turned = [each.prompt for each in own if any(text in each.prompt for text in options.inverted)]
        records += records_of(own, task, labels=options.labels, gold_labels=options.gold_labels, inverted=turned)
        source = PairedPrompts(path=log, shown=log.name, task=task, task_type=kind, labels=options.gold_labels)
        items[task.name] = with_rows(source.read(), own)
    metrics = _metrics(items, options)
    return ImportedLog(tasks=tuple(tasks.values()), items=items, records=tuple(records), metrics=metrics)


def _metrics(items: Mapping[str, Sequence[Item]], options: JudgeSenseOptions) -> Json:
    """Return what the report of a decision log computes: the defaults, the chosen pairs, and JudgeSense's estimates."""
    excluded = {text: list(_templates_with(items, text)) for text in options.without}
    absent = [text for text, templates in excluded.items() if not templates]
    if absent:
        raise JrhError(f"without: no prompt of the log contains '{absent[0]}'")
    compared: dict[str, Json] = {"pairs": options.pairs, **({"without": excluded} if excluded else {})}
    chosen: tuple[tuple[str, Json], ...] = (
        (_SENSITIVITY, {_SENSITIVITY: compared}),
        (_OVERLAP, {_OVERLAP: {"pairs": options.pairs}}),
        (_COMPAT, _COMPAT),
    )
    return {"add": [entry for name, entry in chosen if _is_installed(name)]}


def _is_installed(metric: str) -> bool:
    try:
        load_metrics((metric,))
    except JrhError:
        return False  # the metrics are in other plugins; the import works without them
    return True


def _templates_with(items: Mapping[str, Sequence[Item]], text: str) -> Iterator[str]:
    prompts = {
        name: source
        for own in items.values()
        for item in own
        if isinstance(found := item.metadata.get("prompts"), Mapping)
        for name, source in found.items()
    }
    yield from (name for name, source in prompts.items() if text in str(source))


def _check_used(decisions: Sequence[Decision], options: JudgeSenseOptions, name: str) -> None:
    """Refuse an option that fits nothing in the log, which is a slip of the pen."""
    said, golds = (
        {text.strip() for text in texts} for texts in zip(*((d.text, d.gold) for d in decisions), strict=True)
    )
    for text in options.inverted:
        if not any(text in decision.prompt for decision in decisions):
            raise JrhError(f"inverted: no prompt in {name} contains '{text}'")
    for option, what, labels, there in (
        ("labels", "decision", options.labels, said),
        ("gold_labels", "gold label", options.gold_labels, golds),
    ):
        for text in labels:
            if text not in there:
                raise JrhError(
                    f"{option}: no {what} in {name} is '{text}'; available: {', '.join(sorted(there))[:200]}"
                )


def _check_labels(
    by_kind: Mapping[str, Sequence[Decision]], tasks: Mapping[str, Task], options: JudgeSenseOptions, name: str
) -> None:
    scales = [task.scale for task in tasks.values()]
    for option, labels in (("labels", options.labels), ("gold_labels", options.gold_labels)):
        for text, label in labels.items():
            if not any(label in scale for scale in scales):
                known = "; ".join(", ".join(scale.labels) for scale in scales)
                raise JrhError(f"{option}: {text}={label}: '{label}' is not on the scale {known}")
    mistakes = Mistakes(name)
    for kind, task in tasks.items():
        check_scale(
            by_kind[kind],
            task,
            mistakes,
            labels=options.labels,
            gold_labels=options.gold_labels,
            missing=options.off_scale,
        )
    mistakes.raise_any()
