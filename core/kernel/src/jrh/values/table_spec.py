"""Define the tables in which stages of plugins keep what they make."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import Factory, field, frozen
from attrs.validators import deep_mapping, in_, matches_re, min_len


class Merge(Enum):
    """What becomes of a table where the shards of a run are merged."""

    NONE = "none"
    """The stage makes its rows again."""
    UNION = "union"
    """The rows of all shards, one shard after the other; rows with a number as key are numbered again."""
    LATEST = "latest"
    """The rows of the last shard that has some."""
    REFUSE = "refuse"
    """A shard with rows cannot be merged."""


_NAME = r"[a-z][a-z0-9_]*"


@frozen(kw_only=True)
class TableSpec:
    """Declare a table of a stage. It is kept, copied and merged even where its plugin is not installed."""

    name: str = field(validator=matches_re(_NAME))
    """Unique among plugins: begin it with the name of the stage."""
    columns: Mapping[str, str] = field(
        validator=[min_len(1), deep_mapping(matches_re(_NAME), in_(("TEXT", "INTEGER", "REAL")))]
    )
    """Column -> its type: `TEXT`, `INTEGER` or `REAL`."""
    key: str = field()
    """The column that names and orders the rows. An `INTEGER` one that is given as None counts up from 1."""
    indexes: tuple[tuple[str, ...], ...] = Factory(tuple)
    """Columns that rows are looked up by."""
    merge: Merge = Merge.NONE

    @key.validator
    def _check_key(self, _: object, key: str) -> None:
        unknown = {key, *(name for index in self.indexes for name in index)} - set(self.columns)
        if unknown:
            raise ValueError(f"the table '{self.name}' has no column '{sorted(unknown)[0]}'")
