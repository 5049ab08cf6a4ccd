"""Families of tests: plain p-values, and those adjusted for being several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen
from jrh.values.measures import Measure
from jrh_stats import benjamini_hochberg, holm

from jrh_measuring.builder import MeasureBuilder
from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes

_TWO: Final = 2
_LEAST: Final = "the smallest p-value this test could have given; findings leave out tests that cannot decide"


@frozen(kw_only=True, eq=False)
class Tested:
    """One test of a family."""

    cell: Cell
    rows: Codes
    """The trials it is about, with or without a verdict."""
    usable: Codes
    """The trials it rests on."""
    p: float | None
    least: float = 0.0
    """The smallest p-value that the test could have given."""


def p_values(
    builder: MeasureBuilder,
    name: str,
    family: Sequence[Tested],
    *,
    test: str,
    over: str,
    nothing: str,
    adjusted: bool = True,
) -> Iterator[Measure]:
    """Yield the p-value of every member of a family, its least one, and where there are several the two adjusted ones.

    Holm's bounds the probability of any false alarm in the family, Benjamini and Hochberg's the expected share of false
    ones among the alarms.

    Args:
        builder: the metric's.
        name: name of what is compared; `-p`, `-p-least`, `-p-holm` and `-p-bh` are added.
        family: the tests.
        test: note of the plain p-values.
        over: what the family is made of, for the notes of the adjusted ones.
        nothing: note where there is no p-value.
        adjusted: yield the adjusted ones as well.
    """
    yield from (
        builder.p_value(
            f"{name}-p",
            each.cell,
            each.p,
            rows=each.rows,
            usable=each.usable,
            note=nothing if each.p is None else test,
        )
        for each in family
    )
    yield from (
        builder.p_value(f"{name}-p-least", each.cell, each.least, rows=each.rows, usable=each.usable, note=_LEAST)
        for each in family
        if each.p is not None and each.least > 0
    )
    tested = [(each, each.p) for each in family if each.p is not None]
    if not adjusted or len(tested) < _TWO:
        return
    plain = [p for _, p in tested]
    for suffix, changed, who in (
        ("holm", holm(plain), "Holm"),
        ("bh", benjamini_hochberg(plain), "Benjamini and Hochberg"),
    ):
        note = f"the p-value adjusted by {who} over {over}"
        for (each, _), p in zip(tested, changed.tolist(), strict=True):
            yield builder.p_value(f"{name}-p-{suffix}", each.cell, p, rows=each.rows, usable=each.usable, note=note)
