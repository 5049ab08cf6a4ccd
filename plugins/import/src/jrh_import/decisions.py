"""Read decision logs: each row has a judge's two decisions about one text, asked with two prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import JrhError, Mode, Polarity, Record, Status, Task
from jrh.importing import (
    PAIR_COLUMNS,
    Mistakes,
    Row,
    imported_record,
    judged_fields,
    label_of,
    literal,
    read_rows,
    requests_of,
    template_of,
)

DECISION_COLUMNS: Final = (*PAIR_COLUMNS, "decision_a", "decision_b")
"""The required columns of a decision log; `judge`, `status_a`, `status_b` and `repeat` are optional."""
TEST: Final = "templates"
"""The test that decisions are recorded under."""


@frozen(kw_only=True)
class Decision:
    """One decision of a judge about one text, asked with one prompt."""

    judge: str
    task_type: str
    pair_id: str
    item: str
    """The judged text; all rows with the same text are one item."""
    prompt: str
    text: str
    """The decision as written in the log; empty if there is none."""
    status: str = ""
    """The status in the log, as a value of `Status`; may be empty."""
    gold: str = ""
    line: int = 0


def read_decisions(
    path: Path, *, columns: Mapping[str, str] | None = None, judge: str = "judge", shown: str = ""
) -> tuple[Decision, ...]:
    """Read a decision log (JSON Lines or csv); return two decisions per row, in the order of the file.

    Args:
        path: the file.
        columns: standard column -> column of this file, where they differ.
        judge: the judge's name if the file has no column `judge`.
        shown: the file's name for messages; by default its own.

    Raises:
        SuiteError: The file has mistakes; all are listed, each with its line.
        JrhError: The file cannot be read.
    """
    source = shown or path.name
    rows = read_rows(path, source, columns or {}, DECISION_COLUMNS)
    mistakes = Mistakes(source)
    known = [status.value for status in Status]
    for row in rows:
        for column in ("status_a", "status_b"):
            if row[column] and row[column] not in known:
                mistakes.add(row.line, f"`{column}`: '{row[column]}' is not a status; available: {', '.join(known)}")
        if not row["response_being_judged"].strip():
            mistakes.add(row.line, "`response_being_judged` is empty, so its decisions have no item")
    mistakes.raise_any()
    return tuple(_decision(row, side, judge) for row in rows for side in ("a", "b"))


def records_of(
    decisions: Sequence[Decision], task: Task, *, labels: Mapping[str, str] | None = None, inverted: Sequence[str] = ()
) -> tuple[Record, ...]:
    """Turn decisions about one task into records: one item per text, one template per prompt, numbered repeats.

    A prompt in several rows was asked several times; its decisions are repeats of one case.

    Args:
        decisions: of one task, of any number of judges.
        task: the task, whose scale the decisions are on.
        labels: text of a decision -> label of the scale; `score_3` maps to 3 by default.
        inverted: prompts that ask for the opposite; their labels are reversed.
    """
    items: dict[str, str] = {}
    repeats: Counter[tuple[str, str, str]] = Counter()
    names = template_names(decisions)
    records = []
    for decision in decisions:
        item = items.setdefault(decision.item, decision.pair_id or f"item-{len(items) + 1}")
        key = (decision.judge, item, names[decision.item, decision.prompt])
        records.append(_record(decision, task, labels or {}, key, repeats[key], decision.prompt in inverted))
        repeats[key] += 1
    return tuple(records)


def template_names(decisions: Sequence[Decision]) -> dict[tuple[str, str], str]:
    """Name the prompts; prompts that differ only in the text they show get the same name.

    Returns:
        (text, prompt) -> `prompt-1`, `prompt-2`, ... in order of first appearance.
    """
    prompts: dict[str, dict[str, None]] = {}
    for decision in decisions:
        prompts.setdefault(decision.item, {}).setdefault(decision.prompt)
    parts = {item: _parts(item) for item in prompts}
    requests = requests_of([list(own) for own in prompts.values()], [tuple(parts[item].values()) for item in prompts])
    names: dict[str, str] = {}
    found = {}
    for (item, own), request in zip(prompts.items(), requests, strict=True):
        fields = {**parts[item], **({"request": request} if request else {})}
        for prompt in own:
            source = template_of(prompt, fields) or template_of(prompt, parts[item]) or literal(prompt)
            found[item, prompt] = names.setdefault(source, f"prompt-{len(names) + 1}")
    return found


def _parts(item: str) -> dict[str, str]:
    try:
        return judged_fields(item, Mode.PAIRWISE)
    except JrhError:
        return {"response": item}


def _decision(row: Row, side: str, judge: str) -> Decision:
    return Decision(
        judge=row["judge"] or row["model"] or judge,
        task_type=row["task_type"],
        pair_id=row["pair_id"],
        item=row["response_being_judged"],
        prompt=row[f"prompt_{side}"],
        text=row[f"decision_{side}"],
        status=row[f"status_{side}"],
        gold=row["ground_truth_label"],
        line=row.line,
    )


def _record(
    decision: Decision, task: Task, labels: Mapping[str, str], key: tuple[str, str, str], repeat: int, inverted: bool
) -> Record:
    judge, item, template = key
    status, label = _verdict(decision, task, labels)
    gold = label_of(decision.gold, task.scale, labels)
    return imported_record(
        task=task,
        item_id=item,
        judge=judge,
        label=label,
        presented=True,
        status=status,
        test=TEST,
        variant=template,
        template=template,
        polarity=(Polarity.INVERTED if inverted else Polarity.POSITIVE).value,
        repeat=repeat,
        gold=gold if gold in task.scale else None,
        detail="" if label is not None else f"the log says '{decision.text[:80]}'",
    )


def _verdict(decision: Decision, task: Task, labels: Mapping[str, str]) -> tuple[Status, str | None]:
    stated = Status(decision.status) if decision.status else Status.OK
    if stated is not Status.OK:
        return stated, None
    label = label_of(decision.text, task.scale, labels)
    if label is None:
        return Status.UNPARSABLE, None
    return (Status.OK, label) if label in task.scale else (Status.OFF_SCALE, None)
