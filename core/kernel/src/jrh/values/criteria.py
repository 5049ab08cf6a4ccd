"""Define items that are parts of a response: what is asked of it one by one, and how much each answer counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from attrs import frozen

from jrh.values.json_values import Json

CRITERION_FIELD: Final = "criterion"
"""The field of an item that holds its criterion: `{id, text}`."""
TOGETHER_FIELD: Final = "criteria"
"""The field with the criteria asked in the same call, in the order shown: JSON text, `{id: text, ...}`; empty: one.

A text, because every item of the call has it: texts are stored once and compared fast, also a thousand criteria.
"""


@frozen(kw_only=True, cache_hash=True)
class Criterion:
    """One criterion of a rubric."""

    id: str
    text: str
    weight: float = 1.0
    """What it adds to the weighted score if it is met in full; negative for a criterion that should not be met."""


@frozen(kw_only=True, cache_hash=True)
class Criteria:
    """The criteria of a task, and how they are asked."""

    name: str
    """The weighted score's name: tasks that share it, one per scale, make one score."""
    entries: tuple[Criterion, ...] = ()
    """The same for every response; none: every item brings its own."""
    per_call: int = 1
    """How many are asked in one call at most; 0: all."""
    elsewhere: tuple[str, ...] = ()
    """Ids of the criteria of the same rubric that have another scale, and so are another task."""
    not_applicable: str = ""
    """The label of a criterion that does not apply; it is left out of the score, and never counts as met."""


@frozen(kw_only=True)
class JudgedCriterion:
    """The criterion of an item: a response makes one item per criterion, all of one cluster."""

    criterion: Criterion
    of: str
    """Id of the response, which its items share."""
    others: tuple[Criterion, ...] = ()
    """All criteria of this response in order, where they are its own."""


@lru_cache(maxsize=512)
def _read_together(written: str) -> Mapping[str, str]:
    """Return id -> text of the criteria of one call, in the order shown."""
    return MappingProxyType(json.loads(written))


def asked_together(fields: Mapping[str, Json]) -> Mapping[str, str]:
    """Return id -> text of the criteria that are asked in one call, in the order shown; empty for a single one."""
    written = fields.get(TOGETHER_FIELD)
    return _read_together(written) if isinstance(written, str) and written else {}


def wording(fields: Mapping[str, Json]) -> str:
    """Return the rubric as presented: the text of the criterion, or a list of all that are asked together."""
    if asked_together(fields):
        return _listed(str(fields[TOGETHER_FIELD]))
    one = fields.get(CRITERION_FIELD)
    return str(one["text"]) if isinstance(one, Mapping) else ""


@lru_cache(maxsize=512)
def _listed(written: str) -> str:
    return "\n".join(f"[{name}] {text}" for name, text in _read_together(written).items())
