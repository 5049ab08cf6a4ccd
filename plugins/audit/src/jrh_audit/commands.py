"""`jrh audit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click
from jrh import Item, JrhError, Mode, Task, read_items
from jrh.cli.shared_options import plugins_option, typed_words
from jrh.text import say, say_next
from jrh_authoring import read_judge_models
from jrh_interchange import PAIR_COLUMNS, PairedPrompts, Row, infer_scale, paired_task, read_rows
from jrh_measuring import same_families

from jrh_audit.checks import findings
from jrh_audit.facts import Facts
from jrh_audit.options import AuditOptions
from jrh_audit.size import half_width, power_of, size_sentence, sizes

_FIELDS: Final = ("request", "response", "response_a", "response_b", "transcript")
_MODES: Final = (
    (("response_a", "response_b"), Mode.PAIRWISE),
    (("response",), Mode.POINTWISE),
    (("transcript",), Mode.TRANSCRIPT),
)


def read_data(path: Path, columns: Mapping[str, str], scale: str | None) -> tuple[tuple[Task, tuple[Item, ...]], ...]:
    """Read a JSON Lines or csv file as one task, or one per task type of a paired-prompt file.

    Args:
        path: the file.
        columns: field -> name of its column in the file.
        scale: `1-6` or `YES,NO`; None: inferred from the labels of the file.

    Raises:
        JrhError: it cannot be read, or has no column to judge.
    """
    if path.suffix.lower() not in (".jsonl", ".csv", ".ndjson"):
        raise JrhError(f"{path.name}: the audit reads .jsonl and .csv files, and suites (.yaml) with data of any kind")
    rows = read_rows(path, path.name, columns, tuple(columns))
    # One file of paired prompts holds several tasks, each with a scale of its own.
    if all(column in rows[0].values for column in PAIR_COLUMNS):
        types = dict.fromkeys(row["task_type"] for row in rows)
        return tuple(_load_pairs(path, columns, scale, rows, task_type) for task_type in types)
    mode = _mode(rows[0], path)
    golds = [row["label"].strip() or None for row in rows]
    task = Task(name=path.stem, scale=infer_scale(scale, golds, mode, path.name), mode=mode)
    items = [_item(row, gold, f"row-{row.line}", path) for row, gold in zip(rows, golds, strict=True)]
    return ((task, tuple(items)),)


def _load_pairs(
    path: Path, columns: Mapping[str, str], scale: str | None, rows: Sequence[Row], task_type: str
) -> tuple[Task, tuple[Item, ...]]:
    task = paired_task([row for row in rows if row["task_type"] == task_type], scale, path)
    source = PairedPrompts(path=path, shown=path.name, task=task, task_type=task_type, columns=columns)
    return task, tuple(source.read())


def _mode(row: Row, path: Path) -> Mode:
    for names, mode in _MODES:
        if all(name in row.values for name in names):
            return mode
    raise JrhError(
        f"{path.name}: no column response, no columns response_a and response_b, and no column transcript; name "
        f"yours with --column, such as `--column response=full_text`. Columns: {', '.join(row.values)}"
    )


def _item(row: Row, gold: str | None, name: str, path: Path) -> Item:
    fields = {name: row.values[name] for name in _FIELDS if name in row.values}
    return Item(
        id=row["id"] or name,
        fields={"request": "", **fields},
        gold=gold,
        stratum=row["stratum"],
        group=row["group"],
        origin=f"{path.name}:{row.line}",
    )


_SUITES: Final = (".yaml", ".yml", ".json")


@click.command("audit")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--scale", metavar="LABELS", help="Scale of a data file: 1-6, or YES,NO.  [default: from its labels]")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="TARGET=COLUMN",
    help="Column of a data file, such as response=full_text. Repeatable.",
)
@plugins_option
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="As for `jrh run`; for a suite.")
def command(
    target: Path, scale: str | None, columns: tuple[str, ...], plugins: Sequence[str], overrides: tuple[str, ...]
) -> int:
    """Report what your data cannot support. Makes no model calls.

    TARGET is a suite (.yaml, .yml, .json), or a data file (.jsonl, .csv).
    """
    if target.suffix.lower() in _SUITES:
        tasks: Sequence[tuple[Task, Sequence[Item]]] = read_items(target, plugins=plugins, overrides=overrides)
        models = read_judge_models(target, plugins=plugins, overrides=overrides)
    else:
        tasks, models = read_data(target, _columns(columns), scale), {}
    for line in lines(tasks, models):
        say(line)
    if target.suffix.lower() in _SUITES:
        say_next("plan", *typed_words())
    else:
        say_next("init", target.with_suffix(".yaml"), "--data", *typed_words())
    return 0


def lines(
    tasks: Sequence[tuple[Task, Sequence[Item]]], models: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """Yield the lines of the report: the precision that the number of items allows, then the findings.

    Args:
        tasks: tasks with their items.
        models: judge -> name of its model; empty for a data file.
    """
    for task, items in tasks:
        yield f"{_plain(task.name)}: {len(items)} items, {task.mode.value}, {', '.join(task.scale.labels)}"
        facts = Facts(items, task)
        yield f"  {_precision(facts)}"
        # The first lines state the precision in any case; the finding would repeat it.
        results = [finding for finding in findings(facts, AuditOptions()) if finding.kind != "few-items"]
        for finding in results:
            concerns = f" Concerns {', '.join(finding.concerns)}." if finding.concerns else ""
            yield f"  {finding.kind}: {_plain(finding.sentence)}{concerns}"
        shared = list(same_families(items, models))
        # A judge of the family that wrote the labels is a fact about the suite's models; a bare data file names none.
        for conflict in shared:
            yield f"  {conflict.kind}-of-own-family: judge {_plain(conflict.judge)}: {_plain(conflict.sentence)}"
        if not results and not shared:
            yield "  No other findings."


def _precision(facts: Facts) -> str:
    """State the precision of the items; a cluster of items counts once."""
    clusters, wanted = facts.clusters, AuditOptions().half_width
    text = power_of(clusters) if clusters == len(facts) else f"{sizes(len(facts), clusters)}. {power_of(clusters)}"
    return f"{text} {size_sentence(wanted, clustered=clusters < len(facts))}" if half_width(clusters) > wanted else text


def _columns(written: Sequence[str]) -> dict[str, str]:
    columns_by_target = {}
    for assignment in written:
        target, equals, column = assignment.partition("=")
        if not (target and equals and column):
            raise JrhError(f"--column: write TARGET=COLUMN, such as response=full_text; got '{assignment}'")
        columns_by_target[target] = column
    return columns_by_target


def _plain(text: str) -> str:
    """Replace control characters: item ids and labels come from a file and could control the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
