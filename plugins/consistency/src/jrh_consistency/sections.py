"""The section on transitivity, and on scores, comparisons and lists that contradict each other."""

from __future__ import annotations

from typing import Final

from jrh_measuring import MeasureTable, MeasureTables

_AGREEMENTS: Final = {
    "pointwise-pairwise": "Scores against comparisons",
    "listwise-pairwise": "Lists against comparisons",
    "score-ranking": "Scores against lists",
}
"""Measure -> caption of the table of it and its kin."""


def consistency() -> MeasureTables:
    """Build the section."""
    return MeasureTables(
        text="Preferences are circular where a judge prefers A to B, B to C and C to A. An excess is what remains "
        "above the largest value that rerun noise explains: above 0, the judge contradicts itself.",
        tables=(
            MeasureTable(
                caption="Circular preferences among three responses",
                columns={
                    "cycle-share": "circular triples",
                    "cycle-noise": "by noise at most",
                    "cycle-excess": "excess over noise",
                },
                notes=True,
            ),
            *(_agreement(name, what) for name, what in _AGREEMENTS.items()),
        ),
    )


def _agreement(name: str, caption: str) -> MeasureTable:
    return MeasureTable(
        caption=caption,
        columns={
            name: "agreement",
            f"{name}-conflict": "contradiction",
            f"{name}-excess": "excess over noise",
        },
        levels={"compared-with": "Compared with"},
        notes=True,
    )
