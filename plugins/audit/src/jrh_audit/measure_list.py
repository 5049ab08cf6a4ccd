"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "audit": (
        MeasureInfo(
            name="audit",
            formula="finding: share of items affected by a problem in the data set; `finding` names the problem, "
            "the note describes it",
            better="lower",
            flags=("finding",),
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
