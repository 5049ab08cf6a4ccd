"""The kinds of plots that the page can draw: every plot of the page carries one as `data-plot`."""

from __future__ import annotations

from enum import StrEnum


class PlotKind(StrEnum):
    """A kind of plot; docs/gallery.md shows each."""

    HEAT = "heat"
    """Judges by tests, shaded; one for each measure that can be chosen."""
    FOREST = "forest"
    """Estimates with intervals, test by test."""
    MATRIX = "matrix"
    """Verdicts by right level, shaded."""
    PLANE = "plane"
    """Price against accuracy."""
    RELIABILITY = "reliability"
    """Share right against stated probability."""
    CURVE = "curve"
    """A measure against a level of its cells, with the line fitted to it."""
