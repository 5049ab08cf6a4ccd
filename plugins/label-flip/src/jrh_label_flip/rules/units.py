"""Replace a unit with another of the same dimension, which changes the quantity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jrh_label_flip.edits import Edit
from jrh_label_flip.passages import Passage
from jrh_label_flip.rules.quantities import Number, exact_numbers
from jrh_label_flip.wordlists import pairs

_SWAPS: Final = """
    km m, cm km, mm cm, kg mg, mg kg, ml l, kilometres metres, kilometers meters, metres kilometres, meters kilometers,
    centimetres metres, centimeters meters, millimetres metres, millimeters meters, kilometre metre, kilometer meter,
    metre kilometre, meter kilometer, miles feet, feet miles, mile foot, inches yards, yards inches, kilograms grams,
    grams kilograms, kilogram gram, tonnes kilograms, tons pounds, pounds tons, litres millilitres, liters milliliters,
    millilitres litres, milliliters liters, seconds hours, minutes hours, hours minutes, days weeks, weeks days,
    months days, years months, decades years, centuries years, hour minute, minute hour, day week, week day, year month,
    volts watts, watts volts, hertz kilohertz
"""
_OTHER: Final = dict(pairs(_SWAPS)) | {
    "degrees Celsius": "degrees Fahrenheit",
    "degrees Fahrenheit": "degrees Celsius",
    "\u00b0C": "\u00b0F",
    "\u00b0F": "\u00b0C",
}
_UNIT: Final = re.compile(
    rf"[ ]?(?P<unit>{'|'.join(re.escape(unit) for unit in sorted(_OTHER, key=len, reverse=True))})"
    r"(?![\w\u00b2\u00b3^/]|[ ](?:per|old)\b)"
)
_SAME_IN_BOTH: Final = "40"
"""-40 degrees is the same in Celsius and Fahrenheit; the sign is ignored to be safe."""


def units(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each unit after an exact, non-zero number."""
    for number in exact_numbers(passage):
        found = _UNIT.match(passage.text, number.end)
        if found is None or _same(number, found["unit"]):
            continue
        start, end = found.span("unit")
        yield Edit(start=start, end=end, new=_OTHER[found["unit"]], sentences=(number.sentence.index,))


def _same(number: Number, unit: str) -> bool:
    degrees = unit.startswith(("degrees", "\u00b0"))
    return degrees and number.text.lower() in (_SAME_IN_BOTH, "forty")
