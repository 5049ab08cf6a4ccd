"""The source `response-sets`: one file with several responses to each request serves tasks of every kind."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from string import ascii_uppercase
from typing import Final

from attrs import frozen
from jrh import BuildContext, Item, JrhError, Json, Mode, Task, derive_seed
from jrh.text import count_noun
from jrh.values import option_field
from jrh_interchange import Problems, Row, read_rows

from jrh_consistency.naming import BETWEEN, JOINT, Kind, Named, kind_of, names_orders, order_of, ranking_size
from jrh_consistency.options import COLUMNS, ResponseSetsOptions

_NEEDED: Final = ("request_id", "response_id", "response")
_LEAST: Final = 2
_LONGEST_ID: Final = 200


@frozen(kw_only=True)
class _Response:
    id: str
    text: str
    worth: float | None
    """Higher is better; None without a gold score or rank."""
    written: str
    """The gold score as the file writes it."""


@frozen(kw_only=True)
class _Set:
    id: str
    request: str
    reference: str
    stratum: str
    line: int
    responses: tuple[_Response, ...]
    """With different texts."""
    alike: int
    """Responses with the text of an earlier one, which no judge can tell apart."""


@frozen(kw_only=True)
class ResponseSets:
    """Reads sets of responses and makes the items that its task asks about."""

    options: ResponseSetsOptions
    task: Task
    kind: Kind

    @classmethod
    def build(cls, options: ResponseSetsOptions, context: BuildContext) -> ResponseSets:
        """Build the source.

        Raises:
            JrhError: the task is about transcripts or criteria, or its scale lists some orders only.
        """
        task = context.task
        if task.mode is Mode.TRANSCRIPT or task.criteria is not None:
            raise JrhError("response-sets: the task cannot have `mode: transcript` or `mode: criteria`")
        if names_orders(task) and not ranking_size(task):
            raise JrhError(
                "response-sets: a scale of orders must list every order, such as six labels for three responses"
            )
        return cls(options=options, task=task, kind=kind_of(task))

    def read(self) -> Iterator[Item]:
        """Yield the items: request by request in the order of the file.

        Raises:
            SuiteError: the file has problems; each with its line.
            JrhError: the file cannot be read, or no request has enough responses.
        """
        sets = self._sets()
        labels = self._labels(sets)
        enough = [group for group in sets if len(group.responses) >= self._size]
        if not enough:
            needs = f"task '{self.task.name}' needs {self._size} with different texts"
            raise JrhError(f"{self._file}: no request has enough responses; {needs}")
        for group in enough:
            yield from self._items(group, labels)

    def remarks(self, items: Sequence[Item]) -> Iterator[str]:
        """Say which sets are sampled and which are left out; `jrh plan` shows it."""
        del items
        sets = self._sets()
        sizes = [len(group.responses) for group in sets]
        most = max(self.options.most, self._size)
        large = sum(size > most for size in sizes)
        of = f"of {len(sets):,} requests"
        if large:
            yield (
                f"{large:,} {of} have more than {most} responses, up to {max(sizes):,}. A random {most} of each are "
                "judged, the same in every task; set `most` to change this"
            )
        small = sum(size < self._size for size in sizes)
        if small:
            yield f"{small:,} {of} have fewer than {self._size} different responses and are left out"
        alike = sum(group.alike for group in sets)
        if alike:
            yield f"{count_noun(alike, 'response')} left out: same text as another response to the request"
        scored = any(response.written for group in sets for response in group.responses)
        if scored and self.kind is Kind.SCORES and not self._labels(sets):
            yield "the column `score` has numbers that are not labels of the scale, so these items have no gold label"

    @property
    def _file(self) -> str:
        """Return the file's name, for messages."""
        return self.options.path.name or str(self.options.path)

    @property
    def _size(self) -> int:
        """Return how many responses an item of the task shows at least; a set of one says nothing in any task."""
        if self.kind is Kind.CHOICES:
            return len(self.task.scale.options)
        return ranking_size(self.task) or _LEAST

    def _sets(self) -> list[_Set]:
        known = {name: self.options.columns.get(name, name) for name in COLUMNS}
        problems = Problems(self._file)
        rows: dict[str, dict[str, Row]] = {}
        for row in read_rows(self.options.path, self._file, known, _NEEDED):
            _check(row, rows, problems)
            rows.setdefault(row["request_id"].strip(), {}).setdefault(row["response_id"].strip(), row)
        sets = [self._set(name, tuple(rows_of_set.items()), problems) for name, rows_of_set in rows.items()]
        problems.raise_any()
        if self.options.requests is None or len(sets) <= self.options.requests:
            return sets
        # The option's seed, not the run's: all tasks about the file have to sample the same requests.
        chance = random.Random(derive_seed(self.options.seed, "requests"))  # noqa: S311
        return [sets[place] for place in sorted(chance.sample(range(len(sets)), self.options.requests))]

    def _set(self, name: str, rows: Sequence[tuple[str, Row]], problems: Problems) -> _Set:
        first = rows[0][1]
        about: dict[str, str] = {}
        for column in ("request", "reference", "stratum"):
            texts = {row[column]: row for _, row in rows if row[column].strip()}
            if len(texts) > 1:
                line = list(texts.values())[1].line
                problems.add(
                    f"request '{name}' has a different {column} on line {next(iter(texts.values())).line}", line=line
                )
            about[column] = next(iter(texts), "")
        distinct: dict[str, _Response] = {}
        for response_id, row in rows:
            # White space does not tell two responses apart, so the later one is left out.
            distinct.setdefault(" ".join(row["response"].split()), _response(response_id, row, problems))
        alike = len(rows) - len(distinct)
        return _Set(id=name, line=first.line, responses=tuple(distinct.values()), alike=alike, **about)

    def _labels(self, found: Sequence[_Set]) -> bool:
        """Tell whether gold scores are labels of the scale: all of them are, or none is used as one."""
        written = [response.written for group in found for response in group.responses if response.written]
        return bool(written) and all(self._label(text) in self.task.scale for text in written)

    def _label(self, written: str) -> str:
        """Return a gold score as a label: `4.0`, as tables of numbers write it, is the level 4."""
        if not written or written in self.task.scale or not float(written).is_integer():
            return written
        return str(int(float(written)))

    def _items(self, own: _Set, labels: bool) -> Iterator[Item]:
        # Drawn by request, so that a request added to the file changes no other.
        chance = random.Random(derive_seed(self.options.seed, "responses", own.id))  # noqa: S311 - a design, no secret
        chosen = own.responses
        if len(chosen) > self.options.most:
            # A list needs as many responses as the scale ranks, whatever `most` says.
            places = set(chance.sample(range(len(chosen)), max(self.options.most, self._size)))
            chosen = tuple(response for place, response in enumerate(chosen) if place in places)
        if self.kind in (Kind.SCORES, Kind.NONE):
            for member in chosen:
                gold = self._label(member.written) if labels else ""
                yield self._item(own, (member,), {"response": member.text}, gold)
        elif self.kind is Kind.PAIRS:
            for pair in combinations(chosen, 2):
                # Which response is A is drawn for each pair, so that position bias does not favour the file's order.
                turned = random.Random(derive_seed(self.options.seed, "pair", own.id, *(member.id for member in pair)))  # noqa: S311
                yield self._comparison_item(own, tuple(turned.sample(pair, 2)))
        else:
            for members in self._lists(own, chosen):
                item_of = self._comparison_item if self.kind is Kind.CHOICES else self._ranking_item
                yield item_of(own, members)

    def _lists(self, own: _Set, chosen: tuple[_Response, ...]) -> Iterator[tuple[_Response, ...]]:
        """Yield distinct lists in random order, as many as asked for or as there are."""
        chance = random.Random(derive_seed(self.options.seed, "lists", self._size, own.id))  # noqa: S311
        lists: dict[tuple[str, ...], tuple[_Response, ...]] = {}
        # Never more lists than there are: the search for a new one would not end.
        while len(lists) < min(self.options.lists, math.perm(len(chosen), self._size)):
            drawn = tuple(chance.sample(chosen, self._size))
            lists.setdefault(tuple(response.id for response in drawn), drawn)
        yield from lists.values()

    def _comparison_item(self, own: _Set, members: tuple[_Response, ...]) -> Item:
        fields = {option_field(place): response.text for place, response in enumerate(members)}
        worths = [response.worth for response in members if response.worth is not None]
        gold = ""
        if len(worths) == len(members):
            # A tie needs all to be equally good; a first place shared by some has no label.
            best = [place for place, worth in enumerate(worths) if worth == max(worths)]
            gold = self.task.scale.options[best[0]] if len(best) == 1 else ""
            if len(best) == len(members):
                gold = self.task.scale.tie or ""
        return self._item(own, members, fields, gold)

    def _ranking_item(self, own: _Set, members: tuple[_Response, ...]) -> Item:
        letters = ascii_uppercase[: len(members)]
        pairs = list(zip(letters, members, strict=True))
        text = "\n\n".join(f"Response {letter}:\n{response.text}" for letter, response in pairs)
        known = {letter: response.worth for letter, response in pairs if response.worth is not None}
        gold = ""
        # Equal worths fit several orders, so that no single label is right.
        if len(known) == len(members) == len(set(known.values())):
            order = tuple(sorted(letters, key=lambda letter: -known[letter]))
            gold = next(label for label in self.task.scale.labels if order_of(label) == order)
        return self._item(own, members, {"response": text}, gold)

    def _item(self, own: _Set, members: Sequence[_Response], fields: Mapping[str, Json], gold: str) -> Item:
        reference = {"reference": own.reference} if own.reference else {}
        return Item(
            id=str(Named(set=own.id, members=tuple(response.id for response in members))),
            fields={"request": own.request, **fields},
            gold=gold or None,
            stratum=own.stratum,
            # One cluster per request: all its items show the same responses.
            group=own.id,
            metadata={"set": own.id, "members": [response.id for response in members], **reference},
            origin=f"{self._file}:{own.line}",
        )


def _check(row: Row, rows: Mapping[str, Mapping[str, Row]], problems: Problems) -> None:
    request, response = row["request_id"].strip(), row["response_id"].strip()
    for column, name in (("request_id", request), ("response_id", response)):
        if not name or not name.isprintable() or len(name) > _LONGEST_ID:
            problems.add(f"'{column}' must be printable text of 1 to {_LONGEST_ID} characters", line=row.line)
    # `q1` and `:a` would make `q1:::a`, which reads as `q1:` and `a`.
    if BETWEEN in response or JOINT in response or response.startswith(BETWEEN[0]):
        problems.add(
            f"the response_id '{response}' contains '{BETWEEN}' or '{JOINT}' or starts with '{BETWEEN[0]}', "
            "which ids of pairs use",
            line=row.line,
        )
    if not row["response"].strip():
        problems.add(f"response '{response}' of request '{request}' is empty", line=row.line)
    earlier = rows.get(request, {}).get(response)
    if earlier is not None:
        problems.add(f"response '{response}' of request '{request}' is also on line {earlier.line}", line=row.line)


def _response(name: str, row: Row, problems: Problems) -> _Response:
    numbers = {}
    for column in ("score", "rank"):
        written = row[column].strip()
        try:
            value = float(written) if written else None
        except ValueError:
            value = math.nan
        if value is not None and not math.isfinite(value):
            problems.add(f"'{column}' must be a finite number, got '{written[:40]}'", line=row.line)
            value = None
        numbers[column] = value
    score, rank = numbers["score"], numbers["rank"]
    # A lower rank is better.
    worth = score if score is not None or rank is None else -rank
    return _Response(id=name, text=row["response"], worth=worth, written=row["score"].strip())
