"""Read decision logs: each row has a judge's two decisions about one text, asked with two prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, frozen
from jrh import Item, JrhError, Json, Polarity, Record, Status, Task
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import (
    PAIR_COLUMNS,
    PairedPrompts,
    Problems,
    Row,
    imported_record,
    label_of,
    paired_task,
    prompt_source,
    read_rows,
    rows_by,
)
from jrh_measuring import DECISIONS, PAIRS, load_metrics

from jrh_import.options import JudgeSenseOptions

DECISION_COLUMNS: Final = (*PAIR_COLUMNS, "decision_a", "decision_b")
"""The required columns of a decision log; `judge`, `status_a`, `status_b` and `repeat` are optional."""
TEST: Final = "templates"
"""The test that decisions are recorded under."""
_SIDES: Final = ("a", "b")
_STATUSES: Final = tuple(status.value for status in Status)
_LINES: Final = 10
"""Lines named per value that is off the scale; the others are counted."""
# Metrics of other plugins: each is asked for only where it is installed.
_SENSITIVITY: Final = "template-sensitivity"
_COMPAT: Final = "compat-judgesense"
_OVERLAP: Final = "flipped-by-every-judge"
_PRINTED: Final = ("jss-correction", "excluded-pairs")
_NO_LOG: Final = ("no column", "the file is empty", "JSON", "header")
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
            # Another tool may read such a file; every other mistake is one in a log of this tool.
            if any(reason in str(error) for reason in _NO_LOG):
                raise OtherToolError(str(error)) from error
            raise


def read_log(log: Path, options: JudgeSenseOptions) -> ImportedLog:
    """Read a decision log: one task per task type, its items and records.

    A text is an item, and a prompt a template: prompts that differ only in the text they show are the same one. A
    prompt in several rows was asked several times; its decisions are repeats of one case.

    Raises:
        SuiteError: lists the mistakes of the log, such as every value that is off the scale, with their lines.
        JrhError: the log cannot be read, its scale cannot be inferred, or an option fits nothing in it.
    """
    rows = read_rows(log, log.name, {}, DECISION_COLUMNS)
    _check_rows(rows, log.name)
    _check_used(rows, options, log.name)
    kinds = rows_by(rows, "task_type")
    tasks = {kind: paired_task(kind_rows, options.scale, log, options.gold_labels) for kind, kind_rows in kinds.items()}
    _check_labels(kinds, tasks, options, log.name)
    items: dict[str, tuple[Item, ...]] = {}
    records: list[Record] = []
    for kind, task in tasks.items():
        source = PairedPrompts(path=log, shown=log.name, task=task, labels=options.gold_labels)
        kind_items = source.items(kinds[kind])
        kind_rows = _first_successes(kinds[kind], task, options) if options.runs == "first-success" else kinds[kind]
        decisions = _decisions(kind_rows, kind_items, options)
        records += [_record(decision, task, options) for decision in decisions]
        items[task.name] = _with_rows(kind_items, decisions)
    metrics = _metrics(items, options)
    return ImportedLog(tasks=tuple(tasks.values()), items=items, records=tuple(records), metrics=metrics)


@frozen(kw_only=True)
class Decision:
    """One decision of a judge about one text, asked with one prompt."""

    row: Row
    side: str
    judge: str
    item: str
    template: str
    repeat: int


def _decisions(rows: Sequence[Row], items: Sequence[Item], options: JudgeSenseOptions) -> list[Decision]:
    """Return two decisions per row, with their item, template and number of repeat.

    Args:
        rows: of one task.
        items: of the task, in the order in which their texts first appear.
        options: the options.
    """
    texts = dict(zip(dict.fromkeys(row["response_being_judged"] for row in rows), items, strict=True))
    templates: dict[tuple[str, str], str] = {}
    names: dict[str, str] = {}
    repeats: Counter[tuple[str, str, str]] = Counter()
    decisions = []
    for row in rows:
        text, pair = row["response_being_judged"], row["pair_id"]
        if text not in names:
            # Two texts under one pair_id are two items.
            names[text] = f"item-{len(names) + 1}" if not pair or pair in names.values() else pair
        for side in _SIDES:
            question = text, row[f"prompt_{side}"]
            if question not in templates:
                templates[question] = _template(question[1], texts[text])
            cell = (_judge(row, options), names[text], templates[question])
            judge, item, template = cell
            decisions.append(
                Decision(row=row, side=side, judge=judge, item=item, template=template, repeat=repeats[cell])
            )
            # In the order of the log: the same prompt in several rows was asked several times.
            repeats[cell] += 1
    return decisions


def _template(prompt: str, item: Item) -> str:
    prompts = item.metadata["prompts"]
    assert isinstance(prompts, Mapping)
    source = prompt_source(prompt, {name: str(text) for name, text in item.fields.items()})
    return next(name for name, known in prompts.items() if known == source)


def _judge(row: Row, options: JudgeSenseOptions) -> str:
    return row["judge"] or row["model"] or options.judge


def _record(decision: Decision, task: Task, options: JudgeSenseOptions) -> Record:
    row, side = decision.row, decision.side
    status, label = _verdict(row, side, task, options)
    gold = label_of(row["ground_truth_label"], task.scale, options.gold_labels)
    inverted = any(text in row[f"prompt_{side}"] for text in options.inverted)
    return imported_record(
        task=task,
        item_id=decision.item,
        judge=decision.judge,
        label=label,
        # Inverted prompts ask for the opposite: the import turns the labels back.
        presented=True,
        status=status,
        test=TEST,
        variant=decision.template,
        template=decision.template,
        polarity=(Polarity.INVERTED if inverted else Polarity.POSITIVE).value,
        repeat=decision.repeat,
        gold=gold if gold in task.scale else None,
        detail="" if label is not None else f"the log says '{row[f'decision_{side}'][:80]}'",
    )


def _verdict(row: Row, side: str, task: Task, options: JudgeSenseOptions) -> tuple[Status, str | None]:
    stated = Status(row[f"status_{side}"] or Status.OK.value)
    if stated is not Status.OK:
        return stated, None
    label = label_of(row[f"decision_{side}"], task.scale, options.labels)
    if label is None:
        return Status.UNPARSABLE, None
    return (Status.OK, label) if label in task.scale else (Status.OFF_SCALE, None)


def _first_successes(rows: Sequence[Row], task: Task, options: JudgeSenseOptions) -> list[Row]:
    """Return the first row of every judge and pair that has a verdict for both prompts; where none has, the first.

    A pair is a `pair_id` with its prompts and text.
    """
    runs_by_pair: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        pair = (row[name] for name in ("pair_id", "response_being_judged", "prompt_a", "prompt_b"))
        runs_by_pair.setdefault((_judge(row, options), *pair), []).append(row)

    def is_whole(row: Row) -> bool:
        return all(_verdict(row, side, task, options)[1] is not None for side in _SIDES)

    return [next(filter(is_whole, runs), runs[0]) for runs in runs_by_pair.values()]


def _with_rows(items: Sequence[Item], decisions: Sequence[Decision]) -> tuple[Item, ...]:
    """Note in every item which pairs of templates its rows list, and which decisions share a row."""
    pairs: dict[str, dict[frozenset[str], list[Json]]] = {}
    rows: dict[str, dict[str, list[Json]]] = {}
    # Two decisions per row, in the order of the sides.
    for first, second in zip(decisions[::2], decisions[1::2], strict=True):
        sides = [first.template, second.template]
        # By the set of its two templates: the rows of a pair may list it in either order.
        pairs.setdefault(first.item, {}).setdefault(frozenset(sides), [*sides])
        row: list[Json] = [first.template, first.repeat, second.template, second.repeat]
        rows.setdefault(first.item, {}).setdefault(first.judge, []).append(row)
    return tuple(
        evolve(item, id=name, metadata={**item.metadata, PAIRS: [*pairs[name].values()], DECISIONS: {**rows[name]}})
        for item, name in zip(items, pairs, strict=True)
    )


def _metrics(items: Mapping[str, Sequence[Item]], options: JudgeSenseOptions) -> Json:
    """Return what the report of a decision log computes: the defaults, the chosen pairs, and JudgeSense's estimates."""
    prompts = _prompts(items)
    excluded = {text: [name for name, source in prompts.items() if text in source] for text in options.without}
    absent = [text for text, templates in excluded.items() if not templates]
    if absent:
        raise JrhError(f"without: no prompt of the log contains '{absent[0]}'")
    # What the paper prints, of which the report of another run shows JSS alone.
    compared: dict[str, Json] = {
        "pairs": options.pairs,
        "also": list(_PRINTED),
        **({"without": excluded} if excluded else {}),
    }
    chosen: tuple[tuple[str, Json], ...] = (
        (_SENSITIVITY, {_SENSITIVITY: compared}),
        (_OVERLAP, {_OVERLAP: {"pairs": options.pairs, "also": ["flipped-by", "flipping-judges"]}}),
        (_COMPAT, _COMPAT),
    )
    return {"add": [entry for name, entry in chosen if _is_installed(name)]}


def _is_installed(metric: str) -> bool:
    try:
        load_metrics((metric,))
    except JrhError:
        return False  # the metrics are in other plugins; the import works without them
    return True


def _prompts(items: Mapping[str, Sequence[Item]]) -> dict[str, str]:
    """Return the prompts of a log by the names of their templates."""
    return {
        name: str(source)
        for task_items in items.values()
        for item in task_items
        if isinstance(sources := item.metadata.get("prompts"), Mapping)
        for name, source in sources.items()
    }


def _check_rows(rows: Sequence[Row], name: str) -> None:
    problems = Problems(name)
    for row in rows:
        for column in ("status_a", "status_b"):
            if row[column] and row[column] not in _STATUSES:
                known = ", ".join(_STATUSES)
                problems.add(f"`{column}`: '{row[column]}' is not a status; available: {known}", line=row.line)
        if not row["response_being_judged"].strip():
            problems.add("`response_being_judged` is empty, so its decisions have no item", line=row.line)
    problems.raise_any()


def _check_used(rows: Sequence[Row], options: JudgeSenseOptions, name: str) -> None:
    """Refuse an option that fits nothing in the log, which is a slip of the pen."""
    for text in options.inverted:
        if not any(text in row[f"prompt_{side}"] for row in rows for side in _SIDES):
            raise JrhError(f"inverted: no prompt in {name} contains '{text}'")
    for option, what, labels, columns in (
        ("labels", "decision", options.labels, ("decision_a", "decision_b")),
        ("gold_labels", "gold label", options.gold_labels, ("ground_truth_label",)),
    ):
        texts = {row[column].strip() for row in rows for column in columns}
        for text in labels:
            # A misspelt option would otherwise leave all labels as they are, without an error.
            if text not in texts:
                raise JrhError(
                    f"{option}: no {what} in {name} is '{text}'; available: {', '.join(sorted(texts))[:200]}"
                )


def _check_labels(
    kinds: Mapping[str, Sequence[Row]], tasks: Mapping[str, Task], options: JudgeSenseOptions, name: str
) -> None:
    """Refuse labels that no scale has, and report every value that is off the scale, each with its lines."""
    scales = [task.scale for task in tasks.values()]
    for option, labels in (("labels", options.labels), ("gold_labels", options.gold_labels)):
        for text, label in labels.items():
            if not any(label in scale for scale in scales):
                known = "; ".join(", ".join(scale.labels) for scale in scales)
                raise JrhError(f"{option}: {text}={label}: '{label}' is not on the scale {known}")
    problems = Problems(name)
    for kind, task in tasks.items():
        for (what, text, option), lines in _off_scale(kinds[kind], task, options).items():
            shown = ", ".join(str(line) for line in [*lines][:_LINES])
            more = f" and {len(lines) - _LINES} more" if len(lines) > _LINES else ""
            # Gold labels off the scale have no such way out: they are always mistakes.
            way = " or count such answers as missing with --option off_scale=true" if what == "decision" else ""
            problems.add(
                f"the {what} {text.strip()[:80]!r} is not on the scale {', '.join(task.scale.labels)} "
                f"({'line' if len(lines) == 1 else 'lines'} {shown}{more}). Map it with {option} TEXT=LABEL{way}",
                line=next(iter(lines)),
            )
    problems.raise_any()


def _off_scale(
    rows: Sequence[Row], task: Task, options: JudgeSenseOptions
) -> dict[tuple[str, str, str], dict[int, None]]:
    off_scale: dict[tuple[str, str, str], dict[int, None]] = {}
    for row in rows:
        for side in _SIDES:
            if not options.off_scale and _verdict(row, side, task, options)[0] is Status.OFF_SCALE:
                off_scale.setdefault(("decision", row[f"decision_{side}"], "--labels"), {})[row.line] = None
        gold = label_of(row["ground_truth_label"], task.scale, options.gold_labels)
        if gold is not None and gold not in task.scale:
            off_scale.setdefault(("gold label", row["ground_truth_label"], "--gold-labels"), {})[row.line] = None
    return off_scale
