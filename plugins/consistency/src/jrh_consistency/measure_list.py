"""What metrics, a flag and a finding are called; `metrics.toml` declares the measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CYCLES: Final = "preference-cycles"
"""Kind of finding."""
ONE_ORDER: Final = "one-order"
"""Flag of cycles among options that were shown in one order only."""
WAYS: Final[Mapping[str, tuple[str, str]]] = {
    "pointwise-pairwise": ("scores", "comparisons"),
    "listwise-pairwise": ("lists", "comparisons"),
    "score-ranking": ("scores", "lists"),
}
"""Metric -> the two ways of asking that it compares."""
