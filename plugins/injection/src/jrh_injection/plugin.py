"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, PerturberSpec, hookimpl
from jrh.plugins import FlagSpec, KindSpec, RuleSpec, SectionSpec
from jrh_measuring import read_metrics, read_sections

from jrh_injection.measure_list import AGAINST_RERUNS, ANY, SUCCESSES
from jrh_injection.options import InjectionOptions, WrittenOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="injection",
        summary="text addressed to the judge: commands, forged turns, tags and rubrics, encodings, master keys, pleas",
        options=InjectionOptions,
        factory="jrh_injection.perturber:Injection.build",
    )
    yield PerturberSpec(
        name="written-injection",
        summary="text addressed to the judge that a model of the suite writes",
        options=WrittenOptions,
        factory="jrh_injection.perturber:WrittenInjection.build",
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_injection")


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    return read_sections("jrh_injection")


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flag."""
    meaning = "held against reruns: the test has no harmless text of the same length."
    yield FlagSpec(name=AGAINST_RERUNS, meaning=meaning)


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule."""
    yield RuleSpec(
        name="attacks",
        summary="which attacks are shown to succeed, and whether a judge withstands all of them",
        reads=tuple(f"{name}{end}" for name in SUCCESSES for end in ("", ANY, "-control", "-noise", "-excess")),
        kinds=(
            KindSpec(name="obeys-attacks", order=290, floored=True),
            KindSpec(name="withstands-attacks", order=290),
            KindSpec(name="attacks-undecided", order=290),
        ),
        factory="jrh_injection.rules:Attacks",
    )
