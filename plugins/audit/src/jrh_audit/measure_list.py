"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "audit": (
        MeasureInfo(
            name="audit",
            formula="finding: share of the items that a problem of the data set affects; `finding` names the "
            "problem, the note says it",
            better="lower",
            flags=("finding",),
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
