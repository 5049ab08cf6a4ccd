"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo
from jrh_measuring import describe_rate

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "rationale-contradiction": (
        describe_rate(
            "rationale-contradiction",
            "share of verdicts whose rationale argues for another label, of the rationales that could be read",
            flags=(),
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
