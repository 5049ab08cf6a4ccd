"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from jrh.plugins import MeasureInfo

_ROBUST: Final = "cluster-robust, within the bounds (`cluster-robust-wilson`)"
_CYCLES: Final = (
    MeasureInfo(
        name="cycle-share",
        formula="share of triples of responses whose preferences run in a circle",
        better="lower",
        interval=_ROBUST,
    ),
    MeasureInfo(
        name="tie-conflict-share",
        formula="share of triples whose ties contradict a preference",
        better="lower",
        interval=_ROBUST,
        source="jrh",
    ),
    MeasureInfo(name="cycle-chance", formula="what coin tosses with as many ties give: 1/4 without ties"),
    MeasureInfo(
        name="cycle-noise",
        formula="most cycles that noise explains: d (1 - d), d how often two verdicts on a pair differ, "
        "option orders too",
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
    MeasureInfo(
        name="transitivity-finding",
        formula="finding: whether preferences run in circles more often than noise explains",
        better="lower",
        flags=("finding",),
        source="jrh",
    ),
)


def _agreement(name: str, one: str, other: str) -> Iterator[MeasureInfo]:
    yield MeasureInfo(
        name=name,
        formula=f"of the pairs of responses that both decide, the share on which {one} and {other} agree",
        better="higher",
        interval="that of a rate",
    )
    yield MeasureInfo(
        name=f"{name}-conflict", formula="share of pairs on which they disagree", better="lower", interval=_ROBUST
    )
    yield MeasureInfo(name=f"{name}-tie", formula="share of pairs that one of the two calls a tie", interval=_ROBUST)
    yield MeasureInfo(
        name=f"{name}-excess",
        formula=f"`{name}-conflict` minus the most that noise explains, e1 + e2 - 2 e1 e2, e the opposition of reruns",
        unit="difference",
        better="lower",
        interval=_ROBUST,
    )
    yield MeasureInfo(
        name=f"{name}-tau-b",
        formula="mean over requests of Kendall's tau-b of the two orders",
        unit="mean coefficient",
        better="higher",
        interval=_ROBUST,
        source="Kendall (1945)",
    )
    yield MeasureInfo(
        name=f"{name}-finding",
        formula="finding: whether the two contradict each other more often than noise explains",
        better="higher",
        flags=("finding",),
    )


MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "transitivity": _CYCLES,
    "pointwise-pairwise": tuple(_agreement("pointwise-pairwise", "scores", "comparisons")),
    "listwise-pairwise": tuple(_agreement("listwise-pairwise", "lists", "comparisons")),
    "score-ranking": tuple(_agreement("score-ranking", "scores", "lists")),
}
"""Metric -> its measures."""
