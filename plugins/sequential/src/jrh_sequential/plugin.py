"""Declare the allocators, and what a report says of them."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import AllocatorSpec, SectionSpec

from jrh_sequential.options import RaceOptions, StopOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_allocators() -> Iterable[AllocatorSpec]:
    """Declare the allocators."""
    yield AllocatorSpec(
        name="stop",
        summary="asks a judge no more once its rules are decided, with limits that hold at every look",
        options=StopOptions,
        factory="jrh_sequential.allocators:Stop",
        sees_verdicts=True,
    )
    yield AllocatorSpec(
        name="race",
        summary="drops judges that are worse than another on the same items, until one is left",
        options=RaceOptions,
        factory="jrh_sequential.allocators:Race",
        sees_verdicts=True,
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    yield SectionSpec(
        name="sequential",
        summary="what was decided at the looks of a run that stops early, and what it saved",
        title="Early stopping",
        factory="jrh_sequential.section:Looks",
        # Before the judges' measures: all their intervals are read in the light of it.
        order=-10,
    )
