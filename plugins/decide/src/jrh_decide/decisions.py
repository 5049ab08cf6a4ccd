"""Read what a judge, or a panel, would decide of every item, how sure it is, and whether people agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from attrs import Factory, evolve, frozen
from jrh import JrhError, MetricContext, Status, open_report
from jrh.text import clean_text, count_noun
from jrh_interchange import MOST_ROWS, NULL_TEXTS, Row, check_columns, guess_format, missing_texts, read_table
from jrh_interchange import fold_label as fold
from jrh_measuring import Coded, Codes, Floats, Trials, combine_codes, count_missing_by_status, is_named, read_trials
from jrh_measuring.served_models import served_note

from jrh_decide.stored import run_directory

STATED: Final = "stated"
REPEATS: Final = "repeats"
PANEL: Final = "panel"
_CONTESTED: Final = -2
"""People labelled the item, and no label has most of them."""
_SHOWN: Final = 8
UNFINISHED: Final = "The run is not finished: only its verdicts so far count."


@frozen(kw_only=True)
class Question:
    """What to decide alone, and where the verdicts are."""

    source: Path
    judges: tuple[str, ...] = ()
    humans: tuple[str, ...] = ()
    """Columns of a table with the labels of people; none: the source is a run."""
    confidence: str | None = None
    item: str | None = None
    group: str | None = None
    by: str | None = None
    missing: tuple[str, ...] = ()
    cascade: bool = False
    """Whether every judge decides for itself, in the order of `judges`."""
    error: float = 0.05
    alpha: float = 0.05
    seed: int = 1


@frozen(kw_only=True)
class Basis:
    """What decisions rest on."""

    judges: tuple[str, ...]
    kind: str
    """Where the confidence comes from: `stated`, `repeats` or `panel`."""
    votes: int | None = None
    """Verdicts asked of every item; None: items differ."""
    reasons: Mapping[str, int] = Factory(dict)
    """Why there is no decision -> items."""
    contested: int = 0
    """Items with a decision on whose label people are divided: wrong, whatever the judge decides."""
    notes: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False)
class Votes:
    """Verdicts, one row each, and what is known of their items."""

    judges: tuple[str, ...]
    item: Codes
    label: Codes
    """-1 where it is missing."""
    stated: Floats | None
    """The confidence of each; None: votes are counted."""
    judge: Codes
    """Who gave it, by the place in `judges`."""
    cost: Floats
    """US dollars, NaN where the price is unknown."""
    people: Codes
    """Labels of people, -1 where there is none, shape (items, people)."""
    labels: Sequence[str]
    cluster: Coded
    segment: Coded | None
    notes: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False)
class Decisions:
    """Items with the decision of a judge; arrays have shape (items,)."""

    basis: Basis
    confidence: Floats
    """NaN where the judge cannot decide."""
    wrong: Floats
    """1 where the decision is not the label of people, NaN without a label or a decision."""
    cluster: Coded
    segment: Coded | None = None
    contradicted: Floats | None = None
    """Labels of a person that most others contradict, and all that can be compared, (2, items); None: one person."""


def read_decisions(question: Question) -> Decisions:
    """Read a table, or a stored run.

    Raises:
        JrhError: there are no labels or no confidence, or a column is not what it is taken for.
    """
    return decide(read_votes(question))


def read_votes(question: Question) -> Votes:
    """Read the verdicts of a table, or of a stored run.

    Raises:
        JrhError: there are no labels or no confidence, or a column is not what it is taken for.
    """
    if question.humans:
        return _read_table(question)
    if question.source.is_file() and question.source.suffix.lower() not in (".yaml", ".yml"):
        raise JrhError(f"'{question.source}' is a table; name its columns: --judge COLUMN --human COLUMN")
    if question.item or question.group or question.missing:
        raise JrhError("--item, --group and --missing belong to a table, which has --human; a run knows its items")
    refuse_twice("judge", question.judges)
    return _read_run(question)


def refuse_twice(what: str, names: Iterable[str]) -> None:
    """Refuse a name that is there twice: its verdicts would count for the first place alone, or be compared with it."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise JrhError(f"{what} '{clean_text(twice[0])}' is named twice; name different {what}s")


def decide(votes: Votes) -> Decisions:
    """Return the most common verdict of every item, the confidence in it, and whether people agree.

    Raises:
        JrhError: no item has a label, all have the same, or no confidence tells items apart.
    """
    items, labels = len(votes.people), np.arange(len(votes.labels))
    there = votes.label >= 0
    counts = np.zeros((items, len(labels)))
    np.add.at(counts, (votes.item[there], votes.label[there]), 1)
    verdict, top = majority(counts), counts.max(axis=1)
    asked = np.bincount(votes.item, minlength=items)
    if votes.stated is None:
        # A missing verdict agrees with nothing: it makes a decision less sure.
        confidence = top / np.maximum(asked, 1)
    else:
        chosen = votes.label == verdict[votes.item]
        confidence = np.bincount(votes.item[chosen], votes.stated[chosen], items) / np.maximum(top, 1)
    confidence = np.where(verdict >= 0, confidence, np.nan)
    decided = ~np.isnan(confidence)
    people = (votes.people[:, :, None] == labels).astype(np.int64)
    truth = majority(people.sum(axis=1))
    _check_labels(truth, votes.labels)
    others = np.stack([majority(people.sum(axis=1) - people[:, at]) for at in range(people.shape[1])], axis=1)
    both = (votes.people >= 0) & (others >= 0)
    contradicted = np.stack([(both & (others != votes.people)).sum(axis=1), both.sum(axis=1)]).astype(np.float64)
    reasons = {"no verdict": verdict == -1, "tied verdicts": verdict == _CONTESTED}
    reasons["no confidence"] = (verdict >= 0) & ~decided
    basis = Basis(
        judges=votes.judges, kind=STATED if votes.stated is not None else PANEL if len(votes.judges) > 1 else REPEATS,
        votes=int(asked[0]) if np.ptp(asked) == 0 else None,
        reasons={name: int(where.sum()) for name, where in reasons.items() if where.any()},
        contested=int((decided & (truth == _CONTESTED)).sum()), notes=votes.notes, simulated=votes.simulated,
    )  # fmt: skip
    return Decisions(
        basis=basis, confidence=confidence, wrong=np.where(decided & (truth != -1), truth != verdict, np.nan),
        cluster=votes.cluster, segment=votes.segment, contradicted=contradicted if both.any() else None,
    )  # fmt: skip


def majority(counts: Floats | Codes) -> Codes:
    """Return the most common label, -1 without any, -2 where several are."""
    top = counts.max(axis=1)
    tied = (counts == top[:, None]).sum(axis=1) > 1
    return np.where(top == 0, -1, np.where(tied, _CONTESTED, counts.argmax(axis=1)))


def _check_labels(truth: Codes, names: Sequence[str]) -> None:
    used = np.unique(truth[truth != -1])
    if not len(used):
        raise JrhError("no item has a label of people; label some items first, drawn at random")
    if len(used) == 1 and used[0] >= 0:
        raise JrhError(
            f"all {(truth != -1).sum():,} labels are '{clean_text(names[used[0]], 40)}': a judge that always says so "
            "would seem to be right. Label items of every kind, drawn at random"
        )


def _check_confidence(values: Floats, where: str) -> None:
    if np.isnan(values).all():
        raise JrhError(f"{where} has no confidence for any verdict")
    outside = values[(values < 0) | (values > 1)]
    if len(outside):
        raise JrhError(
            f"{where}: {count_noun(len(outside), 'confidence')} outside 0 to 1, such as {outside[0]:g}; "
            "divide percentages by 100"
        )


def _read_table(question: Question) -> Votes:
    kind, delimiter = guess_format(question.source)
    settings = {"delimiter": delimiter} if kind == "csv" else {}
    rows = read_table(question.source, str(question.source), kind, most=MOST_ROWS, **settings)
    _check_columns(question, tuple(dict.fromkeys(name for row in rows for name in row.values)))
    if question.item and (blank := [row.place for row in rows if not row[question.item].strip()]):
        raise JrhError(f"{blank[0]}: {count_noun(len(blank), 'row')} without an item in '{clean_text(question.item)}'")
    item = code_texts(row[question.item] if question.item else str(at) for at, row in enumerate(rows))
    items, judges = len(item.names), question.judges
    if question.confidence is None and len(rows) * (1 if question.cascade else len(judges)) == items:
        others = "" if question.cascade else "name a column with --confidence, name several judges, or "
        raise JrhError(
            f"nothing tells how sure {'each' if question.cascade else 'the'} judge is: {others}name the item with "
            "--item where a judge is asked several times"
        )
    human, judged = (
        Counter(row[name] for row in rows for name in names if row[name].strip()) for names in (question.humans, judges)
    )
    gone = {fold(text) for text in missing_texts(judged, human, question.missing)}
    labels = {fold(text): text.strip() for text in human}
    used = {fold(text): text.strip() for text in judged if fold(text) not in gone}
    strange = {name: text for name, text in used.items() if name not in labels}
    if labels and used and len(strange) == len(used):
        raise JrhError(
            f"no label in common: people use {quote_names(labels.values())}, the judge "
            f"{quote_names(strange.values())}; write the verdicts as people write their labels"
        )
    code = {name: at for at, name in enumerate((*labels, *strange))}
    _, first = np.unique(item.codes, return_index=True)
    group, by = (
        None if column is None else code_texts(rows[at][column].strip() or alone.format(at) for at in first)
        for column, alone in ((question.group, "\n{}"), (question.by, ""))
    )
    # What means no verdict of a judge may be a label of people.
    verdicts = code | dict.fromkeys(gone, -1)
    label = np.array([verdicts.get(fold(row[name]), -1) for row in rows for name in judges], dtype=np.int64)
    return Votes(
        judges=judges,
        item=np.repeat(item.codes, len(judges)),
        label=label,
        stated=None if question.confidence is None else _stated(question.confidence, rows, label),
        judge=np.tile(np.arange(len(judges)), len(rows)),
        cost=np.full(len(label), np.nan),
        people=_labels_of_people(question, rows, item, code),
        labels=(*labels.values(), *strange.values()),
        cluster=group or Coded(codes=np.arange(items), names=item.names),
        segment=by,
        notes=(f"No person uses {quote_names(strange.values())}: wrong, or missing with --missing.",)
        if strange
        else (),
    )


def _check_columns(question: Question, columns: Sequence[str]) -> None:
    if not question.judges:
        raise JrhError("name the column with the judge's verdicts: --judge COLUMN")
    one = {"--confidence": question.confidence, "--item": question.item, "--group": question.group, "--by": question.by}
    several = [("--judge", name) for name in question.judges] + [("--human", name) for name in question.humans]
    check_columns([*several, *((option, name) for option, name in one.items() if name is not None)], columns)
    refuse_twice("column", (name for _, name in several))
    if question.confidence is not None and len(question.judges) > 1:
        source = "each judge's repeats (--item)" if question.cascade else "a panel"
        raise JrhError(f"--confidence belongs to one judge; leave it out for the agreement of {source}")


def code_texts(texts: Iterable[str]) -> Coded:
    """Code texts in the order in which they first appear."""
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.int64)
    return Coded(codes=codes, names=tuple(place))


def quote_names(names: Iterable[str]) -> str:
    """Return names in quotes, the first of many."""
    shown = [f"'{clean_text(name, 40)}'" for name in names]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


def _labels_of_people(question: Question, rows: Sequence[Row], item: Coded, code: Mapping[str, int]) -> Codes:
    """Return the labels of every item; its rows may repeat them, and must not contradict each other."""
    people = np.full((len(item.names), len(question.humans)), -1, dtype=np.int64)
    for person, name in enumerate(question.humans):
        for of, row in zip(item.codes.tolist(), rows, strict=True):
            label = code[fold(row[name])] if row[name].strip() else -1
            if min(people[of, person], label) >= 0 and people[of, person] != label:
                raise JrhError(
                    f"{row.place}: item '{clean_text(item.names[of], 60)}' has another label in '{clean_text(name)}' "
                    "than in an earlier row; give every person a column, and name each with --human"
                )
            people[of, person] = max(people[of, person], label)
    return people


def _stated(name: str, rows: Sequence[Row], label: Codes) -> Floats:
    texts = ["nan" if fold(row[name]) in ("", *NULL_TEXTS) else row[name] for row in rows]
    try:
        values = np.array([float(text) for text in texts])
    except ValueError as error:
        raise JrhError(f"column '{clean_text(name)}' is not a probability: {clean_text(str(error))}") from None
    _check_confidence(np.where(label >= 0, values, np.nan), f"column '{clean_text(name)}'")
    return values


def _read_run(question: Question) -> Votes:
    with open_report(run_directory(question.source)) as report:
        records, tasks = report.records, {summary.task.name: summary.task for summary in report.tasks}
        known, simulated, served, unfinished = report.judges, report.simulated, report.served, report.incomplete
    judges, by = question.judges or known, question.by
    if unknown := [name for name in judges if name not in known]:
        raise JrhError(f"the run has no judge '{clean_text(unknown[0])}'; its judges: {quote_names(known)}")
    if not question.judges and len(judges) > 1:
        raise JrhError(f"the run has the judges {quote_names(known)}; pass --judge for one, or for each of a panel")
    several = len(judges) > 1 and not question.cascade
    if question.confidence is not None and (question.confidence != "probability" or several):
        raise JrhError("a run has one stated confidence, of one judge: --confidence probability")
    if by is not None and by not in records.columns:
        raise JrhError(f"there is no column '{clean_text(by)}' (--by). Columns: {', '.join(records.columns)}")
    trials = read_trials(records, MetricContext(tasks=tasks))
    chosen = np.logical_or.reduce([is_named(trials.judge, name) for name in judges])
    rows = np.flatnonzero(trials.reference & chosen)
    items = combine_codes(trials.task.codes, trials.item.codes)[rows]
    _, first, item = np.unique(items, return_index=True, return_inverse=True)
    of_item, label = rows[first], trials.label[rows].astype(np.int64)
    stated = None
    if question.confidence is not None:
        stated = records.number("probability")[trials.place[rows]]
        _check_confidence(np.where(label >= 0, stated, np.nan), "the run")
    elif len(rows) == len(first) * (len(judges) if question.cascade else 1):
        raise JrhError(
            "nothing tells how sure the judge is: it was asked once. Write `reference: {repeats: 5}` in the suite, "
            "pass --confidence probability if it states one, or name several judges"
        )
    segment, given = trials.column(by or ""), trials.judge.codes[rows]
    cost = records.number("cost")[trials.place[rows]]
    # What failed in transit was not charged, which is not the same as an unknown price.
    transient = {status.value for status in Status if status.transient}
    failed = [code for code, name in enumerate(trials.status.names) if name in transient]
    cost = np.where(np.isnan(cost) & np.isin(trials.status.codes[rows], failed), 0.0, cost)
    place = np.array([judges.index(name) if name in judges else -1 for name in trials.judge.names])
    return Votes(
        judges=judges, item=item, label=label, stated=stated,
        judge=place[given], cost=cost, people=trials.gold[of_item].astype(np.int64)[:, None],
        labels=trials.labels, cluster=evolve(trials.cluster, codes=trials.cluster.codes[of_item]),
        segment=None if by is None else evolve(segment, codes=segment.codes[of_item]),
        notes=describe_run(trials, rows, unfinished=unfinished, served=served_note(served, judges)),
        simulated=tuple(sorted(simulated & set(judges))),
    )  # fmt: skip


def describe_run(trials: Trials, rows: Codes, *, unfinished: bool, served: str) -> tuple[str, ...]:
    """Return what an answer from some trials of a run rests on: not finished, labels of models, missing, served."""
    lost = count_missing_by_status(trials, rows)
    sources = sorted(set(trials.column("gold_source").names) - {"", "people"})
    notes = {
        UNFINISHED: unfinished,
        f"Some labels come from {quote_names(sources)}, not from people.": sources,
        f"Missing verdicts: {', '.join(f'{name} {count}' for name, count in lost.items())}.": lost,
        served: served,
    }
    return tuple(note for note, there in notes.items() if there)
