"""Declares the gate of a suite, its rules, and what a report says of it."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import SectionSpec, StageSpec
from jrh_measuring import GateOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the stage that checks the suite's rules at the end of a run; `jrh gate` checks them again."""
    yield StageSpec(
        name="gate",
        summary="The rules that a run has to meet; `jrh gate` checks them again.",
        key="gate",
        options=GateOptions,
        factory="jrh_gate.gate_of_run:GateOfRun",
        after=("judge", "measure"),
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the line above all other results."""
    yield SectionSpec(
        name="gate",
        summary="the gate's result in one line, above all others",
        title="Gate",
        factory="jrh_gate.gate_of_run:GateLine",
        # Before the answer: what a pipeline decides by comes first.
        order=-20,
    )
