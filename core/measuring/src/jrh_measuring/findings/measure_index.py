"""Look measures up by what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen
from jrh.values.measures import Measure

from jrh_measuring.findings.design import Place


@frozen(kw_only=True, eq=False)
class MeasureIndex:
    """The measures of a report by task, judge, test and name."""

    wholes: Mapping[tuple[str, str, str, str], Measure]
    """(task, judge, test, name) -> the measure of the whole test."""
    judged: Mapping[tuple[str, str], tuple[Measure, ...]]
    """(judge, name) -> its measures of whole tests."""
    by_place: Mapping[Place, Measure]
    parts: Mapping[tuple[str, str], tuple[Measure, ...]]
    """(judge, name) -> its measures by variant, stratum, template and the like."""

    @classmethod
    def of(cls, measures: Iterable[Measure]) -> MeasureIndex:
        """Sort measures."""
        measures = tuple(measures)
        wholes: dict[tuple[str, str, str, str], Measure] = {}
        judged: dict[tuple[str, str], list[Measure]] = {}
        parts: dict[tuple[str, str], list[Measure]] = {}
        for each in measures:
            if each.cell:
                parts.setdefault((each.judge, each.name), []).append(each)
            else:
                wholes.setdefault((each.task, each.judge, each.test, each.name), each)
                judged.setdefault((each.judge, each.name), []).append(each)
        return cls(
            wholes=wholes,
            judged={key: tuple(found) for key, found in judged.items()},
            by_place={Place.of(each): each for each in reversed(measures)},
            parts={key: tuple(found) for key, found in parts.items()},
        )

    def whole(self, name: str, task: str, judge: str, test: str) -> Measure | None:
        """Return the measure of a whole test."""
        return self.wholes.get((task, judge, test, name))

    def of_judge(self, judge: str, name: str) -> tuple[Measure, ...]:
        """Return the measures of a name for the whole tests of a judge."""
        return self.judged.get((judge, name), ())
