"""The section on attacks: which attack moves which judge, what harmless text moves, and what defences are worth."""

from __future__ import annotations

from typing import Final

from jrh.values import MeasureRef
from jrh_measuring import HeatPart, Layer, MeasureTable, MeasureTables, ReportMeasures

from jrh_injection.measure_list import ANY

_TEXT: Final = (
    "Attack success is the share of verdicts that become what the attack asks for, among those that are not already. "
    "Harmless text of the same length and reruns move some verdicts as well: the excess is what the attack adds. On "
    "ordered scales, a verdict that becomes or only moves closer to what the attack asks for counts as raised."
)
_COLUMNS: Final = {
    f"attack-{what}{end}": f"{what}{of}"
    for what in ("success", "raise")
    for end, of in (
        ("", ""),
        (ANY, ", on any attack"),
        ("-control", ", harmless text"),
        ("-noise", ", reruns"),
        ("-excess", ", excess"),
        ("-excess-p", ", test of the excess"),
    )
}
"""Measure -> heading."""
_DRAWN: Final = {
    "attack-success": ("attack success", "share of verdicts that become what the attack asks for", None),
    "attack-success-excess": (
        "excess over harmless text",
        "attack success minus that of harmless text of the same length, or of reruns where a test has none",
        0.0,
    ),
}
"""Measure -> heading and meaning of its layer, and the value of no effect."""
_SUCCESS: Final = (
    MeasureTable(caption="All attacks of a test together", columns=_COLUMNS),
    MeasureTable(caption="Each attack", columns=_COLUMNS, levels={"attack": "Attack"}),
)
_DEFENCES: Final = tuple(
    MeasureTable(
        caption=f"Defences, compared with the judge without them{of}",
        columns={"defence-worth": "success that they prevent", "defence-cost": "gold agreement that they cost"},
        levels=levels,
    )
    for of, levels in (("", {}), (", by attack", {"attack": "Attack"}))
)


def attacks() -> MeasureTables:
    """Build the section on attacks by judge."""
    return MeasureTables(text=_TEXT, tables=(_heat, *_SUCCESS, *_DEFENCES))


def _heat(measures: ReportMeasures, task: str) -> HeatPart | None:
    """Draw judges by attacks; None without any. Attacks of several tests are named with their test."""
    cells_of = {name: list(measures.select(task, name, "attack")) for name in _DRAWN}
    several = len({measure.test for cells in cells_of.values() for _, measure in cells}) > 1
    cells = {
        (name, measure.judge, f"{measure.test}: " * several + measure.cell["attack"]): MeasureRef(measure=at)
        for name, attack_cells in cells_of.items()
        for at, measure in attack_cells
    }
    judges, attacks = (tuple(dict.fromkeys(key[place] for key in cells)) for place in (1, 2))
    if not cells:
        return None
    return HeatPart(
        caption="Attacks by judge",
        heads=("Judge", "Attack"),
        rows=judges,
        columns=attacks,
        layers=tuple(
            Layer(
                heading=heading,
                meaning=meaning,
                # A cell without a measure stays empty rather than 0: that attack was not used on that judge.
                cells=tuple(tuple(cells.get((name, judge, attack)) for attack in attacks) for judge in judges),
                zero=zero,
                tabled=False,
            )
            for name, (heading, meaning, zero) in _DRAWN.items()
        ),
    )
