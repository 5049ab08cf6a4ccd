"""Rules that are a table: each row is a quantity that lies beyond a value only where there is a defect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from attrs import field, frozen
from attrs.validators import gt, le
from jrh import REFERENCE, Measure
from jrh.values import Severity

from jrh_measuring.findings.claims import Claim, Situation
from jrh_measuring.findings.design import Chain, Design, Hypothesis, Place, Side
from jrh_measuring.findings.rule import Rule


@frozen(kw_only=True)
class Defect:
    """What is said if the quantity of a measure is shown to lie on one side of a value, by the floor or more."""

    kind: str
    measure: str
    statement: str
    """`{floor}` is replaced by the effect floor."""
    side: Side = "above"
    null: float | None = 0.0
    """The value without a defect; None: the floor of the kind, beyond which every value counts."""
    severity: Severity = Severity.BAD
    weight: float = field(default=1.0, validator=[gt(0.0), le(1.0)])
    parts: bool = False
    """It is measured by factor levels, such as variants, not for whole tests."""
    reference: bool = False
    """It is about the reference condition alone."""

    def null_in(self, design: Design) -> float:
        """Return the value without a defect."""
        return design.floor_of(self.kind) if self.null is None else self.null

    def places(self, design: Design) -> tuple[Place, ...]:
        """Return where the quantity is measured."""
        places = design.parts(self.measure) if self.parts else design.wholes(self.measure)
        return tuple(place for place in places if not self.reference or place.test == REFERENCE)

    def is_shown(self, measure: Measure, now: Situation) -> bool:
        """Return whether a measure shows the defect."""
        null, value = self.null_in(now.design), measure.estimate
        # Shown and too small to matter is no defect. Where the floor is itself the null value it counts once.
        least = 0.0 if self.null is None else now.floor_of(self.kind)
        return value is not None and now.claims(measure, null) and abs(value) >= least


class Defects(Rule):
    """States every row of a table for every measure that it names, and claims what is shown."""

    defects: ClassVar[tuple[Defect, ...]]

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that no quantity lies beyond its value."""
        for defect in self.defects:
            for place in defect.places(design):
                null = defect.null_in(design)
                yield (Hypothesis(place=place, null=null, side=defect.side, weight=defect.weight),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what is shown."""
        for defect in self.defects:
            for place in defect.places(now.design):
                measure = now.at(place)
                if measure is not None and defect.is_shown(measure, now):
                    yield Claim(
                        kind=defect.kind,
                        severity=defect.severity,
                        statement=defect.statement.format(floor=f"{now.floor_of(defect.kind):g}"),
                        measure=measure,
                        aside=", ".join(measure.cell.values()),
                        floor=now.floor_of(defect.kind),
                    )
