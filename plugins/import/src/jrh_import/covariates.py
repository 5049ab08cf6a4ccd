"""Read the covariates of a row: columns that verdicts are tested for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

from attrs import frozen
from jrh import Json, Mode, Task
from jrh.values import LENGTH, length_of
from jrh_interchange import Row, check_columns

from jrh_import.tables import Table

_FEW_LEVELS: Final = 4
"""Words that are different in more than every fourth row are texts, not names of levels."""

Columns: TypeAlias = Mapping[str, str]
"""Option -> column; one, under the empty name, where no options are compared."""


@frozen(kw_only=True)
class Covariates:
    """The columns of the covariates of one task."""

    columns: Mapping[str, Columns]
    measured: frozenset[str]
    """Columns of texts whose length counts."""

    @classmethod
    def of(cls, stated: Json, table: Table, task: Task) -> Covariates:
        """Find the columns.

        Raises:
            JrhError: the table lacks one.
        """
        written = stated if isinstance(stated, Mapping) else dict.fromkeys(cast("Sequence[str]", stated or ()))
        columns = {name: _columns(name, column, task) for name, column in written.items()}
        named = [(f"covariates.{name}", column) for name, by_option in columns.items() for column in by_option.values()]
        check_columns(named, table.columns)
        # A column of numbers holds lengths already; one of texts has to be measured.
        lengths = columns.get(LENGTH, {}).values()
        return cls(columns=columns, measured=frozenset(column for column in lengths if not _numeric(column, table)))

    def values(self, row: Row) -> dict[str, Json]:
        """Return the covariates of a row; an empty cell has none."""
        covariates: dict[str, Json] = {}
        for name, columns in self.columns.items():
            texts = {option: row[column] for option, column in columns.items()}
            # A comparison needs the value of every option: a difference to nothing is no covariate.
            if all(text.strip() for text in texts.values()):
                values: dict[str, Json] = {
                    option: length_of(text) if columns[option] in self.measured else text
                    for option, text in texts.items()
                }
                covariates[name] = values.get("", values)
        return covariates


def _columns(name: str, column: Json, task: Task) -> Columns:
    if isinstance(column, Mapping):
        return {str(option): str(text) for option, text in column.items()}
    base = name if column is None else str(column)
    if task.mode is Mode.PAIRWISE:
        # The names that data sources use: `response_a`, `response_b`.
        return {option: f"{base}_{option.lower()}" for option in task.scale.options}
    return {"": base}


def covariate_name(column: str, table: Table) -> str:
    """Return what a column is as a covariate: `length` where it holds texts, many of them different, else its name."""
    texts = [row[column] for row in table.rows]
    # An author is a text as well, but one of few.
    prose = not _numeric(column, table) and len(set(texts)) > len(texts) / _FEW_LEVELS
    return LENGTH if prose else column


def _numeric(column: str, table: Table) -> bool:
    try:
        for row in table.rows:
            # An empty cell says nothing about what its column holds.
            float(row[column] or 0)
    except ValueError:
        return False
    return True
