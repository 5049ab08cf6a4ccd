"""Read the exports of other tools: a tool describes where the parts of its entries are, and one reader takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

from attrs import Factory, evolve, frozen
from jrh import JrhError, Json, Status
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import OUTPUT, ExportRow, ScoreOptions, imported_scores, read_objects, value_at

from jrh_import.exports.values import find, labels_in, majority, mappings, number, text
from jrh_import.targets import NUMBERS

Entry: TypeAlias = Mapping[str, Any]
Entries: TypeAlias = list[tuple[str, Entry]]
"""Entries with their places, such as `log.jsonl:12`."""
Part: TypeAlias = str | Callable[[Entry], Any]
"""Where a part of a score is, for `find`, or how it is taken. The entry that holds the score is its key `^`."""
PEOPLE: Final = "people"
"""The gold label that people gave under the metric's own name."""
_LONGEST_DETAIL: Final = 200


@frozen(kw_only=True)
class Kind:
    """One kind of entries, and where the parts of a score are in them."""

    keys: tuple[str, ...]
    """What every entry of the kind has."""
    item: Part
    value: Part
    id: Part = ""
    """What tells it from a rerun; empty: nothing does."""
    scores: str = ""
    """Where the list of an entry's scores is; empty: the entry is one."""
    metric: Part = ""
    """The score's name; empty: the value is the answer of the evaluated model, where that is the judge."""
    judge: Part = ""
    usual_judge: str = ""
    passed: str = ""
    error: Part = ""
    """Why there is no score; empty: none is known to have failed."""
    failed: Status = Status.PROVIDER_ERROR
    people: tuple[str, frozenset[str]] | None = None
    """Where a score says who gave it, and what it says of people."""
    golds: Mapping[str, str] = Factory(dict)
    """Name -> where labels by people may be."""
    default_gold: str = ""
    fields: Mapping[str, Part] = Factory(dict)
    """Further arguments of `imported_record`."""
    no_item: str = "the score '{}' names no item"
    unmapped: str = ""

    def fits(self, entries: Entries) -> bool:
        """Return whether all entries have the keys."""
        return all(find(entry, key) is not None for _, entry in entries for key in self.keys)

    def rows(self, entries: Entries, options: ScoreOptions) -> Iterator[tuple[bool, ExportRow]]:
        """Yield the scores, each with whether people gave it."""
        for place, entry in entries:
            for score in mappings(find(entry, self.scores)) if self.scores else (entry,):
                yield self._row(place, {**score, "^": entry}, options)

    def _row(self, place: str, score: Entry, options: ScoreOptions) -> tuple[bool, ExportRow]:
        metric = (text(take(score, self.metric)) or "metric") if self.metric else options.metric or OUTPUT
        item, error = text(take(score, self.item)), text(take(score, self.error))
        if not item:
            raise JrhError(f"{place}: {self.no_item.format(metric[:80])}")
        value, passed = take(score, self.value), take(score, self.passed)
        value = value if self.metric else value_at(value, *(options.output or ()))
        fields = {name: _field(name, take(score, part)) for name, part in self.fields.items()}
        if error:
            fields |= {"status": self.failed, "detail": error[:_LONGEST_DETAIL]}
        golds = {
            name: label for start, part in self.golds.items() for name, label in labels_in(find(score, part), start)
        }
        golds.pop(f"scores.{metric}", None)  # the score itself
        row = ExportRow(
            place=place,
            id=text(take(score, self.id)),
            item=item,
            metric=metric,
            # A failed grader often leaves a score of 0.
            value=value if not error and isinstance(value, bool | int | float | str) else None,
            passed=passed if isinstance(passed, bool) else None,
            judge=text(take(score, self.judge)) or self.usual_judge,
            golds=golds,
            default_gold=self.default_gold,
            fields={name: content for name, content in fields.items() if content is not None},
        )
        return self.people is not None and text(find(score, self.people[0])).upper() in self.people[1], row


def take(score: Entry, part: Part) -> Any:
    """Return a part of a score; None where there is none."""
    return part(score) if callable(part) else find(score, part) if part else None


def _field(name: str, value: Any) -> Any:
    if name in NUMBERS:
        return number(value)
    return value if isinstance(value, Status) else text(value) or None


class Export:
    """Read the exports of one tool; subclasses describe them."""

    lists: ClassVar[tuple[str, ...]] = ()
    """Keys of a document that may hold the list of entries."""
    kinds: ClassVar[tuple[Kind, ...]]
    """The first whose keys all entries have is read; of an answer where that is asked for."""
    wrong: ClassVar[str]
    """What is said of a file of no kind."""
    unmapped: ClassVar[tuple[str, ...]]

    def __init__(self, options: ScoreOptions) -> None:
        """Keep the options."""
        self.options = options
        self.notes: list[str] = []
        """How the file was read, for readers of the report."""
        self.left: list[str] = []
        """What of this file is not read."""

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of one metric, or the outputs of the evaluated model."""
        pages = [
            (place, entry)
            for place, page in read_objects(path, *self.lists)
            for entry in (mappings(page["data"]) if isinstance(page.get("data"), list) else [page])
        ]
        entries = self.entries(pages)
        fitting = [kind for kind in self.kinds if kind.fits(entries)]
        if not fitting:
            raise OtherToolError(f"'{path}' {self.wrong}")
        answers = self.options.output is not None
        # Some kinds hold scores and answers alike; `output` asks for the answers.
        kind = next((kind for kind in fitting if (not kind.metric) == answers), fitting[0])
        rows = self._verdicts(kind, kind.rows(entries, self.options))
        unmapped = (*self.left, *filter(None, [kind.unmapped]), *self.unmapped)
        return imported_scores(rows, self.options, str(path), notes=self.notes, unmapped=unmapped)

    def entries(self, found: Entries) -> Entries:
        """Return the entries of a file's objects; subclasses rearrange them and note what they leave out."""
        return found

    def _verdicts(self, kind: Kind, rows: Iterable[tuple[bool, ExportRow]]) -> Sequence[ExportRow]:
        """Return the verdicts; what people said about the same thing under the same name is their gold label."""
        if kind.people is None:
            return [row for _, row in rows]
        labels: dict[str, dict[str, list[Json]]] = {}
        verdicts: list[ExportRow] = []
        ids: set[str] = set()
        copies = 0
        for by_people, row in rows:
            # Copies of annotations would count as further people.
            if row.id and row.id in ids:
                copies += 1
            elif by_people:
                labels.setdefault(row.item, {}).setdefault(row.metric, []).append(row.value)
            else:
                verdicts.append(evolve(row, id=""))
            ids.add(row.id)
        self._note_people(labels, verdicts, copies)
        for place, row in enumerate(verdicts):
            # Several people about one output: the majority is the label, a tie is none.
            golds = {name: majority(values) for name, values in labels.get(row.item, {}).items()}
            gold = golds.pop(row.metric, None)
            further = {f"{PEOPLE}.{name}": label for name, label in golds.items()}
            verdicts[place] = evolve(row, default_gold=PEOPLE, golds={**row.golds, PEOPLE: gold, **further})
        return verdicts

    def _note_people(self, labels: Mapping[str, Mapping[str, list[Json]]], rows: list[ExportRow], copies: int) -> None:
        if copies:
            self.notes.append(f"Annotations with the id of an earlier one: {copies}; they are left out.")
        judged = {(row.item, row.metric) for row in rows}
        for metric in dict.fromkeys(row.metric for row in rows):
            lost = sum(metric in names and (item, metric) not in judged for item, names in labels.items())
            if lost:
                named = f"Outputs with a label by people and no verdict of '{metric}'"
                self.notes.append(f"{named}: {lost}; they are left out.")
        several = [values for names in labels.values() for values in names.values() if len(values) > 1]
        if several:
            ties = sum(majority(values) is None for values in several)
            told_twice = f"Outputs labelled several times: {len(several)}"
            self.notes.append(f"{told_twice}; the majority is the gold label, {ties} ties have none.")
