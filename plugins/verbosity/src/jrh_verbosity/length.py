"""Check the length of a new text."""

from __future__ import annotations

from jrh_verbosity.options import Bounds, Variant


def breach(achieved: float, variant: Variant, bounds: Bounds) -> str:
    """Return how a length ratio breaks its bounds; empty if it does not."""
    low, high = bounds
    if low <= achieved <= high:
        return ""
    if achieved < low:
        return "shorter than allowed" if variant is Variant.SHORT else "not long enough"
    return "not short enough" if variant is Variant.SHORT else "longer than allowed"
