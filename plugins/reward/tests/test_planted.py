"""How often planted scores are found, and clean ones accused: every judge of a table is a study with known scores.

60 items, two reruns, one test. With a false alarm rate of 5%, 200 studies have at most 20 alarms in 99.9% of samples.
"""

from __future__ import annotations

import jrh_metrics.plugin
import jrh_reward.plugin
import numpy as np
import pytest
from jrh import MetricContext, RecordTable, Scale, Task
from jrh_testing import build, findings_about

ITEMS, STUDIES = 60, 200
TASK = Task(name="t", scale=Scale.of_labels("YES", "NO"))
CONTEXT = MetricContext(tasks={"t": TASK}, resamples=500, seed=1)


def study(*, apart=0.0, shift=0.0, noise=0.5, steep=1.0, drop=0.0, reruns=2, seed=3, studies=STUDIES):
    """Make records of judges whose scores are quality plus rerun noise; `steep` times the true logit is stated.

    Any score, whatever was asked, falls by 3 at the rate `drop`.
    """
    draw = np.random.default_rng(seed)
    right = draw.random((studies, ITEMS)) < 0.5
    quality = draw.normal(size=(studies, ITEMS)) + apart * right
    asked = [*(("reference", "", repeat, 0.0) for repeat in range(reruns)), ("format", "spaces", 0, shift)]
    names = np.repeat([f"j{number:03d}" for number in range(studies)], ITEMS).tolist()
    ids = [f"i{number:02d}" for number in range(ITEMS)] * studies
    columns: dict[str, list[object]] = {}
    for test, variant, repeat, moved in asked:
        dropped = 3 * (draw.random(quality.shape) < drop) if drop else 0
        scores = (quality + moved + noise * draw.normal(size=quality.shape) - dropped).ravel()
        # The logit of being right, given the score, in two normal populations of the same spread.
        logit = (scores - apart / 2) * apart / (1 + noise**2) * steep
        made = {
            "task": ["t"] * len(ids),
            "judge": names,
            "item_id": ids,
            "test": [test] * len(ids),
            "variant": [variant] * len(ids),
            "repeat": [float(repeat)] * len(ids),
            "gold": np.where(right.ravel(), "YES", "NO").tolist(),
            "expectation": ["same" if variant else "equals"] * len(ids),
            "expected": [None] * len(ids),
            "status": ["ok"] * len(ids),
            "canonical": np.where(logit >= 0, "YES", "NO").tolist(),
            "score": scores.tolist(),
            "probability": (1 / (1 + np.exp(-np.abs(logit)))).tolist(),
        }
        for name, values in made.items():
            columns.setdefault(name, []).extend(values)
    return RecordTable.from_columns(columns)


def measured(records, metric="score-quality", plugin=jrh_reward.plugin):
    return list(build(plugin, metric, task=TASK).measure(records, CONTEXT))


def share(measures, kind, studies=STUDIES):
    told = findings_about(measures, TASK, plugin=jrh_reward.plugin)
    return sum(kind in {finding.kind for finding in findings} for findings in told.values()) / studies


def small(measures, name="score-shift-p"):
    """Return the share of studies with p < 5%: alone, as every judge of one report is in one family."""
    p = np.array([m.estimate for m in measures if m.name == name and m.test != "reference"])
    return np.mean(p < 0.05)


def test_clean_scores_are_not_accused():
    """Scores with noise and no order: called moved, ordered or inverted in no more than the stated share."""
    from scipy.stats import binom

    found = measured(study())
    assert small(found) <= binom.ppf(0.999, STUDIES, 0.05) / STUDIES
    assert share(found, "scores-shift") <= binom.ppf(0.999, STUDIES, 0.05) / STUDIES
    assert share(found, "scores-order") <= binom.ppf(0.999, STUDIES, 0.025) / STUDIES
    assert share(found, "scores-inverted") <= binom.ppf(0.999, STUDIES, 0.025) / STUDIES


def test_rare_drops_that_reruns_have_too_are_no_shift():
    """Five reruns have a few drops and the test often none: sign flips took that for a rise in 14% of these studies."""
    from scipy.stats import binom

    found = measured(study(drop=0.02, noise=0.0, reruns=5))
    assert small(found) <= binom.ppf(0.999, STUDIES, 0.05) / STUDIES


def test_planted_scores_are_found():
    """The power is stated with 60 items and two tests; of 40 studies one in ten less may be found by chance."""
    moved = measured(study(shift=0.3, apart=1.0, studies=40))
    assert small(moved) >= 0.8
    assert share(moved, "scores-order", 40) >= 0.8
    assert share(measured(study(apart=-1.0, studies=40)), "scores-inverted", 40) >= 0.7


@pytest.mark.parametrize(("steep", "least", "most"), [(1.0, 0.0, 0.2), (3.0, 0.8, 1.0)])
def test_scores_stated_as_too_sure_are_miscalibrated(steep, least, most):
    found = measured(study(apart=1.5, steep=steep, studies=40), "calibration", jrh_metrics.plugin)
    low = [m.interval.low for m in found if m.name == "calibration-error" and m.test == "reference"]
    assert least <= np.mean(np.array(low) > 0) <= most


def test_the_area_and_the_shift_are_those_of_the_scores():
    """Against scikit-learn, and the plain mean."""
    from sklearn.metrics import roc_auc_score

    records = study(apart=0.7, shift=0.4, studies=1)
    found = {
        (m.name, m.test): m.estimate
        for m in build(jrh_reward.plugin, "score-quality", task=TASK).measure(records, CONTEXT)
    }
    rows = records.equals("test", "reference")
    scores, gold = records.number("score"), np.array(records.text("gold")) == "YES"
    assert found["auc", "reference"] == pytest.approx(roc_auc_score(gold[rows], scores[rows]), abs=1e-12)
    before = scores[rows].reshape(2, ITEMS).mean(axis=0)
    shift = (scores[~rows] - before).mean() / before.std(ddof=1)
    assert found["score-shift", "format"] == pytest.approx(shift, abs=1e-9)


def test_judges_without_scores_have_no_measure():
    records = study(studies=1)
    columns = {name: records.text(name) for name in ("task", "judge", "item_id", "test", "status", "canonical", "gold")}
    plain = RecordTable.from_columns(columns)
    assert measured(plain) == []
