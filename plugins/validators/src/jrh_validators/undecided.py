"""Build the result of a validator whose model gave no decision."""

from __future__ import annotations

from collections.abc import Mapping

from jrh import Json, Validation


def undecided(reason: str, details: Mapping[str, Json]) -> Validation:
    """Reject for lack of a decision; consensus does not count it as a vote."""
    return Validation(accepted=False, reason=reason, details={**details, "undecided": True})
