"""`jrh audit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import click
from jrh import Item, JrhError, Mode, Task, read_items
from jrh.cli.shared_options import plugins_option, typed_words
from jrh.text import clean_text, say, say_next
from jrh_authoring import read_judge_models
from jrh_interchange import (
    PAIR,
    PAIR_COLUMNS,
    PairedPrompts,
    Row,
    check_judged,
    choose_columns,
    guess_delimiter,
    infer_scale,
    paired_task,
    read_columns,
    read_rows,
    read_table,
)
from jrh_measuring import same_families

from jrh_audit.checks import findings
from jrh_audit.facts import Facts
from jrh_audit.options import AuditOptions
from jrh_audit.size import half_width, power_of, size_sentence, sizes

_FIELDS: Final = ("request", "response", "response_a", "response_b", "transcript")
_TARGETS: Final = ("id", *_FIELDS, "label", "stratum", "group")
_KINDS: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}


def read_data(path: Path, columns: Mapping[str, str], scale: str | None) -> tuple[tuple[Task, tuple[Item, ...]], ...]:
    """Read a table as one task, or one per task type of a paired-prompt file.

    Args:
        path: the file.
        columns: target -> name of its column in the file, empty for none; the others are guessed, as by `jrh init`.
        scale: `1-6` or `YES,NO`; None: inferred from the labels of the file.

    Raises:
        JrhError: it cannot be read, or has no column to judge.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise JrhError(
            f"{path.name}: the audit reads {', '.join(_KINDS)} files, and suites (.yaml) with data of any kind"
        )
    settings: dict[str, Any] = {"delimiter": guess_delimiter(path)} if kind == "csv" else {}
    rows = read_table(path, path.name, kind, **settings)
    # One file of paired prompts holds several tasks, each with a scale of its own.
    if all(columns.get(column, column) in rows[0].values for column in PAIR_COLUMNS):
        rows = read_rows(path, path.name, columns, tuple(columns))
        types = dict.fromkeys(row["task_type"] for row in rows)
        return tuple(_load_pairs(path, columns, scale, rows, task_type) for task_type in types)
    known = read_columns(rows)
    # As a run does, a column of a target's name is that target, also where the guess would doubt it.
    named = {column.name: column.name for column in known if column.name in _TARGETS} | dict(columns)
    chosen = choose_columns(known, named)
    check_judged(path, known, chosen, named)
    if guessed := [f"{target} = {column.name}" for target, column in chosen.items() if target not in named]:
        say(f"Columns: {clean_text(', '.join(guessed))}. Wrong? --column TARGET=NAME; TARGET= for none.")
    parts = [{target: row[column.name] for target, column in chosen.items()} for row in rows]
    mode = Mode.PAIRWISE if PAIR[0] in chosen else Mode.TRANSCRIPT if "transcript" in chosen else Mode.POINTWISE
    golds = [part.get("label", "").strip() or None for part in parts]
    task = Task(name=path.stem, scale=infer_scale(scale, golds, mode, path.name), mode=mode)
    places = [f"{path.name}:{row.line}" for row in rows]
    return ((task, tuple(_item(part, gold, place) for part, gold, place in zip(parts, golds, places, strict=True))),)


def _load_pairs(
    path: Path, columns: Mapping[str, str], scale: str | None, rows: Sequence[Row], task_type: str
) -> tuple[Task, tuple[Item, ...]]:
    task = paired_task([row for row in rows if row["task_type"] == task_type], scale, path)
    source = PairedPrompts(path=path, shown=path.name, task=task, task_type=task_type, columns=columns)
    return task, tuple(source.read())


def _item(part: Mapping[str, str], gold: str | None, place: str) -> Item:
    fields = {name: part[name] for name in _FIELDS if name in part}
    return Item(
        id=part.get("id") or f"row-{place.rpartition(':')[2]}",
        fields={"request": "", **fields},
        gold=gold,
        stratum=part.get("stratum", ""),
        group=part.get("group", ""),
        origin=place,
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

    TARGET is a suite (.yaml, .yml, .json), or a table (csv, tsv, jsonl, parquet, xlsx), whose columns are guessed.
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
        if not (target and equals):
            raise JrhError(f"--column: write TARGET=COLUMN, such as response=full_text; got '{assignment}'")
        columns_by_target[target] = column
    return columns_by_target


def _plain(text: str) -> str:
    """Replace control characters: item ids and labels come from a file and could control the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
