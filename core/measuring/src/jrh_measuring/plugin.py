"""What jrh-measuring declares: the stage that measures, and the flags of its estimates and those of `jrh_stats`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jrh import hookimpl
from jrh.plugins import FlagSpec, KindSpec, RuleScope, RuleSpec, StageSpec
from jrh.values import FlagEffect

from jrh_measuring.flags import STOPPED_EARLY

JRH_API_VERSION = 2

_EXACT: Final = ("clopper-pearson",)
"""Limits that hold for any number of clusters (`jrh_stats.clustered_proportion`)."""
_BOUNDED: Final = ("imbens-manski",)
"""Intervals that hold whatever the missing verdicts would have been."""

_SMALL_SAMPLE: Final = {
    "few-items": "few items; the interval is wide, and its coverage is approximate.",
    "one-item": "one item only; chance-corrected agreement cannot be estimated.",
    "few-events": "only a few items or clusters vary; actual coverage may differ from the stated level.",
    "few-clusters": "few independent clusters of items; actual coverage may fall below the stated level.",
    "few-levels": "few judges, templates or repeats; for others than these, actual coverage may be far below 95%.",
    "degenerate": "not estimable from identical values.",
}
"""Too few data for the approximation behind an interval."""
_MISSING: Final = {
    "informative-missing": "verdicts are not missing at random; intervals of measures with bounds allow for any "
    "missing verdicts.",
    "untestable-missing": "items without a verdict were asked only once, so nothing shows why verdicts are missing; "
    "intervals of measures with bounds allow for any missing verdicts.",
}
"""Verdicts that are missing for a reason, or may be."""
_EXPLAINING: Final = {
    "change-due": "this test asks for different verdicts than the reference; agreement is not a merit here.",
    "constant-gold": "all gold labels are the same; a judge that always gives that label scores 100%.",
    "constant-verdicts": "the judge gave a single label throughout.",
    "constant-reference": "the judge gave a single label in the reference condition, so kappa is 0 by definition.",
    "sensitive-to-missing": "verdicts are missing; the interval would be off if wrong ones were lost ten times as "
    "readily as right ones, or the reverse, and the data cannot rule that out.",
    "all-missing": "every verdict is missing.",
    "empty": "no data.",
    "no-interval": "no interval; it cannot be estimated from identical values or from one item.",
    "conservative": "the interval is wider than necessary.",
    "cut": "the estimate fell outside [0, 1] and was clipped.",
}


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flags."""
    # Exact limits need no approximation: few items forbid nothing that rests on them.
    for name, meaning in _SMALL_SAMPLE.items():
        yield FlagSpec(name=name, meaning=meaning, effect=FlagEffect.FORBIDS, settled_by=_EXACT)
    # Intervals for any missing verdicts hold whatever the reason is that they are missing.
    yield FlagSpec(
        name=STOPPED_EARLY,
        meaning="an allocator ended the judging by the verdicts so far; intervals for a fixed number of items cover "
        "less than they say, and its own limits are in the section on early stopping.",
        effect=FlagEffect.FORBIDS,
    )
    for name, meaning in _MISSING.items():
        yield FlagSpec(name=name, meaning=meaning, effect=FlagEffect.FORBIDS, settled_by=_BOUNDED)
    # These explain a number; what is claimed with it stays as it is.
    for name, meaning in _EXPLAINING.items():
        yield FlagSpec(name=name, meaning=meaning)


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the stage that turns records into measures and findings, and the one that looks for named variants."""
    yield StageSpec(
        name="named-variants",
        summary="refuses a run without cases of a variant that a metric names, before judges are asked",
        factory="jrh_measuring.named_variants:NamedVariants",
        after=("perturb",),
        before=("judge",),
    )
    yield StageSpec(
        name="measure",
        summary="measures and findings of the records, also of a run that stopped early",
        factory="jrh_measuring.measure_stage:Measuring",
    )


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule about tests without cases."""
    yield RuleSpec(
        name="without-cases",
        summary="tests that made no case of a task that they are meant for",
        scope=RuleScope.DATA,
        kinds=(KindSpec(name="no-cases"),),
        factory="jrh_measuring.findings.data_rules:WithoutCases",
    )
