"""The rule about rationales that argue for another verdict than the one given."""

from __future__ import annotations

from jrh_measuring import Defect, Defects

_MISREAD = 0.06
"""The rules that read rationales misread about one in seventeen."""


class Contradictions(Defects):
    """Tells whether rationales argue for another verdict than the one given."""

    defects = (
        Defect(
            kind="rationale-contradiction",
            measure="rationale-contradiction",
            statement="Rationales argue against the verdict",
            null=_MISREAD,
        ),
    )
