"""Map the columns of a file to the parts of an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from string import ascii_lowercase
from typing import Final

from attrs import Factory, field, frozen

FIELDS: Final = ("request", "response", *(f"response_{letter}" for letter in ascii_lowercase), "transcript")
"""The standard targets that become fields."""
STANDARD: Final = ("id", *FIELDS, "label", "gold_source", "stratum", "group")
"""Targets that default to the column of the same name."""
AUTHORS: Final = ("author", *(f"author_{letter}" for letter in ascii_lowercase))
"""Targets that name the model which wrote a response; they become metadata, which judges never see."""
KEPT_TWICE: Final = frozenset({"stratum", "group", *AUTHORS})
"""Targets whose column also stays in the metadata, under the column's own name."""
_NO_FIELDS: Final = frozenset({*STANDARD, *AUTHORS})


@frozen(kw_only=True)
class ColumnMap:
    """The suite's `columns` mapping with its defaults filled in."""

    named: Mapping[str, str | None] = field(default=Factory(dict))
    """Target -> column as the suite says; None leaves the target empty."""
    column: Mapping[str, str] = field(init=False)
    """Target -> column, including the defaults."""
    away: frozenset[str] = field(init=False)
    """Columns that do not stay in the metadata."""

    @column.default
    def _complete(self) -> dict[str, str]:
        used = set(self.named.values())
        own = {target: target for target in STANDARD if target not in self.named and target not in used}
        return own | {target: column for target, column in self.named.items() if column is not None}

    @away.default
    def _taken(self) -> frozenset[str]:
        return frozenset(column for target, column in self.column.items() if target not in KEPT_TWICE)

    @property
    def extra_fields(self) -> tuple[str, ...]:
        """Return the targets that are fields beyond the standard ones, in the suite's order."""
        return tuple(target for target in self.column if target not in _NO_FIELDS)

    def missing(self, columns: Iterable[str]) -> list[tuple[str, str]]:
        """Return (target, message) for every column the suite names and the file lacks."""
        there = list(columns)
        return [
            (target, f"no column '{column}' (columns.{target}){did_you_mean(column, there)}")
            for target, column in self.named.items()
            if column is not None and column not in there
        ]


def did_you_mean(name: str, there: list[str]) -> str:
    """Return the close match and the list of columns, as the end of a message."""
    close = get_close_matches(name, there, n=1)
    return f"{f'; did you mean {close[0]!r}?' if close else '.'} Columns: {', '.join(there)}"
