"""Replace the right result of a calculation with a wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from jrh_label_flip.edits import Edit
from jrh_label_flip.passages import Passage

_NUMBER: Final = r"\d{1,9}(?:\.\d{1,6})?"
_OPERATORS: Final = {
    "+": "+", "plus": "+", "-": "-", "\u2212": "-", "minus": "-", "*": "*", "x": "*", "\u00d7": "*", "times": "*",
    "multiplied by": "*", "/": "/", "\u00f7": "/", "divided by": "/",
}  # fmt: skip
_EQUATION: Final = re.compile(
    rf"(?<![\w.,+*/\u00d7\u00f7\u2212(-])(?<![\w)][ ][+*/x\u00d7\u00f7\u2212-][ ])"
    rf"(?P<one>{_NUMBER})[ ]*(?P<operator>{'|'.join(re.escape(name) for name in _OPERATORS)})[ ]*(?P<other>{_NUMBER})"
    rf"(?:[ ]*=[ ]*|[ ](?:is|equals|makes|gives)[ ])(?P<result>{_NUMBER})(?![\w]|[.,]\d|[ ]*[+*/=%\u00d7\u00f7\u2212-])"
)


def calculations(passage: Passage) -> Iterator[Edit]:
    """Yield an edit of the result of each calculation in digits that is right."""
    for sentence in passage.sentences:
        if sentence.negative:
            continue
        for found in _EQUATION.finditer(sentence.text):
            right = _computed(Decimal(found["one"]), _OPERATORS[found["operator"]], Decimal(found["other"]))
            if right is not None and right == Decimal(found["result"]):
                start, end = (sentence.start + place for place in found.span("result"))
                wrong = right + 1 + passage.draw(9, "calculation", start)
                yield Edit(start=start, end=end, new=f"{wrong:f}", sentences=(sentence.index,))


def _computed(one: Decimal, operator: str, other: Decimal) -> Decimal | None:
    if operator == "/":
        return one / other if other else None
    return {"+": one + other, "-": one - other, "*": one * other}[operator]
