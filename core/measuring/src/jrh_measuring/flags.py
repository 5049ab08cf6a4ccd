"""The flags of measures: what may be wrong with a number, by one name each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.values.measures import Measure

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
FINDING: Final = "finding"
"""The measure is a finding about the data, a test, or a judge; its note says it in words."""
INFORMATIVE_MISSING: Final = "informative-missing"
"""Verdicts go missing more often under some conditions, for some labels, or where the judge is wrong."""
MISSING_ON_ERRORS: Final = "missing-on-errors"
"""More verdicts are missing on items that the judge gets wrong."""
MISSING_ON_RIGHT: Final = "missing-on-right"
"""More verdicts are missing on items that the judge gets right."""
ONE_ITEM: Final = "one-item"
"""One item only: agreement beyond chance cannot be estimated."""
SENSITIVE_TO_MISSING: Final = "sensitive-to-missing"
"""So many verdicts are missing that a reason which the data do not show could invalidate the interval."""
SIMULATED: Final = "simulated"
"""The judge is simulated: its answers are made up."""

UNTESTABLE_MISSING: Final = "untestable-missing"
"""Many verdicts are missing, and items without a verdict have no other one that would show why."""
UNSTABLE_CHOICE: Final = "unstable-choice"
"""Many panels were compared on few items: actual coverage for the chosen one may be below the stated level."""

SMALL_SAMPLE: Final = frozenset({FEW_EVENTS, FEW_ITEMS, FEW_CLUSTERS, DEGENERATE, ONE_ITEM})
"""Flags of intervals with too few data for their approximation; exact limits are not affected."""
BOUNDED: Final = "imbens-manski"
"""Prefix of the methods whose intervals hold whatever the missing verdicts would have been."""
UNSURE: Final = SMALL_SAMPLE | {INFORMATIVE_MISSING, UNSTABLE_CHOICE}
"""Flags of intervals whose coverage may be too low: they support no claim of equivalence and decide no rule."""

FLAG_MEANINGS: Final[Mapping[str, str]] = {
    FEW_ITEMS: "few items; the interval is wide, and its coverage is approximate.",
    CHANGE_DUE: "this test asks for different verdicts than the reference; agreement is not a merit here.",
    ONE_ITEM: "one item only; chance-corrected agreement cannot be estimated.",
    "few-labels": "fewer than 30 labels for the correction; the interval is approximate.",
    "few-levels": "too few judges, templates or repeats for scores of two or three levels, or mostly one, or for an "
    "unbalanced design; coverage may be below 95%.",
    "few-missing": "too few missing verdicts for this test's approximation.",
    "few": "too few events for this test's approximation.",
    FEW_EVENTS: "only a few items or clusters vary; actual coverage may differ from the stated level.",
    FEW_CLUSTERS: "few independent clusters of items; actual coverage may fall below the stated level.",
    CONSTANT_GOLD: "all gold labels are the same; a judge that always gives that label scores 100%.",
    CONSTANT_VERDICTS: "the judge gave a single label throughout.",
    CONSTANT_REFERENCE: "the judge gave a single label in the reference condition, so kappa is 0 by definition.",
    INFORMATIVE_MISSING: "verdicts are not missing at random; intervals of measures with bounds allow for any missing "
    "verdicts.",
    UNTESTABLE_MISSING: "items without a verdict were asked only once, so nothing shows why verdicts are missing; the "
    "interval allows for any missing verdicts.",
    SENSITIVE_TO_MISSING: "verdicts are missing; the interval would be off if wrong ones were lost ten times as "
    "readily as right ones, or the reverse, and the data cannot rule that out.",
    MISSING_ON_ERRORS: "more verdicts are missing on items that the judge gets wrong.",
    MISSING_ON_RIGHT: "more verdicts are missing on items that the judge gets right.",
    UNSTABLE_CHOICE: "many panels were compared on few items; actual coverage may be 1 to 4 points too low.",
    DEGENERATE: "not estimable from identical values.",
    ALL_MISSING: "every verdict is missing.",
    EMPTY: "no data.",
    "no-interval": "no interval; it cannot be estimated from identical values or from one item.",
    "conservative": "the interval is wider than necessary.",
    "cut": "the estimate fell outside [0, 1] and was clipped.",
    "reference-floor": "this test asks once, so the reference's rerun noise stands in for its own; half of any noise "
    "that the test adds counts as excess.",
    "single-level": "the factor has a single level and was left out.",
    "confounded": "no question was repeated; the last component includes rerun noise.",
    "identical-repeats": "repeats never differ; their variance is 0.",
    "negative": "a negative variance estimate was set to 0.",
    "equivalent": "equivalent: the change lies within the declared margin.",
    "different": "different: the change exceeds the declared margin.",
    "undecided": "inconclusive: too few data to decide whether the change lies within the declared margin.",
}
"""What each flag of a measure means, in one sentence; reports show `finding` and `simulated` in other ways."""

_EXACT: Final = frozenset({"clopper-pearson", "bentkus-clusters"})
"""Methods of limits that hold for any number of clusters: `jrh_stats.clustered_limits`."""


def unsure(measure: Measure) -> tuple[str, ...]:
    """Return the flags that forbid a decision on a measure's interval; empty if there are none.

    Exact limits are not affected by small samples, Imbens and Manski's intervals not by what is missing: those flags do
    not count there.
    """
    method = "" if measure.interval is None else measure.interval.method
    settled = (SMALL_SAMPLE if method in _EXACT else frozenset()) | (
        {INFORMATIVE_MISSING} if method.startswith(BOUNDED) else frozenset()
    )
    return tuple(flag for flag in measure.flags if flag in UNSURE - settled)
