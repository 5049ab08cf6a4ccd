"""The flags of these metrics, besides those that jrh-measuring declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MISSING_ON_ERRORS: Final = "missing-on-errors"
MISSING_ON_RIGHT: Final = "missing-on-right"
FORBIDDING: Final[Mapping[str, str]] = {
    "unstable-choice": "the panel was chosen from several; actual coverage may be up to 9 points too low.",
}
EXPLAINING: Final[Mapping[str, str]] = {
    "few-labels": "fewer than 30 labels for the correction; the interval is approximate.",
    "few-missing": "too few missing verdicts for this test's approximation.",
    "few": "too few events for this test's approximation.",
    MISSING_ON_ERRORS: "more verdicts are missing on items that the judge gets wrong.",
    MISSING_ON_RIGHT: "more verdicts are missing on items that the judge gets right.",
    "reference-floor": "this test asks once, so the reference's rerun noise replaces its own; half of any noise "
    "that the test adds counts as excess.",
    "single-level": "the factor has a single level and was left out.",
    "confounded": "no question was repeated; the last component includes rerun noise.",
    "negative": "a negative variance estimate was set to 0.",
    "equivalent": "equivalent: the change lies within the declared margin.",
    "different": "different: the change exceeds the declared margin.",
    "undecided": "inconclusive: too few data to decide whether the change lies within the declared margin.",
}
