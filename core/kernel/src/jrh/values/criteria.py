"""Define the criteria of a rubric: what is asked of a response one by one, and how much each counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from attrs import frozen

from jrh.values.json_values import Json
from jrh.values.scales import Scale, ScaleKind

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

    def first_of(self, place: int, number: int) -> int:
        """Return the place of the first criterion of the call that asks the one in a place, of so many."""
        return place - place % (self.per_call or number)


@frozen(kw_only=True)
class JudgedCriterion:
    """The criterion of an item: a response makes one item per criterion, all of one cluster."""

    criterion: Criterion
    of: str
    """Id of the response, which its items share."""
    others: tuple[Criterion, ...] = ()
    """All criteria of this response in order, where they are its own."""


def shown_criterion(criterion: Criterion) -> dict[str, Json]:
    """Return what judges see of a criterion; its weight is for the score."""
    return {"id": criterion.id, "text": criterion.text}


def written_together(criteria: Iterable[tuple[str, str]]) -> str:
    """Format the (id, text) pairs of the criteria of one call for the field `TOGETHER_FIELD`."""
    return json.dumps(dict(criteria), ensure_ascii=False)


@lru_cache(maxsize=512)
def read_together(written: str) -> Mapping[str, str]:
    """Return id -> text of the criteria of one call, in the order shown."""
    return MappingProxyType(json.loads(written))


def asked_together(fields: Mapping[str, Json]) -> Mapping[str, str]:
    """Return id -> text of the criteria that are asked in one call, in the order shown; empty for a single one."""
    written = fields.get(TOGETHER_FIELD)
    return read_together(written) if isinstance(written, str) and written else {}


def wording(fields: Mapping[str, Json]) -> str:
    """Return the rubric as presented: the text of the criterion, or a list of all that are asked together."""
    written = fields.get(TOGETHER_FIELD)
    if isinstance(written, str) and written:
        return _listed(written)
    one = fields.get(CRITERION_FIELD)
    return str(one["text"]) if isinstance(one, Mapping) else ""


@lru_cache(maxsize=512)
def _listed(written: str) -> str:
    return "\n".join(f"[{name}] {text}" for name, text in read_together(written).items())


def credit(scale: Scale, not_applicable: str = "") -> Mapping[str, float]:
    """Return what each label adds, as a share of the criterion's weight; a label that does not apply is left out.

    An ordinal scale goes from 0 for the lowest level to 1 for the highest in equal steps. Of unordered labels the
    positive one adds 1 and the others 0.
    """
    labels = [label for label in scale.labels if label != not_applicable]
    if scale.kind is ScaleKind.ORDINAL:
        return {label: place / (len(labels) - 1) for place, label in enumerate(labels)}
    met = scale.positive_label or labels[0]
    return {label: float(label == met) for label in labels}
