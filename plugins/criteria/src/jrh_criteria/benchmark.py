"""The source `rubric-benchmark`: responses with criteria of their own, from the user's copy of a benchmark."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import evolve, frozen
from jrh import BuildContext, Item, JrhError, Json
from jrh.hashing import distinct_keys
from jrh.values import Criterion, JudgedCriterion
from jrh_interchange import Problems, Row, as_text, is_nested, plain, table_rows

from jrh_criteria.options import BenchmarkOptions

ROW: Final = ("id", "request", "response", "transcript", "group")
ENTRY: Final = ("criterion", "criterion_id", "weight", "label", "stratum")
MOST: Final = 1_000_000
_KINDS: Final = {".csv": "csv", ".tsv": "tsv", ".json": "json"}
_Entry = tuple[str, Mapping[str, Any], Mapping[str, Any]]


@frozen(kw_only=True)
class BenchmarkSource:
    """Read one item per response and criterion.

    Two shapes: every row is a response and one criterion (RuVerBench and RubricEval are such tables), or every row has
    a list of criteria (HealthBench). Rows of the first shape that share an id, or without one the request and the
    response, are one response.
    """

    options: BenchmarkOptions
    judged: str

    @classmethod
    def of(cls, options: BenchmarkOptions, context: BuildContext) -> BenchmarkSource:
        """Build the source."""
        unknown = [name for name in options.columns if name not in (*ROW, *ENTRY)]
        if unknown:
            raise JrhError(f"columns: unknown name '{unknown[0]}'; known names: {', '.join((*ROW, *ENTRY))}")
        (judged,) = context.task.judged_fields[:1]
        return cls(options=options, judged=judged)

    def read(self) -> Iterator[Item]:
        """Yield the items: responses in the order of the file, and the criteria of each in theirs."""
        responses: dict[str, list[_Entry]] = {}
        for line in self._rows():
            where, row = line.place, line.values
            entries = list(self._entries(where, row))
            shown = tuple(str(row.get(self._column(name))) for name in ("request", self.judged))
            # JSON, so that two texts cannot run into each other.
            key = _text(row.get(self._column("id"))) or json.dumps(shown)
            responses.setdefault(key, []).extend((where, row, entry) for entry in entries)
        for number, (key, parts) in enumerate(responses.items(), start=1):
            # Without an id the place among the responses names them, since the key is two whole texts.
            known = any(_text(row.get(self._column("id"))) for _, row, _ in parts)
            yield from self._items(key if known else str(number), parts)

    def _column(self, target: str) -> str:
        return self.options.columns.get(target, target)

    def _rows(self) -> Iterator[Row]:
        if not self.options.path.is_file():
            raise JrhError(f"there is no file '{self.options.path}'")
        problems = Problems(self.options.path.name)
        yield from table_rows(self.options.path, _KINDS.get(self.options.path.suffix.lower(), "jsonl"), problems)
        problems.raise_any()

    def _entries(self, where: str, row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        if not self.options.criteria:
            yield row
            return
        listed = row.get(self.options.criteria)
        if isinstance(listed, str):
            try:
                listed = json.loads(listed, object_pairs_hook=distinct_keys)
            except (ValueError, RecursionError) as error:
                raise JrhError(f"{where}: not valid JSON: {str(error)[:200]}") from None
        if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
            raise JrhError(f"{where}: '{self.options.criteria}' is not a list of criteria")
        yield from listed

    def _items(self, name: str, own: list[_Entry]) -> Iterator[Item]:
        criteria = [self._criterion(where, entry, at) for at, (where, _, entry) in enumerate(own, start=1)]
        ids = [criterion.id for criterion in criteria]
        if len(set(ids)) < len(ids):
            twice = next(name for at, name in enumerate(ids) if name in ids[:at])
            raise JrhError(f"{own[-1][0]}: response '{name}' has criterion '{twice[:80]}' twice")
        if criteria and max(criterion.weight for criterion in criteria) < 0:
            raise JrhError(f"{own[0][0]}: all weights of response '{name}' are negative; at least one must be positive")
        everyone = tuple(criteria)
        for criterion, (where, row, entry) in zip(criteria, own, strict=True):
            yield Item(
                id=f"{name}#{criterion.id}",
                fields=self._fields(where, row),
                gold=self._gold(entry),
                stratum=_text(entry.get(self._column("stratum"))),
                group=_text(row.get(self._column("group"))) or name,
                origin=where,
                # All of them, so that one call can ask several.
                criterion=JudgedCriterion(criterion=criterion, of=name, others=everyone),
            )

    def _fields(self, where: str, row: Mapping[str, Any]) -> dict[str, Json]:
        judged = row.get(self._column(self.judged))
        if judged is None or judged == "":
            raise JrhError(f"{where}: no '{self._column(self.judged)}'; map it with `columns: {{{self.judged}: ...}}`")
        request = row.get(self._column("request"))
        return {**({"request": plain(request)} if request is not None else {}), self.judged: plain(judged)}

    def _criterion(self, where: str, entry: Mapping[str, Any], number: int) -> Criterion:
        text = entry.get(self._column("criterion"))
        if not isinstance(text, str) or not text.strip():
            raise JrhError(f"{where}: no text in '{self._column('criterion')}' of criterion {number}")
        name = _text(entry.get(self._column("criterion_id"))) or str(number)
        if not name.isprintable():
            raise JrhError(f"{where}: the id {name[:80]!r} of criterion {number} has characters that cannot be printed")
        return evolve(Criterion(id=name, text=text), weight=_weight(entry.get(self._column("weight")), where, name))

    def _gold(self, entry: Mapping[str, Any]) -> str | None:
        text = _text(entry.get(self._column("label")))
        return self.options.labels.get(text.lower(), text) or None


def _weight(written: object, where: str, name: str) -> float:
    try:
        weight = 1.0 if written is None or written == "" else float(str(written))
    except ValueError:
        weight = math.nan
    # NaN fails the comparison, 0 the truth value.
    if not (weight and abs(weight) <= MOST):
        raise JrhError(
            f"{where}: the weight {str(written)[:40]!r} of criterion '{name[:80]}' must be a number other than 0"
        )
    return weight


def _text(value: Json) -> str:
    return (str(value) if is_nested(value) else as_text(value) or "").strip()
