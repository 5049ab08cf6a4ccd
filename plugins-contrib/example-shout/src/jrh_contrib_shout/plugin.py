"""What the plugin declares. Imports nothing but the standard library and jrh, so that loading it costs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, PerturberSpec, hookimpl
from jrh.plugins import FlagSpec, KindSpec, MeasureInfo, RuleSpec, SectionSpec
from jrh.values import FlagEffect
from jrh_measuring import BreakdownOptions

from jrh_contrib_shout.options import ShoutOptions

JRH_API_VERSION = 2

_STARTER = """\
# The response in capitals: a reliable judge does not move.
- shout: {share: 1.0}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="shout",
        summary="the response in capitals, wholly or in part",
        options=ShoutOptions,
        factory="jrh_contrib_shout.shout:build",
        starter=_STARTER,
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metric, which runs where a suite names it."""
    yield MetricSpec(
        name="loud-agreement",
        summary="share of verdicts that shouting does not change",
        options=BreakdownOptions,
        factory="jrh_contrib_shout.loudness:LoudAgreement",
        # On request: few suites have the test whose verdicts it measures.
        default=False,
        measures=(MeasureInfo(name="loud-agreement", formula="P(y = y0)", rate=True, flags=("half-loud",)),),
    )


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flag of tests with a share below 1."""
    yield FlagSpec(
        name="half-loud",
        meaning="only a part of the words is in capitals; a share of 1.0 would test more.",
        # It does not forbid claims: what half a test shows holds, and a full one could show more.
        effect=FlagEffect.WEAKENS,
    )


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule about verdicts that shouting changes."""
    yield RuleSpec(
        name="minds-shouting",
        summary="whether shouting changes more verdicts than the floor",
        reads=("loud-agreement",),
        # With a floor: enough items make a change significant that is too small to matter.
        kinds=(KindSpec(name="minds-shouting", floored=True),),
        factory="jrh_contrib_shout.minds_shouting:MindsShouting",
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    yield SectionSpec(
        name="capitals",
        summary="whether capitals move the verdict",
        title="Capitals",
        reads=("loud-agreement",),
        factory="jrh_contrib_shout.section:capitals",
    )
