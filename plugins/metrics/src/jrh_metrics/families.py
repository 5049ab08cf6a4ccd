"""Families of tests: plain p-values, and those adjusted for being several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen
from jrh import Measure
from jrh_stats import benjamini_hochberg, holm

from jrh_metrics.cells import Cell
from jrh_metrics.measuring import MeasureBuilder
from jrh_metrics.trials import Codes

_TWO: Final = 2


@frozen(kw_only=True, eq=False)
class Tested:
    """One test of a family."""

    cell: Cell
    usable: Codes
    """The trials it rests on."""
    p: float | None


def p_values(
    builder: MeasureBuilder, name: str, family: Sequence[Tested], *, test: str, over: str, nothing: str
) -> Iterator[Measure]:
    """Yield the p-value of every member of a family, and where there are several the two adjusted ones.

    Holm's bounds the probability of any false alarm in the family, Benjamini and Hochberg's the expected share of false
    ones among the alarms.

    Args:
        builder: the metric's.
        name: name of what is compared; `-p`, `-p-holm` and `-p-bh` are added.
        family: the tests.
        test: note of the plain p-values.
        over: what the family is made of, for the notes of the adjusted ones.
        nothing: note where there is no p-value.
    """
    yield from (
        builder.p_value(f"{name}-p", each.cell, each.p, usable=each.usable, note=nothing if each.p is None else test)
        for each in family
    )
    tested = [(each, each.p) for each in family if each.p is not None]
    if len(tested) < _TWO:
        return
    plain = [p for _, p in tested]
    for suffix, adjusted, who in (
        ("holm", holm(plain), "Holm"),
        ("bh", benjamini_hochberg(plain), "Benjamini and Hochberg"),
    ):
        note = f"the p-value adjusted by {who} over {over}"
        for (each, _), p in zip(tested, adjusted.tolist(), strict=True):
            yield builder.p_value(f"{name}-p-{suffix}", each.cell, p, usable=each.usable, note=note)
