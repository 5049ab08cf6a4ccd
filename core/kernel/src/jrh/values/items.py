"""Define what is judged: items, and the task they are judged under."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from string import ascii_lowercase
from typing import Final

from attrs import Factory, evolve, frozen

from jrh.values.criteria import Criteria, JudgedCriterion, wording
from jrh.values.json_values import Json
from jrh.values.scales import Scale


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
        return evolve(self, rubric=rubric, criteria=evolve(self.criteria, entries=(), elsewhere=()))
