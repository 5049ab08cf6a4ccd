"""Planted inconsistency: comparisons that follow a circle, and scores that contradict comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jrh.text import flat_text

from jrh_simulated.draws import Draws
from jrh_simulated.view import View

_HALF: Final = 0.5


def is_captured(draws: Draws, what: str, view: View, rate: float) -> bool:
    """Return whether the defect captures the item's request; all items about one request share the answer."""
    return rate > 0 and draws.uniforms(what, flat_text(view.truth.reference_fields.get("request")))[0] < rate


def circle_winner(draws: Draws, texts: Sequence[str]) -> int:
    """Return the place of the text that beats most others on a circle.

    Every text has a random place on it, and beats those that follow within half a turn. Three texts form a cycle with
    probability 1/4, as in a random tournament.
    """
    places = [draws.uniforms("place on the circle", text)[0] for text in texts]
    wins = [sum(0 < (other - own) % 1 < _HALF for other in places) for own in places]
    return wins.index(max(wins))
