"""What a study yields, what is found over many studies (the rows of the table), and which failures are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from math import sqrt
from typing import Final

from attrs import evolve, frozen


class Verdict(Enum):
    """How a check ended."""

    OK = "ok"
    FLAGGED = "flagged"
    """Outside the limits over all studies, but every such study says so itself: the unflagged ones are within."""
    SELECTED = "selected"
    """Outside only because flags leave chance samples: the intervals of all studies are within the limits."""
    FEW = "too few"
    """At least nine studies in ten are flagged, and hardly any study is wrong without a flag."""
    UNCLEAR = "unclear"
    """A count is outside its limit by less than the Monte Carlo error."""
    FAIL = "FAIL"
    ABSENT = "not there"
    """The metric or a component of the run is not installed, or does not yield the measure."""


@frozen(kw_only=True)
class Study:
    """The estimate of one drawn study."""

    value: float | None
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()
    method: str = ""


@frozen(kw_only=True)
class Finding:
    """One row of the table."""

    where: str
    name: str
    kind: str
    """`interval`, `false alarms`, `power` or `run`."""
    planted: float | None = None
    estimated: float | None = None
    rate: float | None = None
    """Coverage, false-alarm rate or power."""
    rate_low: float | None = None
    """95% Monte Carlo interval of the rate."""
    rate_high: float | None = None
    studies: int = 0
    verdict: Verdict
    nominal: float | None = None
    """What the rate should be: the level of the interval or of the test."""
    flagged: float | None = None
    """Share of the studies with a flag that says that the interval may not cover as stated, or without an interval."""
    rate_without_flag: float | None = None
    """Coverage in the other studies; None if there are none."""
    without_flag: int | None = None
    """Number of the other studies."""
    too_low: float | None = None
    """Share of them whose whole interval is below the planted value."""
    too_high: float | None = None
    """Share of them whose whole interval is above it."""
    width: float | None = None
    """Mean width in widths of the narrowest interval, built with the estimator's true standard deviation."""
    width_judged: bool = False
    """The design has repeats, and most studies have no flag: the width has a limit."""
    least: float | None = None
    """The least power that passes; None where the rate is no power."""
    known: str = ""
    """Why a failure is known and not mended yet."""
    reason: str = ""


def absent(where: str, name: str, kind: str, reason: str = "") -> Finding:
    """Return the row of a missing measure."""
    return Finding(where=where, name=name, kind=kind, verdict=Verdict.ABSENT, reason=reason)


_FAULTS: Final[Mapping[str, str]] = {
    "rarely": "covers too rarely",
    "often": "covers too often",
    "below": "are below the planted value",
    "above": "are above the planted value",
    "wide": "times as wide",
    "silent": "no interval and no flag",
    "off": "the estimate is off",
}
"""What may be outside -> the words for it in a finding."""
_SLACK: Final = 0.02
"""How much less a known row may cover, besides three standard errors, before it counts as a new failure."""

# One text for all rows of a kind, so that a row of the table stays one line.
_REASONS: Final[Mapping[str, str]] = {
    "unseen": "where few large errors were seen, the interval is too short; nearly every study has a flag",
    "sided": "coverage is right, the misses lie more on one side: the sampling distribution is skewed",
    "flagged-misses": "3.5% or little more of all studies miss on one side, nearly all of them without a flag",
    "flagged": "nearly every study has a flag; few events, or thirty clusters, leave the variance too small",
    "few-repeats": "30 items: 92.9% where 93 is the limit, and 94.5% over all studies; a bootstrap of 30 skewed sums",
    "wide": "wider than necessary: claims are too careful, none is too strong",
    "correction": "the difference of two bootstrapped shares that lean the same way; 93.5% over all studies",
    "skew": "the mean of 100 skewed values by Student's t: 94.3% are covered, 2.1% of all are wrong without a flag",
}


@frozen(kw_only=True)
class Known:
    """A row that fails, and how."""

    where: str
    name: str
    faults: frozenset[str]
    covered: float
    """Coverage of the studies without a flag when the failure was recorded."""
    why: str

    def explains(self, finding: Finding) -> bool:
        """Tell whether a failure is this one: the same row, no other fault, and coverage not lower than it was."""
        if (finding.where, finding.name) != (self.where, self.name) or not _faults(finding) <= self.faults:
            return False
        rate, number = finding.rate_without_flag, finding.without_flag
        # Every study is flagged: there is no coverage that could have become lower.
        if rate is None or not number:
            return True
        # At 0 or 1 the standard error would be 0, and one study more would be a new failure.
        spread = min(max(self.covered, 0.05), 0.95)
        return rate >= self.covered - _SLACK - 3 * sqrt(spread * (1 - spread) / number)


def _faults(finding: Finding) -> frozenset[str]:
    # A documented bias is no fault and needs no entry.
    reasons = [part for part in finding.reason.split("; ") if not part.endswith("as documented")]
    return frozenset(name for name, words in _FAULTS.items() if any(words in part for part in reasons))


def _read(line: str) -> Known:
    where, name, faults, covered, why = (part.strip() for part in line.split("|"))
    share = float(covered) / 100
    return Known(where=where, name=name, faults=frozenset(faults.split()), covered=share, why=_REASONS[why])


_ROWS: Final = """
thirty items | excess-disagreement | rarely | 97.1 | flagged
thirty items | agreement | below rarely | 92.9 | few-repeats
ordinal, large | excess-disagreement | below | 93.8 | sided
ordinal, thirty items | root-mean-squared-error | above below rarely | 38.1 | unseen
reference 10x, test 1x, right | false-negative-rate | above rarely | 91.6 | flagged-misses
five repeats, noisy | excess-disagreement | below rarely | 92.6 | sided
templates, near one | jss-raw | below rarely | 10.4 | flagged
templates, near one | jss-correction | often rarely | 97.8 | flagged
templates | jss-correction | above rarely | 91.9 | correction
arrays | variance of item:judge | often | 97.9 | wide
40 items, 2 judges | ICC(2,1) | often | 97.6 | wide
items: skewed | mean | below rarely | 90.5 | skew
"""
"""design | measure | what is outside | coverage of unflagged studies, % | reason"""
KNOWN: Final[Sequence[Known]] = tuple(_read(line) for line in _ROWS.strip().splitlines())


def explain_failure(finding: Finding, known: Sequence[Known] = KNOWN) -> Finding:
    """Return the row with the reason for a failure that is known. It is shown as a failure all the same."""
    if finding.verdict is not Verdict.FAIL:
        return finding
    return evolve(finding, known=next((failure.why for failure in known if failure.explains(finding)), ""))
