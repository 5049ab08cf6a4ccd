"""Define a finding: a sentence a person can act on, with the measures it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import Factory, field, frozen
from attrs.validators import deep_mapping, ge, gt, instance_of, lt


class Severity(Enum):
    """How much a finding matters: decided findings first, the worst at the top, then open ones."""

    BAD = "bad"
    """The judge fails here."""
    WARNING = "warning"
    """The judge, the data or a number needs attention."""
    INFO = "info"
    """Worth knowing; neither for nor against the judge."""
    GOOD = "good"
    """Shown to hold."""
    INCONCLUSIVE = "inconclusive"
    """Too few data to confirm or rule it out."""

    @property
    def rank(self) -> int:
        """Return the place in the order that every output lists findings in; 0 for the worst."""
        # The order of the members above is that of outputs.
        return list(Severity).index(self)


@frozen(kw_only=True)
class Basis:
    """One measure that a finding rests on, and what it shows."""

    name: str
    """Name of the measure. Name, judge, task, test and cell identify it."""
    judge: str = ""
    task: str = ""
    test: str = ""
    cell: Mapping[str, str] = Factory(dict)
    value: str = ""
    """The estimate as text, such as `+0.28`; empty where the sentence says all."""
    interval: str = ""
    """Its interval as text, such as `[0.14, 0.42]`."""
    aside: str = ""
    """What it is compared with, such as `against 0.50`."""
    size: str = ""
    """What it rests on, such as `25 items`."""
    decide: str = ""
    """What would decide it, as a clause: `80% power for an effect of 0.05 takes 240 to 400 items in all`; or empty."""
    effect: float = 0.0
    """How large it is, to sort by: the distance from 0, or from 1 where a share of verdicts should be 1."""

    @property
    def figure(self) -> str:
        """Return estimate, interval and size as one text; empty where the sentence says all."""
        if not self.value:
            return ""
        shown = " ".join(part for part in (self.value, self.interval, self.aside) if part)
        figure = f"{shown}, n = {self.size}" if self.size else shown
        return f"{figure} ({self.decide})" if self.decide else figure


@frozen(kw_only=True)
class Finding:
    """A sentence a person can act on, derived from measures by a rule."""

    kind: str
    """Short name of the rule's answer, such as `moves-more-than-reruns`."""
    severity: Severity
    judge: str = ""
    """Empty if it is about the data or a test, not about a judge."""
    task: str = ""
    tests: tuple[str, ...] = ()
    statement: str
    """What was found, without numbers."""
    sentence: str
    """The statement with its numbers and with what would decide it."""
    basis: tuple[Basis, ...] = ()
    """The measures it rests on, the largest first."""
    decide: str = ""
    """What would decide an inconclusive finding, as a clause (see `Basis.decide`)."""
    floor: float | None = None
    """The effect floor it was held against."""
    margin: float | None = None
    """The equivalence margin it was held against."""


@frozen(kw_only=True)
class ClaimFamily:
    """The hypotheses behind all claims of a difference in a document, tested as one family."""

    tests: int
    """Number of hypotheses."""
    claimed: int
    """Number of hypotheses that are rejected."""
    alpha: float
    """The probability of any false claim of a difference in it is at most this."""
    method: str = "holm-tarone"
    """Name of the procedure; see `jrh_stats.chained_holm`."""
    equivalences: int = 0
    """Number of equivalence tests, whose false discovery rate is at most `alpha` (Benjamini and Hochberg)."""

    @property
    def brief(self) -> str:
        """Return what is controlled, in one line of a terminal."""
        tests = f"{self.tests:,} {'test' if self.tests == 1 else 'tests'}"
        return f"Corrected for {tests} (Holm, {100 * self.alpha:.3g}%)"

    @property
    def error_rates(self) -> str:
        """Return what is controlled, in a sentence or two."""
        if not self.equivalences:
            return f"{self.brief}."
        tests = f"{self.equivalences:,} {'test' if self.equivalences == 1 else 'tests'}"
        return f"{self.brief} and {tests} of equivalence (Benjamini-Hochberg, {100 * self.alpha:.3g}%)."

    @property
    def sentence(self) -> str:
        """Return what is controlled, for readers of the report."""
        return f"{self.error_rates} Gate rules and added metrics with tests have error rates of their own."


@frozen(kw_only=True)
class FindingSettings:
    """The effect floors and the equivalence margin of findings."""

    floor: float = field(
        # Enough items make any difference significant, also one too small to matter.
        default=0.03,
        validator=[ge(0.0), lt(1.0)],
        metadata={"help": "Effects smaller than this are reported as negligible, however significant they are."},
    )
    floors: Mapping[str, float] = field(
        factory=dict,
        validator=deep_mapping(key_validator=instance_of(str), value_validator=[ge(0.0), lt(1.0)]),
        metadata={"help": "Effect floors of single kinds of finding, such as `{position-bias: 0.05}`."},
    )
    margin: float = field(
        default=0.05,
        # Above 0: no amount of data shows that a change is exactly 0.
        validator=[gt(0.0), lt(1.0)],
        metadata={"help": "Changes within this margin count as equivalent; declare it before seeing results."},
    )
