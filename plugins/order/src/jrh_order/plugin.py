"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, Mode, PerturberSpec, hookimpl
from jrh.plugins import RuleSpec, SectionSpec
from jrh_measuring import read_metrics, read_rules, read_sections

from jrh_order.options import IdenticalOptions, OrderOptions

JRH_API_VERSION = 2

_PAIRWISE = frozenset({Mode.PAIRWISE})


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="option-order",
        summary="the options of a pair swapped, those of a longer list rotated and reversed",
        options=OrderOptions,
        factory="jrh_order.perturbers:option_order",
        modes=_PAIRWISE,
    )
    yield PerturberSpec(
        name="identical-options",
        summary="the same response as every option: which position does the judge pick?",
        options=IdenticalOptions,
        factory="jrh_order.perturbers:identical_options",
        modes=_PAIRWISE,
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_order")


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules about places of options."""
    return read_rules("jrh_order")


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    return read_sections("jrh_order")
