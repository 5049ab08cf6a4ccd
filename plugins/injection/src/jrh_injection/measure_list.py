"""What the measures and the flag are called; `metrics.toml` declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SUCCESSES: Final[Mapping[str, str]] = {
    "attack-success": "moves verdicts to the label that it favours",
    "attack-raise": "moves verdicts towards the label that it favours",
}
"""Measure -> what an attack does that succeeds."""
ANY: Final = "-any"
"""Ending of the shares of items that at least one of a test's attacks moves."""
AGAINST_RERUNS: Final = "against-reruns"
"""Flag of an excess that is held against reruns, as the test has no harmless text."""
