"""Read decision logs: each row has a judge's two decisions about one text, asked with two prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, frozen
from jrh import Item, JrhError, Json, Mode, Polarity, Record, Status, Task
from jrh.errors import OtherToolError
from jrh.running import load_metrics
from jrh.values import ImportedLog
from jrh_interchange import (
    PAIR_COLUMNS,
    PairedPrompts,
    Problems,
    Row,
    imported_record,
    judged_fields,
    label_of,
    literal,
    paired_task,
    read_rows,
    requests_of,
    template_of,
)
from jrh_measuring import DECISIONS, PAIRS

from jrh_import.options import JudgeSenseOptions

DECISION_COLUMNS: Final = (*PAIR_COLUMNS, "decision_a", "decision_b")
"""The required columns of a decision log; `judge`, `status_a`, `status_b` and `repeat` are optional."""
TEST: Final = "templates"
"""The test that decisions are recorded under."""
_LINES: Final = 10
"""Lines named per value that is off the scale; the others are counted."""


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
    problems = Problems(source)
    known = [status.value for status in Status]
    for row in rows:
        for column in ("status_a", "status_b"):
            if row[column] and row[column] not in known:
                problems.add(
                    f"`{column}`: '{row[column]}' is not a status; available: {', '.join(known)}", line=row.line
                )
        if not row["response_being_judged"].strip():
            problems.add("`response_being_judged` is empty, so its decisions have no item", line=row.line)
    problems.raise_any()
    return tuple(_decision(row, side, judge) for row in rows for side in ("a", "b"))


def records_of(
    decisions: Sequence[Decision],
    task: Task,
    *,
    labels: Mapping[str, str] | None = None,
    gold_labels: Mapping[str, str] | None = None,
    inverted: Sequence[str] = (),
) -> tuple[Record, ...]:
    """Turn decisions about one task into records: one item per text, one template per prompt, numbered repeats.

    A prompt in several rows was asked several times; its decisions are repeats of one case.

    Args:
        decisions: of one task, of any number of judges.
        task: the task, whose scale the decisions are on.
        labels: text of a decision -> label of the scale; `score_3` maps to 3 by default.
        gold_labels: text of a gold label -> label of the scale.
        inverted: prompts that ask for the opposite; their labels are reversed.
    """
    records = []
    for decision, place in zip(decisions, places_of(decisions), strict=True):
        status, label = _verdict(decision, task, labels or {})
        gold = label_of(decision.gold, task.scale, gold_labels or {})
        polarity = Polarity.INVERTED if decision.prompt in inverted else Polarity.POSITIVE
        records.append(
            imported_record(
                task=task,
                item_id=place.item,
                judge=decision.judge,
                label=label,
                presented=True,
                status=status,
                test=TEST,
                variant=place.template,
                template=place.template,
                polarity=polarity.value,
                repeat=place.repeat,
                gold=gold if gold in task.scale else None,
                detail="" if label is not None else f"the log says '{decision.text[:80]}'",
            )
        )
    return tuple(records)


def first_successes(decisions: Sequence[Decision], task: Task, labels: Mapping[str, str]) -> list[Decision]:
    """Return the decisions of the first run of every judge and pair that has a verdict for both prompts.

    Where no run has, those of the first run. A pair is a `pair_id` with its prompts and text.

    Args:
        decisions: of one task, two per row.
        task: the task.
        labels: text of a decision -> label of the scale.
    """
    chosen: dict[tuple[str, ...], tuple[bool, list[Decision]]] = {}
    for one, other in zip(decisions[::2], decisions[1::2], strict=True):
        key = (one.judge, one.pair_id, one.item, one.prompt, other.prompt)
        whole = all(_verdict(each, task, labels)[1] is not None for each in (one, other))
        if key not in chosen or (whole and not chosen[key][0]):
            chosen[key] = whole, [one, other]
    return [decision for _, row in chosen.values() for decision in row]


@frozen(kw_only=True)
class Place:
    """Where a decision belongs: item, template, and the number of the repeat."""

    item: str
    template: str
    repeat: int


def places_of(decisions: Sequence[Decision]) -> tuple[Place, ...]:
    """Return the item, template and repeat of every decision of a task, in order."""
    items: dict[str, str] = {}
    repeats: Counter[tuple[str, str, str]] = Counter()
    names = template_names(decisions)
    places = []
    for decision in decisions:
        if decision.item not in items:
            # Two texts under one pair_id are two items.
            taken = not decision.pair_id or decision.pair_id in items.values()
            items[decision.item] = f"item-{len(items) + 1}" if taken else decision.pair_id
        item = items[decision.item]
        key = (decision.judge, item, names[decision.item, decision.prompt])
        places.append(Place(item=item, template=key[2], repeat=repeats[key]))
        repeats[key] += 1
    return tuple(places)


def with_rows(items: Sequence[Item], decisions: Sequence[Decision]) -> tuple[Item, ...]:
    """Note in every item which pairs of templates its rows list, and which decisions share a row.

    Args:
        items: of one task, in the order in which their texts first appear.
        decisions: of this task, two per row.
    """
    places = places_of(decisions)
    pairs: dict[str, dict[frozenset[str], list[Json]]] = {}
    rows: dict[str, dict[str, list[Json]]] = {}
    for decision, one, other in zip(decisions[::2], places[::2], places[1::2], strict=True):
        sides = [one.template, other.template]
        pairs.setdefault(one.item, {}).setdefault(frozenset(sides), [*sides])
        row: list[Json] = [one.template, one.repeat, other.template, other.repeat]
        rows.setdefault(one.item, {}).setdefault(decision.judge, []).append(row)
    return tuple(
        evolve(item, id=name, metadata={**item.metadata, PAIRS: [*pairs[name].values()], DECISIONS: {**rows[name]}})
        for item, name in zip(items, pairs, strict=True)
    )


def check_scale(
    decisions: Sequence[Decision],
    task: Task,
    problems: Problems,
    *,
    labels: Mapping[str, str],
    gold_labels: Mapping[str, str],
    missing: bool,
) -> None:
    """Report every decision and gold label that is off the scale, value by value, each with its lines.

    Args:
        decisions: of one task.
        task: the task.
        problems: where to report them.
        labels: text of a decision -> label.
        gold_labels: text of a gold label -> label.
        missing: whether a decision off the scale counts as a missing verdict, and is no mistake.
    """
    found: dict[tuple[str, str, str], dict[int, None]] = {}
    for each in decisions:
        if not missing and _verdict(each, task, labels)[0] is Status.OFF_SCALE:
            found.setdefault(("decision", each.text, "--labels"), {})[each.line] = None
        gold = label_of(each.gold, task.scale, gold_labels)
        if gold is not None and gold not in task.scale:
            found.setdefault(("gold label", each.gold, "--gold-labels"), {})[each.line] = None
    for (what, text, option), lines in found.items():
        shown = ", ".join(str(line) for line in [*lines][:_LINES])
        more = f" and {len(lines) - _LINES} more" if len(lines) > _LINES else ""
        way = " or count such answers as missing with --option off_scale=true" if what == "decision" else ""
        problems.add(
            f"the {what} {text.strip()[:80]!r} is not on the scale {', '.join(task.scale.labels)} "
            f"({'line' if len(lines) == 1 else 'lines'} {shown}{more}). Map it with {option} TEXT=LABEL{way}",
            line=next(iter(lines)),
        )


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


def _verdict(decision: Decision, task: Task, labels: Mapping[str, str]) -> tuple[Status, str | None]:
    stated = Status(decision.status) if decision.status else Status.OK
    if stated is not Status.OK:
        return stated, None
    label = label_of(decision.text, task.scale, labels)
    if label is None:
        return Status.UNPARSABLE, None
    return (Status.OK, label) if label in task.scale else (Status.OFF_SCALE, None)


_SENSITIVITY: Final = "template-sensitivity"
_COMPAT: Final = "compat-judgesense"
_OVERLAP: Final = "flipped-by-every-judge"


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
    problems = Problems(name)
    for kind, task in tasks.items():
        check_scale(
            by_kind[kind],
            task,
            problems,
            labels=options.labels,
            gold_labels=options.gold_labels,
            missing=options.off_scale,
        )
    problems.raise_any()
