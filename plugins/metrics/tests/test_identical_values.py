"""What every measure prints where values are identical: one table per situation."""

import pytest
from jrh import Measure, Scale

GOLD = [1, 2, 2, 3, 3, 3, 4, 4, 5, 6] * 2
LEVELS = Scale.of_levels(1, 6)
SAME = "not estimable from identical values"
"""How the note begins; in the tables below, what stands for an estimate there."""

SITUATIONS = {
    "all right": (GOLD, GOLD),
    "all one level too high": ([1, 2, 3, 4, 5] * 4, [2, 3, 4, 5, 6] * 4),
    "one verdict": (GOLD, [3] * 20),
    "one gold level": ([3] * 20, GOLD),
    "one verdict and one gold level": ([3] * 20, [3] * 20),
    "all missing but one": (GOLD, [1] + [None] * 19),
    "reversed": ([1, 2, 3, 4, 5, 6] * 3, [6, 5, 4, 3, 2, 1] * 3),
}

PRINTED = {
    "all right": """
        mean-absolute-error 0.00 [0.00, 0.81]
        root-mean-squared-error 0.00 [0.00, 2.01]
        bias 0.00 [-0.81, 0.81]
        adjacent-accuracy 1.00 [0.83, 1.00]
        pearson 1.00 [0.25, 1.00]
        spearman 1.00 [0.30, 1.00]
        scale-compression 1.00 [0.79, 1.27]
        gold-kappa 1.00 [0.25, 1.00]
        gold-accuracy 1.00 [0.83, 1.00]
        krippendorff-alpha 1.00 [0.32, 1.00]
        icc-2-1 1.00 no-interval
        brier 0.00 [0.00, 0.16]
        calibration-error 0.00 [0.00, 0.16]
        reliability 1.00 [0.84, 1.00]
    """,
    "all one level too high": """
        mean-absolute-error 1.00 [0.84, 1.64]
        root-mean-squared-error 1.00 [0.92, 2.21]
        bias 1.00 [0.03, 1.64]
        adjacent-accuracy 1.00 [0.83, 1.00]
        pearson 1.00 [0.16, 1.00]
        spearman 1.00 [0.17, 1.00]
        scale-compression 1.00 [0.77, 1.30]
        gold-kappa 0.80 [0.72, 0.86]
        gold-accuracy 0.00 [0.00, 0.17]
        brier 1.00 [0.84, 1.00]
        calibration-error 1.00 [0.86, 1.00]
        reliability 0.00 [0.00, 0.16]
    """,
    "one verdict": """
        mean-absolute-error 1.10 [0.73, 1.59]
        bias -0.30 [-0.96, 0.37]
        pearson SAME
        spearman SAME
        scale-compression 0.00 [0.00, 0.85]
        gold-kappa 0.00 [-0.53, 0.56]
        krippendorff-alpha SAME
        icc-2-1 SAME
    """,
    "one gold level": """
        pearson SAME
        spearman SAME
        scale-compression SAME
        gold-kappa 0.00 [-0.53, 0.56]
    """,
    "one verdict and one gold level": """
        mean-absolute-error 0.00 [0.00, 0.81]
        bias 0.00 [-0.81, 0.81]
        pearson SAME
        scale-compression SAME
        gold-kappa SAME
    """,
    "all missing but one": """
        mean-absolute-error 0.00 [0.00, 3.97]
        bias 0.00 [-3.97, 3.97]
        pearson SAME
        gold-kappa SAME
        gold-accuracy 1.00 [0.03, 1.00]
    """,
    "reversed": """
        bias 0.00 [-1.58, 1.58]
        pearson -1.00 [-1.00, -0.37]
        spearman -1.00 [-1.00, -0.34]
        gold-kappa -1.00 [-1.00, -0.37]
    """,
}
METRICS = ("ordinal-errors", "ordinal-association", "gold-kappa", "gold-accuracy", "judge-agreement", "calibration")


def _printed(measure: Measure) -> str:
    if measure.estimate is None:
        return "SAME" if measure.note.startswith(SAME) else measure.note
    if measure.interval is None:
        return f"{measure.estimate:.2f} {'no-interval' if 'no-interval' in measure.flags else 'NO REASON'}"
    return f"{measure.estimate:.2f} [{measure.interval.low:.2f}, {measure.interval.high:.2f}]"


@pytest.mark.parametrize("situation", PRINTED)
def test_what_is_printed_of_identical_values(measures, ref, situation: str) -> None:
    gold, verdicts = SITUATIONS[situation]
    rows = [
        row | {"probability": 1.0}
        for judge in ("one", "other")
        for number, (right, given) in enumerate(zip(gold, verdicts, strict=True))
        for row in ref(number, None if given is None else str(given), gold=str(right), judge=judge)
    ]
    found = {
        measure.name: _printed(measure)
        for metric in METRICS
        for measure in measures(metric, rows, LEVELS)
        if set(measure.cell) <= {"stated"} and measure.judge in ("", "one")
    }
    expected = dict(line.split(maxsplit=1) for line in PRINTED[situation].strip().splitlines())

    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_size_of_bias_is_above_the_largest_mean_error(measures, ref, situation: str) -> None:
    gold, verdicts = SITUATIONS[situation]
    rows = [
        row
        for number, (right, given) in enumerate(zip(gold, verdicts, strict=True))
        for row in ref(number, None if given is None else str(given), gold=str(right))
    ]
    found = {measure.name: measure for measure in measures("ordinal-errors", rows, LEVELS) if not measure.cell}
    bias, size = found["bias"].interval, found["mean-absolute-error"].interval

    assert max(abs(bias.low), abs(bias.high)) <= size.high + 1e-9
