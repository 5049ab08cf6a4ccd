"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "rationale-contradiction": (
        MeasureInfo(
            name="rationale-contradiction",
            formula="share of verdicts whose rationale argues for another label, of the rationales that could be read",
            better="lower",
            rate=True,
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
