"""Look measures up by what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen
from jrh import Measure

from jrh_measuring.findings.design import Place


@frozen(kw_only=True, eq=False)
class MeasureIndex:
    """The measures of a report by place, and by judge and name."""

    wholes: Mapping[tuple[str, str], Sequence[Measure]]
    """(judge, name) -> its measures of whole tests."""
    by_place: Mapping[Place, Measure]
    parts: Mapping[tuple[str, str], Sequence[Measure]]
    """(judge, name) -> its measures by variant, stratum, template and the like."""

    @classmethod
    def of(cls, measures: Iterable[Measure]) -> MeasureIndex:
        """Sort measures."""
        measures = tuple(measures)
        wholes: dict[tuple[str, str], list[Measure]] = {}
        parts: dict[tuple[str, str], list[Measure]] = {}
        for measure in measures:
            (parts if measure.cell else wholes).setdefault((measure.judge, measure.name), []).append(measure)
        # Reversed: of two measures of one place the first counts.
        by_place = {Place.of(measure): measure for measure in reversed(measures)}
        return cls(wholes=wholes, by_place=by_place, parts=parts)
