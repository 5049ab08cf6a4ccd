"""The flags of measures: what may be wrong with a number, by one name each."""

from __future__ import annotations

from typing import Final

ALL_MISSING: Final = "all-missing"
CHANGE_DUE: Final = "change-due"
CONSTANT_GOLD: Final = "constant-gold"
CONSTANT_REFERENCE: Final = "constant-reference"
CONSTANT_VERDICTS: Final = "constant-verdicts"
DEGENERATE: Final = "degenerate"
EMPTY: Final = "empty"
FEW_EVENTS: Final = "few-events"
FEW_ITEMS: Final = "few-items"
FINDING: Final = "finding"
"""The measure is a finding about the data, a test, or a judge; its note says it in words."""
ONE_ITEM: Final = "one-item"
SIMULATED: Final = "simulated"
