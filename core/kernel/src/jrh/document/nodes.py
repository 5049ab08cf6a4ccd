"""A value of a document with its place; reading one records every mistake instead of stopping at the first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import field, frozen

from jrh.document import option_types
from jrh.document.convert import collect
from jrh.document.positions import Document, Location, unknown_key
from jrh.errors import Problem

T = TypeVar("T")


@frozen(kw_only=True, eq=False)
class Node:
    """A value, its place, and the list that takes the mistakes of the whole document."""

    value: Any
    at: Location = ()
    document: Document
    base: Path
    """The directory relative paths start at."""
    problems: list[Problem] = field(factory=list)
    """In the order they were found; one list for all nodes of a document."""

    def __getitem__(self, key: str | int) -> Node:
        """Return the value of a key or of a list position."""
        return self.holding(self.value[key], key)

    def holding(self, value: Any, *below: str | int) -> Node:
        """Return another value at this place or below it: a part of a mapping, or the long form of a short one."""
        return attrs.evolve(self, value=value, at=(*self.at, *below))

    def report(self, message: str, *below: str | int) -> None:
        """Keep a mistake of this value, or of one below it."""
        self.report_at((*self.at, *below), message)

    def report_at(self, location: Location, message: str) -> None:
        """Keep a mistake of any value of the document."""
        self.problems.append(self.document.wrong(location, message))

    def read(self, kind: type[T], default: T) -> T:
        """Return the value as a type, or the default where it does not fit, which is reported."""
        found = self.try_read(kind)
        return default if found is None else found

    def try_read(self, kind: type[T]) -> T | None:
        """Return the value as a type, or None where it does not fit, which is reported."""
        found, problems = collect(self.value, kind, base=self.base, document=self.document, location=self.at)
        self.problems.extend(problems)
        return found

    def read_keys_of(self, cls: type[T], leave: Collection[str] = ()) -> T:
        """Return an attrs class made of those keys of a mapping that are its fields; its defaults where one is wrong.

        Args:
            cls: every field has a default.
            leave: keys that mean something else here.
        """
        names = [name for name in option_types.field_names(cls) if name not in leave]
        given = {name: self.value[name] for name in names if name in self.value}
        return self.holding(given).read(cls, cls())

    def required(self, key: str, kind: type[T], default: T) -> T:
        """Return what a mapping holds under a key that has to be there."""
        if key not in self.value:
            self.report(f"missing key '{key}'")
            return default
        return self[key].read(kind, default)

    def section(self, key: str) -> Node | None:
        """Return the mapping that a mapping has to hold under a key."""
        if key not in self.value:
            self.report(f"missing key '{key}'")
            return None
        return self[key] if self[key].is_mapping("a mapping") else None

    def entries(self, key: str) -> list[Node]:
        """Return the entries of a list that a mapping may hold under a key."""
        written = self.value.get(key, [])
        if not isinstance(written, list | tuple):
            self.report(f"expected a list, got {option_types.described(written)}", key)
            return []
        return [self.holding(entry, key, position) for position, entry in enumerate(written)]

    def is_mapping(self, wanted: str) -> bool:
        """Tell whether the value is a mapping; another one is reported, with what is wanted."""
        if not isinstance(self.value, Mapping):
            self.report(f"expected {wanted}, got {option_types.described(self.value)}")
        return isinstance(self.value, Mapping)

    def allow_keys(self, known: Iterable[str]) -> None:
        """Report the keys of a mapping that are none of these."""
        names = list(known)
        for key in self.value:
            if key not in names:
                self.report(unknown_key(key, names), key)
