"""Declare the metrics."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from jrh import MetricSpec, hookimpl
from jrh.plugins import FlagSpec, RuleSpec, SectionSpec
from jrh.values import FlagEffect, RunFinished
from jrh_measuring import read_metrics, read_rules, read_sections

from jrh_metrics.flag_list import EXPLAINING, FORBIDDING

JRH_API_VERSION = 2


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_metrics")


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flags of these metrics."""
    for name, meaning in FORBIDDING.items():
        yield FlagSpec(name=name, meaning=meaning, effect=FlagEffect.FORBIDS)
    for name, meaning in EXPLAINING.items():
        yield FlagSpec(name=name, meaning=meaning)


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules: accuracy, changes, reruns, verdicts, grading, people, covariates."""
    return read_rules("jrh_metrics")


@hookimpl
def jrh_run_finished(event: RunFinished) -> None:
    """Write down how long the stages of the run took."""
    # By its name, like a factory: no work is imported while plugins load.
    import_module("jrh_metrics.this_run").add_process(event)


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the sections."""
    return read_sections("jrh_metrics")
