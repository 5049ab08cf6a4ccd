"""Name the failures that are known and not mended, with the reason; they are shown as failures all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Final

from attrs import evolve, frozen

from jrh_selftest.findings import Finding, Verdict

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

_REASONS: Final[Mapping[str, str]] = {
    "selected": "most studies are flagged; the others are those in which chance made the answers differ more, or less, "
    "than usual. Over all studies coverage is right, or the row is flagged as a whole",
    "cautious": "wider than necessary: claims are too careful, none is too strong",
    "sided": "coverage is right, the misses lie more on one side: the sampling distribution is skewed, and the flags "
    "do not see it at this size",
    "few-repeats": "30 items: 92.9% where 93 is the limit, and 94.5% over all studies; a bootstrap of 30 skewed sums",
    "noise": "the noise floor of a few noisy items is skewed; 94.2% over all studies",
    "trio": "nested cross-validation understates the error of choosing among trios that are alike; 1 to 3% of coverage",
    "none": "all six questions have the other right label: the rate is shown as not estimable, which is no flag",
    "correction": "the difference of two bootstrapped shares that lean the same way; 93.5% over all studies",
    "skew": "the mean of 100 exponential values by Student's t; 94.2% are covered",
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
        if rate is None or not number:
            return True
        spread = min(max(self.covered, 0.05), 0.95)
        return rate >= self.covered - _SLACK - 3 * sqrt(spread * (1 - spread) / number)


def _faults(finding: Finding) -> frozenset[str]:
    told = [part for part in finding.reason.split("; ") if not part.endswith("as documented")]
    return frozenset(name for name, words in _FAULTS.items() if any(words in part for part in told))


def _read(line: str) -> Known:
    where, name, faults, covered, why = (part.strip() for part in line.split("|"))
    return Known(
        where=where,
        name=name,
        faults=frozenset(faults.split()),
        covered=float(covered) / 100,
        why=_REASONS[why],
    )


_ROWS: Final = """
pointwise | rerun-disagreement | above rarely | 91.7 | selected
pointwise | missing | above | 93.3 | selected
pairwise | as-expected | often | 97.1 | cautious
pairwise | rerun-disagreement | above rarely | 91.2 | selected
pairwise | excess-disagreement | often | 99.2 | cautious
ordinal | root-mean-squared-error | above below rarely | 75.7 | selected
ordinal | adjacent-accuracy | below | 93.8 | sided
ordinal | pearson | above below rarely | 87.3 | selected
ordinal | concordance | above below rarely | 88.2 | selected
ordinal | spearman | above rarely | 89.4 | selected
ordinal | gold-kappa-quadratic | above below rarely | 88.2 | selected
near one | as-expected | below rarely | 3.3 | selected
near one | agreement | below rarely | 21.6 | selected
near one | excess-disagreement | above rarely | 0.0 | selected
near one | noise-floor | above rarely | 0.0 | selected
near one | kappa | below rarely | 21.6 | selected
near one | false-positive-rate | above rarely | 0.0 | selected
near one | false-negative-rate | above rarely | 0.0 | selected
near one | gold-accuracy | below rarely | 76.9 | selected
near one | flip-rate | above rarely | 21.6 | selected
duplicated items | excess-disagreement | often | 98.1 | cautious
duplicated items | false-negative-rate | often | 97.7 | cautious
rare label | rerun-disagreement | above | 94.2 | sided
rare label, near one | as-expected | below rarely | 0.0 | selected
rare label, near one | agreement | below rarely | 28.9 | selected
rare label, near one | rerun-disagreement | above rarely | 0.0 | selected
rare label, near one | excess-disagreement | above rarely | 9.1 | selected
rare label, near one | noise-floor | above rarely | 0.0 | selected
rare label, near one | false-negative-rate | above rarely | 0.0 | selected
thirty items | agreement | below rarely | 92.9 | few-repeats
thirty items | rerun-disagreement | above rarely | 91.5 | selected
near zero | as-expected | above rarely | 2.9 | selected
near zero | excess-disagreement | often | 97.3 | cautious
near zero | noise-floor | above rarely | 0.0 | selected
near zero | kappa | above | 94.6 | sided
near zero | false-positive-rate | below rarely | 0.0 | selected
near zero | false-negative-rate | below rarely | 0.0 | selected
unequal clusters | agreement | below rarely | 69.8 | selected
unequal clusters | false-negative-rate | often | 97.1 | cautious
three options | excess-disagreement | often | 98.8 | cautious
ordinal, large | excess-disagreement | below | 93.8 | sided
ordinal, near one | as-expected | below rarely | 84.5 | selected
ordinal, near one | agreement | below rarely | 73.4 | selected
ordinal, near one | rerun-disagreement | above rarely | 0.0 | selected
ordinal, near one | excess-disagreement | above rarely | 20.0 | selected
ordinal, near one | noise-floor | above rarely | 82.4 | selected
ordinal, near one | kappa | below rarely | 69.2 | selected
ordinal, near one | kappa-quadratic | above below rarely | 53.3 | selected
ordinal, near one | mean-absolute-error | above rarely | 86.9 | selected
ordinal, near one | adjacent-accuracy | below rarely | 0.0 | selected
ordinal, near one | scale-compression | above rarely | 87.3 | selected
ordinal, thirty items | accuracy-change | above | 93.3 | selected
ordinal, thirty items | root-mean-squared-error | above below rarely | 60.8 | selected
ordinal, thirty items | adjacent-accuracy | below rarely | 87.9 | selected
ordinal, thirty items | pearson | above below rarely | 88.1 | selected
ordinal, thirty items | concordance | above below rarely | 88.1 | selected
ordinal, thirty items | spearman | above below rarely | 90.7 | selected
ordinal, thirty items | gold-kappa-quadratic | above below rarely | 88.1 | selected
six questions, ten copies | false-positive-rate | silent | 0 | none
six questions, ten copies | false-negative-rate | silent | 0 | none
ordinal, unequal | agreement | below rarely | 85.4 | selected
transcript, large | agreement | below rarely | 90.0 | selected
transcript, large | excess-disagreement | often | 98.7 | cautious
transcript, large | accuracy-change | often | 97.4 | cautious
transcript, large | false-positive-rate | often | 97.2 | cautious
reference 5x, test 1x | kappa | often | 97.5 | cautious
reference 5x, test 1x | false-negative-rate | often | 97.1 | cautious
reference 10x, test 1x | kappa | often | 97.5 | cautious
reference 10x, test 1x, right | accuracy-change | often | 99.4 | cautious
reference 10x, test 1x, right | false-positive-rate | above | 93.8 | selected
reference 10x, test 1x, right | false-negative-rate | above rarely | 92.8 | selected
five repeats, noisy | excess-disagreement | below rarely | 93.0 | noise
few noisy items | accuracy-change | often | 97.4 | cautious
few noisy items | false-negative-rate | often | 97.3 | cautious
ordinal, wild errors | excess-disagreement | often | 98.5 | cautious
near-duplicates | accuracy-change | often | 97.1 | cautious
wrong verdicts lost | as-expected | above rarely | 54.7 | selected
wrong verdicts lost | false-positive-rate | below rarely | 67.9 | selected
wrong verdicts lost | false-negative-rate | below rarely | 73.6 | selected
raters: near one | Fleiss' kappa | below rarely | 78.4 | selected
raters: near one | Krippendorff's alpha | below rarely | 79.1 | selected
raters: near one | Gwet's AC1 | below rarely | 85.0 | selected
raters: near one | PABAK | below rarely | 84.8 | selected
raters: rare label, near one | Gwet's AC1 | below rarely | 85.5 | selected
raters: rare label, near one | PABAK | below rarely | 82.6 | selected
arrays | calibration error | often | 97.8 | cautious
40 items, 2 judges | ICC(2,1) | often | 97.6 | cautious
near zero | Rogan-Gladen | above rarely | 73.1 | selected
near one | Brier score | above below rarely | 50.5 | selected
5 levels, 200 items | variance of item:judge | often | 97.1 | cautious
trio: six alike, 60 items | best trio, held out | below | 93.4 | trio
trio: six that differ, 100 items | best trio, held out | below rarely | 91.7 | trio
items: skewed | mean | below | 94.2 | skew
templates | jss-raw | often | 97.3 | cautious
templates | jss-correction | above rarely | 91.9 | correction
templates, near one | jss | below rarely | 87.8 | selected
templates, near one | jss-raw | below rarely | 10.4 | selected
templates, near one | template-kappa | below rarely | 87.0 | selected
"""
"""design | measure | what is outside | coverage of unflagged studies, % | reason"""
KNOWN: Final[Sequence[Known]] = tuple(_read(line) for line in _ROWS.strip().splitlines())


def known_failure(finding: Finding, known: Sequence[Known] = KNOWN) -> Finding:
    """Return the row with the reason for a failure that is known. It is shown as a failure all the same."""
    if finding.verdict is not Verdict.FAIL:
        return finding
    return evolve(finding, known=next((each.why for each in known if each.explains(finding)), ""))
