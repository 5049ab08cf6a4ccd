"""The section on scores: whether they rank right above wrong, and which tests move them."""

from __future__ import annotations

from jrh_measuring import MeasureTable, MeasureTables

from jrh_reward.options import AUC, SHIFT


def scores() -> MeasureTables:
    """Build the section."""
    return MeasureTables(
        text="How well the scores of a judge rank what it scores. The area under the curve is the share of pairs of a "
        "right and a wrong answer in which the right one scores higher: 1 is best, 0.5 is chance. Kendall's tau-b "
        "compares the order of scores with that of the right levels. A shift is how far a test moves scores, in "
        "standard deviations of the judge's reference scores.",
        tables=(
            MeasureTable(
                caption="Scores by judge and test",
                columns={
                    AUC: "area under the curve",
                    "score-tau-b": "tau-b with the right levels",
                    SHIFT: "shift of scores",
                    f"{SHIFT}-p": "test of the shift",
                },
            ),
        ),
    )
