"""Bring annotations together: what a grader said about a thing is the verdict, what people said is its gold label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import Factory, frozen
from jrh import Json
from jrh_interchange import ExportRow

from jrh_import.exports.values import agreed

PEOPLE: Final = "people"
"""The gold label that people gave under the metric's own name."""


@frozen(kw_only=True)
class Annotation:
    """What somebody or something said about one output."""

    place: str
    id: str
    """Of the annotation; the same id twice is one annotation."""
    item: str
    metric: str
    value: Json
    by_people: bool
    judge: str = ""
    golds: Mapping[str, Json] = Factory(dict)
    fields: Mapping[str, Any] = Factory(dict)


class Annotations:
    """All annotations of a file."""

    def __init__(self, found: Iterable[Annotation]) -> None:
        """Read them; those whose id came before are counted and left out."""
        self.duplicates = 0
        self._said: dict[tuple[str, str], list[Json]] = {}
        self._rows: list[Annotation] = []
        seen: set[str] = set()
        for each in found:
            if each.id and each.id in seen:
                self.duplicates += 1
                continue
            seen.add(each.id)
            if each.by_people:
                self._said.setdefault((each.item, each.metric), []).append(each.value)
            else:
                self._rows.append(each)

    def rows(self) -> Iterator[ExportRow]:
        """Yield the verdicts, each with what people said about the same thing."""
        by_item: dict[str, dict[str, Json]] = {}
        for (item, name), values in self._said.items():
            by_item.setdefault(item, {})[name] = agreed(values)
        for each in self._rows:
            said = by_item.get(each.item, {})
            others = {f"{PEOPLE}.{name}": value for name, value in said.items() if name != each.metric}
            yield ExportRow(
                place=each.place,
                item=each.item,
                metric=each.metric,
                value=each.value,
                judge=each.judge,
                golds={**each.golds, PEOPLE: said.get(each.metric), **others},
                default_gold=PEOPLE,
                fields=each.fields,
            )

    def notes(self) -> Iterator[str]:
        """Yield what readers of the report need to know."""
        if self.duplicates:
            yield f"Annotations with the id of an earlier one: {self.duplicates}; they are left out."
        judged = {(each.item, each.metric) for each in self._rows}
        for metric in dict.fromkeys(each.metric for each in self._rows):
            lost = sum(name == metric and (item, name) not in judged for item, name in self._said)
            if lost:
                yield f"Outputs with a label by people and no verdict of '{metric}': {lost}; they are left out."
        ties = sum(len(values) > 1 and agreed(values) is None for values in self._said.values())
        several = sum(len(values) > 1 for values in self._said.values())
        if several:
            yield f"Outputs labelled several times: {several}; the majority is the gold label, {ties} ties have none."
