"""Declares the section `gate` of a suite: the rules that `jrh gate` checks."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import StageSpec
from jrh_measuring import GateOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the stage whose section holds the rules. A run checks none of them: `jrh gate` does."""
    yield StageSpec(
        name="gate",
        summary="The rules that `jrh gate` checks.",
        key="gate",
        options=GateOptions,
        factory="jrh.plugins:Stage",
    )
