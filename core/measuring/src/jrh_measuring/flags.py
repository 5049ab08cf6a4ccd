"""The names of the flags that jrh's own estimates set; `plugin.py` declares what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.values.measures import Flag, FlagEffect, Measure

ALL_MISSING: Final = "all-missing"
"""Every verdict is missing."""
CHANGE_DUE: Final = "change-due"
"""The test asks for other verdicts than the reference: agreement is not a merit here."""
CONSTANT_GOLD: Final = "constant-gold"
"""All gold labels are the same: a judge that always gives that label scores 100%."""
CONSTANT_REFERENCE: Final = "constant-reference"
"""The judge gave a single label in the reference condition: kappa is 0 by definition."""
CONSTANT_VERDICTS: Final = "constant-verdicts"
"""The judge gave a single label throughout."""
DEGENERATE: Final = "degenerate"
"""The formula divides by zero: there is no estimate."""
EMPTY: Final = "empty"
"""There is no trial to measure."""
FEW_CLUSTERS: Final = "few-clusters"
"""Few clusters of items: the interval counts clusters, is wide, and its coverage approximate."""
FEW_EVENTS: Final = "few-events"
"""Only a few items vary: actual coverage may differ from the stated level."""
FEW_ITEMS: Final = "few-items"
"""Few items: the interval is wide, and its coverage approximate."""
INFORMATIVE_MISSING: Final = "informative-missing"
"""Verdicts go missing more often under some conditions, for some labels, or where the judge is wrong."""
ONE_ITEM: Final = "one-item"
"""One item only: agreement beyond chance cannot be estimated."""
SENSITIVE_TO_MISSING: Final = "sensitive-to-missing"
"""So many verdicts are missing that a reason which the data do not show could invalidate the interval."""
SIMULATED: Final = "simulated"
"""The judge is simulated: its answers are made up."""
STOPPED_EARLY: Final = "stopped-early"
"""An allocator ended the judging by the verdicts so far: the number of items is not fixed, as intervals suppose."""
UNTESTABLE_MISSING: Final = "untestable-missing"
"""Many verdicts are missing, and items without a verdict have no other one that would show why."""

BOUNDED: Final = "imbens-manski"
"""Prefix of the methods whose intervals hold whatever the missing verdicts would have been."""


def shown_flags(measure: Measure) -> tuple[str, ...]:
    """Return the flags to write next to a number; simulated judges are marked by their names."""
    return tuple(flag for flag in measure.flags if flag != SIMULATED)


def doubtful(measure: Measure, flags: Mapping[str, Flag]) -> frozenset[str]:
    """Return the flags of a measure that forbid claims of equivalence."""
    return frozenset(name for name in measure.flags if name in flags and flags[name].effect is FlagEffect.FORBIDS)


def unsure(measure: Measure, flags: Mapping[str, Flag]) -> tuple[str, ...]:
    """Return the flags that forbid a decision on a measure's interval; empty if there are none.

    A flag forbids nothing where the method of the interval settles it: exact limits are not affected by small samples,
    Imbens and Manski's intervals not by what is missing.

    Args:
        measure: with its interval.
        flags: those that are declared, by name, such as `RunReport.flags`.
    """
    # A flag may lift its own doubt by the method of the interval: `settled_by` of its declaration.
    return tuple(name for name in measure.flags if name in flags and flags[name].forbids(measure.interval))
