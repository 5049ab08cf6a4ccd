"""Define what is judged: items, the task they are judged under, and the criteria that it may have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from string import ascii_lowercase
from types import MappingProxyType
from typing import Final

from attrs import Factory, evolve, frozen

from jrh.values.json_values import Json
from jrh.values.scales import Scale

# The fields of a criterion are those of the item, so that templates, perturbers and stored cases need no other way.
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
# Many items are asked about the same few texts.
def _read_criteria(written: str) -> Mapping[str, str]:
    """Return id -> text of the criteria of one call, in the order shown."""
    # Read-only, because the cache hands the same object to everybody.
    return MappingProxyType(json.loads(written))


def criteria_of_call(fields: Mapping[str, Json]) -> Mapping[str, str]:
    """Return id -> text of the criteria that are asked in one call, in the order shown; empty for a single one."""
    written = fields.get(TOGETHER_FIELD)
    return _read_criteria(written) if isinstance(written, str) and written else {}


def wording(fields: Mapping[str, Json]) -> str:
    """Return the rubric as presented: the text of the criterion, or a list of all that are asked together."""
    if criteria_of_call(fields):
        return _list_criteria(str(fields[TOGETHER_FIELD]))
    criterion = fields.get(CRITERION_FIELD)
    return str(criterion["text"]) if isinstance(criterion, Mapping) else ""


@lru_cache(maxsize=512)
def _list_criteria(written: str) -> str:
    return "\n".join(f"[{name}] {text}" for name, text in _read_criteria(written).items())


class Mode(Enum):
    """What a judge evaluates: one response, several responses, or a transcript."""

    POINTWISE = "pointwise"
    """One response: field `response`."""
    PAIRWISE = "pairwise"
    """Two responses or more: fields `response_a`, `response_b`, ..."""
    TRANSCRIPT = "transcript"
    """An agent's transcript: field `transcript`."""

    @property
    def judged_fields(self) -> tuple[str, ...]:
        """Return the judged fields, of a pair where several responses are compared; see `Task.judged_fields`."""
        return _JUDGED_FIELDS[self]


_JUDGED_FIELDS: Final = {
    Mode.POINTWISE: ("response",),
    Mode.PAIRWISE: ("response_a", "response_b"),
    Mode.TRANSCRIPT: ("transcript",),
}


def option_field(place: int) -> str:
    """Return the field of the option in a place, counted from 0: `response_a`, ..., `response_z`."""
    return f"response_{ascii_lowercase[place]}"


@frozen(kw_only=True)
class Item:
    """One example from a data source."""

    id: str
    fields: Mapping[str, Json]
    """`request`, and `response`, or `response_a`, `response_b`, ..., or `transcript`, and any others."""
    gold: str | None = None
    """The gold label, canonical, exactly as in the file; None if unlabelled."""
    gold_source: str = ""
    """Where the gold label comes from, as `GoldSource` reads it: `people`, `model:NAME`, ...; empty: unknown."""
    labels: Mapping[str, str] = Factory(dict)
    """Who -> their label, canonical, of people who labelled the item without knowing of each other; see `jrh label`."""
    stratum: str = ""
    """The subgroup, for results broken down by stratum."""
    group: str = ""
    """Items that belong together (one author, one source) share a group: they are one cluster. Empty: the own id."""
    metadata: Mapping[str, Json] = Factory(dict)
    covariates: Mapping[str, Json] = Factory(dict)
    """What verdicts may depend on besides quality, such as `length` and `author`; the kernel fills it. Of a comparison
    one value for every option: `{A: 120, B: 80}`."""
    origin: str = ""
    """Source and line, for messages: `essays.csv:12`."""
    criterion: JudgedCriterion | None = None
    """What is asked of the response, in a task with criteria: the response makes one item per criterion."""

    @property
    def response_id(self) -> str:
        """Return the id of the response that the item is about; without criteria its own."""
        return self.id if self.criterion is None else self.criterion.of


@frozen(kw_only=True)
class Task:
    """The question put to the judge: instruction, rubric, scale and mode."""

    name: str
    instruction: str = ""
    rubric: str = ""
    scale: Scale
    mode: Mode = Mode.POINTWISE
    criteria: Criteria | None = None
    """The criteria that are judged one by one and make a weighted score; None: there is one verdict per item."""

    @property
    def judged_fields(self) -> tuple[str, ...]:
        """Return the judged fields, which perturbers may change; of a comparison one for every option."""
        if self.mode is not Mode.PAIRWISE:
            return self.mode.judged_fields
        return tuple(option_field(place) for place in range(len(self.scale.options)))

    def presented(self, fields: Mapping[str, Json]) -> Task:
        """Return the task as a case with these fields presents it: its criteria follow the rubric it has besides."""
        if self.criteria is None:
            return self
        rubric = "\n\n".join(part for part in (self.rubric.rstrip(), wording(fields)) if part)
        # Without its list: a judge is asked about what the case shows and must not see the others.
        return evolve(self, rubric=rubric, criteria=evolve(self.criteria, entries=(), elsewhere=()))
