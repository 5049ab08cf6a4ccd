"""Declare the stage that uses corrected labels."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import StageSpec

from jrh_court.options import NAME, CorrectedBy

JRH_API_VERSION = 2


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the stage."""
    yield StageSpec(
        name=NAME,
        summary="labels that referees corrected, with their history",
        key="corrected_by",
        of_data=True,
        options=CorrectedBy,
        factory="jrh_court.corrections:CorrectedLabels",
        # People's labels and a judge's fill gaps; a correction replaces what is there.
        after=("load", "people-labels", "judged-gold"),
        before=("perturb",),
    )
