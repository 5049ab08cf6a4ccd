"""Read verdicts about systems from a run or a table: which systems, what a verdict says of them, what people say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import JrhError, Json, MetricContext, ScaleKind, Task, open_report
from jrh.text import clean_text, count_noun
from jrh_interchange import (  # fmt: skip
    MOST_ROWS,
    PAIR,
    TextColumn,
    check_columns,
    fold_label,
    guess_format,
    missing_texts,
    read_table,
    winner_meant,
)
from jrh_measuring import Codes, Floats, Mask, Trials, covariate_values, is_named, read_trials, served_note
from jrh_measuring.covariates import label_values
from numpy.typing import NDArray

from jrh_decide.decisions import code_texts, describe_run, quote_names, refuse_twice
from jrh_decide.ranking import Contests
from jrh_decide.stored import run_directory

Texts: TypeAlias = NDArray[Any]

_WINS: Final[Mapping[str | None, float]] = {"A": 1.0, "B": 0.0, "tie": 0.5}
_NUMBER: Final = re.compile(r"[-+]?\d{1,15}(\.\d{1,15})?")
_LEFT_OUT: Final = "Left out: {} without a system, or of one system twice."
_ALONE: Final = "Rows count as independent: name what they share, such as the question, with --group."


@frozen(kw_only=True)
class RankQuestion:
    """What to rank, and where the verdicts are."""

    source: Path
    systems: tuple[str, ...] = ()
    """Columns of a table, two for comparisons; of a run at most one, the covariate."""
    judges: tuple[str, ...] = ()
    humans: tuple[str, ...] = ()
    group: str | None = None
    positive: str | None = None
    missing: tuple[str, ...] = ()
    task: str = ""
    resamples: int = 2000
    seed: int = 1


@frozen(kw_only=True, eq=False)
class SystemVerdicts:
    """What judges and people say about systems."""

    judges: Mapping[str, Contests]
    positive: str
    """The label that scores 1, of two; empty for other scales."""
    notes: tuple[str, ...]
    simulated: tuple[str, ...] = ()


def read_system_verdicts(question: RankQuestion) -> SystemVerdicts:
    """Read a table, or a stored run.

    Raises:
        JrhError: verdicts name no system, or a column is not what it is taken for.
    """
    if question.source.is_file() and question.source.suffix.lower() not in (".yaml", ".yml"):
        return _read_table(question)
    return _read_run(question, run_directory(question.source))


def _read_run(question: RankQuestion, directory: Path) -> SystemVerdicts:
    if question.humans or question.group or question.positive or question.missing or len(question.systems) > 1:
        raise JrhError("--human, --group, --positive, --missing and two --system belong to a table, not to a run")
    with open_report(directory) as report:
        records, tasks = report.records, {summary.task.name: summary.task for summary in report.tasks}
        known, simulated, served, unfinished = report.judges, report.simulated, report.served, report.incomplete
    refuse_twice("judge", question.judges)
    judges, task = question.judges or known, tasks.get(question.task or (*tasks, "")[0])
    if unknown := [name for name in judges if name not in known]:
        raise JrhError(f"the run has no judge '{clean_text(unknown[0])}'; its judges: {quote_names(known)}")
    if task is None or (len(tasks) > 1 and not question.task):
        raise JrhError(f"pass --task, one of {quote_names(tasks)}: systems are ranked within one task")
    trials = read_trials(records, MetricContext(tasks=tasks))
    column, name = trials.column("covariates"), (*question.systems, "system")[0]
    compared, facts = task.scale.kind is ScaleKind.PAIRWISE, covariate_values(trials)
    sides = task.scale.options[:2] if compared else ("", "")
    stated = np.array([[_system(fact.get(name), side) for side in sides] for fact in facts], dtype=object)
    if not stated.all(axis=1).any():
        others = sorted({key for fact in facts for key in fact} - {"length"})
        raise JrhError(
            f"no item names its system: declare `covariates: [{clean_text(name)}]` under `data`"
            f"{f', from columns {clean_text(name)}_a and {clean_text(name)}_b' if compared else ''}"
            f"{f'; or pass --system, one of {quote_names(others)}' if others else ''}"
        )
    value, positive = _values(trials, task)
    asked = is_named(trials.task, task.name) & np.logical_or.reduce([is_named(trials.judge, name) for name in judges])
    asked &= trials.reference | is_named(trials.expectation, "same")
    rows = np.flatnonzero(asked)
    pairs = stated[column.codes[rows]]
    used = _are_ranked(pairs, compared=compared)
    left = len(np.unique(trials.item.codes[rows[~used]]))
    rows = rows[used]
    tests = np.where(trials.reference[rows], "", np.array(trials.written_test.names)[trials.written_test.codes[rows]])
    values, people, item = {"": value[trials.label[rows]]}, value[trials.gold[rows]], trials.item.codes[rows]
    cluster = trials.cluster.codes[rows]
    every = _contests(pairs[used], values, people, cluster, compared=compared, item=item, test=tests)[""]
    notes = describe_run(trials, rows, unfinished=unfinished, served=served_note(served, judges))
    return SystemVerdicts(
        judges={name: every.take(is_named(trials.judge, name)[rows]) for name in judges},
        positive=positive,
        notes=(*notes, _LEFT_OUT.format(count_noun(left, "item"))) if left else notes,
        simulated=tuple(sorted(simulated & set(judges))),
    )


def _system(value: Json, option: str) -> str:
    """Return the system of an option, or of a response; empty where none is stated."""
    if option:
        value = value.get(option) if isinstance(value, Mapping) else None
    return "" if value is None or isinstance(value, Mapping) else str(value).strip()


def _are_ranked(pairs: Texts, *, compared: bool) -> Mask:
    """Return which rows name their systems; a system says nothing about others when it meets itself."""
    return np.asarray(pairs.all(axis=1).astype(np.bool_) & ((pairs[:, 0] != pairs[:, 1]) | (not compared)))


def _contests(
    pairs: Texts, values: Mapping[str, Floats], people: Floats, cluster: Codes, **known: Any
) -> dict[str, Contests]:
    """Return the verdicts of every name; two systems are one pair, whichever is named first."""
    names, codes = np.unique(pairs, return_inverse=True)
    first, second = np.sort(codes.reshape(-1, 2), axis=1).T
    turned = codes.reshape(-1, 2)[:, 0] > first
    named = {"systems": tuple(names), "first": first, "second": second, "cluster": cluster, **known}
    people, *given = (np.where(turned, 1 - part, part) for part in (people, *values.values()))
    return {name: Contests(value=value, people=people, **named) for name, value in zip(values, given, strict=True)}


def _values(trials: Trials, task: Task) -> tuple[Floats, str]:
    """Return what every label counts, NaN for none, and the label that counts 1 of two."""
    scale, values = task.scale, label_values(trials, task)
    if values.shape[1] > 1 + (scale.kind is ScaleKind.PAIRWISE):
        raise JrhError(
            f"task '{clean_text(task.name)}' compares more than two options, or has labels without an order, of which "
            "none counts more than another; `positive: LABEL` in its scale names one that does"
        )
    start = int(scale.labels[0]) if scale.ordered and _NUMBER.fullmatch(scale.labels[0]) else 0
    return values[:, 0] + start, "" if scale.ordered else scale.positive_label or ""


def _read_table(question: RankQuestion) -> SystemVerdicts:
    if not question.judges or len(question.systems) not in (1, 2):
        raise JrhError(
            f"'{question.source}' is a table; name its columns: --judge COLUMN, and --system COLUMN, twice where "
            "verdicts compare two systems"
        )
    if question.positive and len(question.systems) > 1:
        raise JrhError("--positive is a label of one system; verdicts that compare two systems say which one wins")
    kind, delimiter = guess_format(question.source)
    settings = {"delimiter": delimiter} if kind == "csv" else {}
    table = read_table(question.source, str(question.source), kind, most=MOST_ROWS, **settings)
    named = {"--system": question.systems, "--judge": question.judges, "--human": question.humans}
    named["--group"] = (question.group,) if question.group else ()
    columns = [(option, name) for option, names in named.items() for name in names]
    refuse_twice("column", (*question.judges, *question.humans))
    check_columns(columns, tuple(dict.fromkeys(name for row in table for name in row.values)))
    ends, compared = (question.systems[0], question.systems[-1]), len(question.systems) > 1
    pairs = np.array([[row[name].strip() for name in ends] for row in table], dtype=object).reshape(-1, 2)
    used = _are_ranked(pairs, compared=compared)
    if not used.any():
        raise JrhError("no row names its systems; look at the columns named with --system")
    rows, pairs = [table[at] for at in np.flatnonzero(used)], pairs[used]
    texts = {name: [row[name] for row in rows] for name in (*question.judges, *question.humans)}
    worth = _meanings(question, texts)
    read = {name: _read_column(name, texts[name], pairs, worth) for name in texts}
    labels = np.array([read[name] for name in question.humans] or [np.full(len(rows), np.nan)])
    number = (~np.isnan(labels)).sum(axis=0)
    # The mean of all people: where they are divided, that is what is known.
    people = np.where(number > 0, np.nansum(labels, axis=0) / np.maximum(number, 1), np.nan)
    # Equal rows are copies, and copies are one observation.
    alone = ((row[question.group].strip() if question.group else "", str(sorted(row.values.items()))) for row in rows)
    group = code_texts(shared or own for shared, own in alone)
    item, test = np.arange(len(rows)), np.full(len(rows), "")
    left = [_LEFT_OUT.format(count_noun(len(table) - len(rows), "row"))] if len(rows) < len(table) else []
    notes = (*left, *_unscored(question, texts, worth), *([] if question.group else [_ALONE]))
    values = {name: read[name] for name in question.judges}
    judges = _contests(pairs, values, people, group.codes, compared=compared, item=item, test=test)
    return SystemVerdicts(judges=judges, positive=question.positive or "", notes=notes)


def _meanings(question: RankQuestion, texts: Mapping[str, Sequence[str]]) -> Callable[..., float | None]:
    """Return what tells what a text counts in a row with two systems: NaN for no verdict, None for what is unknown."""
    sources = question.humans, question.judges
    human, judged = (Counter(text for name in names for text in texts[name]) for names in sources)
    gone = {"", *map(fold_label, missing_texts(judged, human, question.missing))}
    sides = {end: TextColumn(name=name, texts=()) for end, name in zip(PAIR, question.systems, strict=False)}
    if len(sides) > 1 and {fold_label(text) for text in (*human, *judged)} - gone == {"0", "1"}:
        raise JrhError("verdicts 0 and 1: does 0 mean a tie, or that the second system wins? Write A, B and tie")

    @cache
    def worth(text: str, first: str, second: str) -> float | None:
        folded = fold_label(text)
        if folded in gone:
            return float("nan")
        if len(sides) > 1:
            meant, own = _WINS.get(winner_meant(text, sides)), {first: 1.0, second: 0.0}.get(text.strip())
            if None not in (meant, own) and meant != own:
                raise JrhError(
                    f"'{clean_text(text, 40)}' names a system, and the other side of the comparison; rename it"
                )
            return own if meant is None else meant
        if question.positive:
            return float(folded == fold_label(question.positive))
        return float(folded) if _NUMBER.fullmatch(folded) else None

    return worth


def _unscored(
    question: RankQuestion, texts: Mapping[str, Sequence[str]], worth: Callable[..., float | None]
) -> list[str]:
    """Return a note of the labels that score 0: an error message of a judge would be one of them."""
    if not question.positive:
        return []
    labels = {fold_label(text): text.strip() for column in texts.values() for text in column}
    zero = [text for text in labels.values() if worth(text, "", "") == 0]
    if fold_label(question.positive) not in labels:
        raise JrhError(f"no label is '{clean_text(question.positive, 40)}' (--positive); labels: {quote_names(zero)}")
    return [f"Labels that score 0: {quote_names(zero)}; --missing names those that mean no verdict."] if zero else []


def _read_column(name: str, texts: Sequence[str], pairs: Texts, worth: Callable[..., float | None]) -> Floats:
    values = [worth(text, *pair) for text, pair in zip(texts, pairs, strict=True)]
    if strange := Counter(text for text, value in zip(texts, values, strict=True) if value is None):
        where = f"column '{clean_text(name)}', {count_noun(strange.total(), 'row')}"
        raise JrhError(
            f"{where}: {quote_names(strange)}. Write A, B, tie or the system that wins; scores are numbers, or name "
            "the label that scores 1 with --positive. Name texts that mean no verdict with --missing"
        )
    return np.array(values, dtype=np.float64)
