"""Planted defects of judges that read a rubric of criteria: the place in a call, and the impression of a response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import Json
from jrh.text import flat_text
from jrh.values import CRITERION_FIELD, TOGETHER_FIELD, asked_together

from jrh_simulated.draws import Draws

_HALF: Final = 0.5


@frozen(kw_only=True)
class Call:
    """The criteria that one call asks, and the place of the item's own."""

    ids: tuple[str, ...]
    """In the order shown; empty if the call asks a single criterion, or none."""
    place: int

    @classmethod
    def of(cls, fields: Mapping[str, Json]) -> Call:
        """Read the call from the fields of a question."""
        ids, one = tuple(asked_together(fields)), fields.get(CRITERION_FIELD)
        own = str(one["id"]) if isinstance(one, Mapping) else ""
        return cls(ids=ids, place=ids.index(own) if own in ids else 0)

    @property
    def late(self) -> bool:
        """Return whether the criterion is in the second half of the call; the one in the middle is not."""
        return 2 * self.place >= len(self.ids) > 0


def call_parts(fields: Mapping[str, Json], texts: Sequence[str]) -> tuple[str, ...]:
    """Return what all criteria of one call share."""
    return flat_text(fields.get("request")), flat_text(fields.get(TOGETHER_FIELD)), *texts


def impresses(draws: Draws, texts: Sequence[str], reference: Sequence[str]) -> bool:
    """Return whether a response makes a good impression: half of them do, and none that lost words and gained none."""
    shown, original = (Counter(" ".join(each).split()) for each in (texts, reference))
    return draws.uniforms("impression", *reference)[0] < _HALF and not shown < original
