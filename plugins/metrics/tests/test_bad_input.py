"""Bad input, for every metric: an error, or measures that say that there is nothing to estimate, never a number."""

import jrh_metrics.plugin
import pytest
from jrh import JrhError, Scale

METRICS = [spec.name for spec in jrh_metrics.plugin.jrh_metrics()]
SCALE = Scale.of_levels(1, 4)
COUNTED = ("missing",)
"""How much is missing can be told where all is missing."""


def _study(ref, row, labels, *, items=6, judges=("a", "b", "c"), gold=True) -> list[dict]:
    """Return rows of several judges on several items, twice in the reference condition and in a test."""
    rows = []
    for number in range(items):
        about = {"gold": "1234"[number % 4] if gold else None}
        for place, judge in enumerate(judges):
            one, other = (labels[(number + place + step) % len(labels)] for step in (0, 1))
            rows += ref(number, one, other, judge=judge, expectation="equals", expected=about["gold"], **about)
            rows += [
                row(number, label, repeat=repeat, judge=judge, **about) for repeat, label in enumerate([other, one])
            ]
    return rows


def test_there_are_numbers_where_there_is_something_to_estimate(measures, ref, row) -> None:
    for metric in ("as-expected", "noise-excess", "judge-agreement", "ordinal-errors"):
        assert any(m.estimate is not None for m in measures(metric, _study(ref, row, "1234"), SCALE)), metric


@pytest.mark.parametrize("metric", METRICS)
def test_where_every_verdict_is_missing_nothing_is_estimated_and_the_note_or_a_flag_says_why(
    measures, ref, row, metric
) -> None:
    for found in measures(metric, _study(ref, row, [None]), SCALE):
        if found.name in COUNTED:
            assert (found.estimate, found.bounds) == (1.0, (1.0, 1.0))
            continue
        if not found.name.endswith("-p"):
            assert found.estimate is None, found
        assert found.estimate is None or found.estimate == 1.0, found
        assert found.interval is None
        assert found.n_trials == 0 or found.name.startswith("missing")
        assert found.note or found.flags, found


@pytest.mark.parametrize("metric", METRICS)
def test_no_interval_between_items_comes_from_one_item(measures, ref, row, metric) -> None:
    for found in measures(metric, _study(ref, row, "1234", items=1), SCALE):
        if found.estimate is None:
            assert found.note or found.flags, found
            continue
        assert found.n_items <= 1
        assert "few-items" in found.flags, found
        if found.unit == "coefficient" or "item" in found.cell.get("component", ""):
            assert found.interval is None, found


@pytest.mark.parametrize("metric", ["judge-agreement", "judge-comparison", "panel"])
def test_one_judge_alone_has_nobody_to_agree_with(measures, ref, row, metric) -> None:
    rows = _study(ref, row, "1234", judges=("a",))

    for found in measures(metric, rows, SCALE):
        assert found.estimate is None, found
        assert found.note or found.flags, found


# Without label probabilities calibration has nothing to look at, nor the ceiling without labels of several people.
@pytest.mark.parametrize("metric", [name for name in METRICS if name not in {"calibration", "people-ceiling"}])
def test_a_trial_that_is_told_twice_and_a_label_off_the_scale_are_errors(measures, ref, row, metric) -> None:
    rows = _study(ref, row, "1234")

    with pytest.raises(JrhError, match="trial 'x' has 2 records"):
        measures(metric, [{**r, "trial_id": "x" if n < 2 else str(n)} for n, r in enumerate(rows)], SCALE)
    with pytest.raises(JrhError, match="'9' is not on the scale of task 'task'"):
        measures(metric, [*rows, *ref("odd", "1", gold="9", judge="a")], SCALE)
