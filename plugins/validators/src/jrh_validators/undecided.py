"""What a validator says where its model gave no decision."""

from __future__ import annotations

from collections.abc import Mapping

from jrh import Json, Validation


def undecided(reason: str, details: Mapping[str, Json]) -> Validation:
    """Reject because there is no decision; a vote counts it as not cast."""
    return Validation(accepted=False, reason=reason, details={**details, "undecided": True})
