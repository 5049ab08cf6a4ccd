"""The rules about judges that ignore their rubric, or let one criterion count for others."""

from __future__ import annotations

from jrh_measuring import Defect, Defects


class Criteria(Defects):
    """Tells whether a judge reads its rubric, and judges every criterion by itself, wherever it is listed."""

    defects = (
        Defect(
            kind="rubric-ignored",
            measure="rubric-effect",
            statement="Ignores its rubric: another one moves verdicts by less than {floor} beyond reruns, so that "
            "agreement with gold labels does not come from the rubric",
            # The claim is that the effect is small, so the test is from below the floor.
            side="below",
            null=None,
            weight=0.1,
            parts=True,
        ),
        Defect(
            kind="halo",
            measure="halo-effect",
            statement="Halo: cutting the evidence for one criterion moves verdicts on the others beyond reruns. Ask "
            "one criterion per call, or state what each is about",
            weight=0.5,
            parts=True,
        ),
        Defect(
            kind="batch-fatigue",
            measure="late-accuracy-change",
            statement="Criteria late in a call are judged worse than the same ones early in it (change of agreement "
            "with gold). Ask fewer per call",
            side="below",
            weight=0.5,
            parts=True,
        ),
        Defect(
            kind="counts-not-applicable",
            measure="not-applicable-as-met",
            statement="Calls criteria met that do not apply: scores are too high for responses to which few apply",
            # Some errors are to be expected of any judge.
            null=0.1,
            weight=0.1,
            reference=True,
        ),
    )
