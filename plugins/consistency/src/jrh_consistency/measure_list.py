"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from jrh.plugins import MeasureInfo

CYCLES: Final = "preference-cycles"
"""Kind of finding."""
ONE_ORDER: Final = "one-order"
"""Flag of cycles among options that were shown in one order only."""
WAYS: Final[Mapping[str, tuple[str, str]]] = {
    "pointwise-pairwise": ("scores", "comparisons"),
    "listwise-pairwise": ("lists", "comparisons"),
    "score-ranking": ("scores", "lists"),
}
"""Metric -> the two ways of asking that it compares."""
_ROBUST: Final = "cluster-robust, within the bounds (`cluster-robust-wilson`)"
_CYCLES: Final = (
    MeasureInfo(
        name="cycle-share",
        formula="share of triples of responses with circular preferences",
        better="lower",
        interval=_ROBUST,
        flags=(ONE_ORDER,),
    ),
    MeasureInfo(
        name="tie-conflict-share",
        formula="share of triples whose ties contradict a preference",
        better="lower",
        interval=_ROBUST,
        source="jrh",
        on_request=True,
    ),
    MeasureInfo(
        name="cycle-chance",
        formula="`cycle-share` of coin tosses with as many ties: 1/4 without ties",
        on_request=True,
    ),
    MeasureInfo(
        name="cycle-noise",
        formula="largest `cycle-share` that noise explains: d (1 - d), where d is how often two verdicts on a pair "
        "differ, across repeats and option orders",
        source="jrh",
    ),
    MeasureInfo(
        name="cycle-excess",
        formula="`cycle-share` minus `cycle-noise`",
        unit="difference",
        better="lower",
        interval="delta method, by cluster (`cluster-robust-wilson`)",
        source="jrh",
    ),
)


def _agreement(name: str, one: str, other: str) -> Iterator[MeasureInfo]:
    yield MeasureInfo(
        name=name,
        formula=f"share of pairs of responses on which {one} and {other} agree, among the pairs that both decide",
        better="higher",
        interval="that of a rate",
    )
    yield MeasureInfo(
        name=f"{name}-conflict",
        formula=f"share of pairs on which {one} and {other} contradict each other",
        better="lower",
        interval=_ROBUST,
    )
    yield MeasureInfo(
        name=f"{name}-tie",
        formula="share of pairs that only one of the two calls a tie",
        interval=_ROBUST,
        on_request=True,
    )
    yield MeasureInfo(
        name=f"{name}-excess",
        formula=f"`{name}-conflict` minus the largest value that noise explains, e1 + e2 - 2 e1 e2, where e1 and e2 "
        "are the shares of reruns that contradict each other in the two tasks",
        unit="difference",
        better="lower",
        interval=_ROBUST,
    )


MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "transitivity": _CYCLES,
    **{name: tuple(_agreement(name, *ways)) for name, ways in WAYS.items()},
}
"""Metric -> its measures."""
