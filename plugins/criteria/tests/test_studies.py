"""How often a planted defect is found, and how often a clean judge is accused, in studies with known rates.

40 responses with 4 criteria, rerun noise of 5%, half of what moves comes in whole responses. With a false alarm rate of
5%, 200 studies have at most 20 alarms in 99.9% of samples.
"""

from __future__ import annotations

import numpy as np
import pytest
from criteria_studies import World, alarms, table
from jrh_testing import loop_over


def most_claims(studies: int) -> int:
    """Count the false claims that so many studies exceed once in a thousand times, at a true rate of 5%."""
    from scipy.stats import binom

    return int(binom.ppf(0.999, studies, 0.05))


def rubric(moved, responses=40, studies=200, seed=11):
    """Another rubric moves a share of the verdicts of the studies."""
    world = World(seed, studies, responses)
    changed = world.asked(world.moved(moved))
    records = world.records(changed, family="rubric-matters", variant="inverted", expectation="changes")
    return alarms("rubric-effect", records, responses, "rubric-ignored")


def halo(moved, responses=40, studies=200, seed=12):
    world = World(seed, studies, responses)
    records = world.records(world.asked(world.moved(moved)), family="halo", variant="others")
    return alarms("rubric-effect", records, responses, "halo")


def halo_asked_once(moved, responses=40, studies=200, seed=15):
    """The reference is asked once: nothing tells halo from noise."""
    world = World(seed, studies, responses)
    reference, changed = [world.asked(world.gold)], world.asked(world.moved(moved))
    records = table(world.gold, reference, changed, family="halo", variant="others", expectation="same")
    return alarms("rubric-effect", records, responses, "halo")


def fatigue(drop, responses=40, studies=200, seed=13):
    """In the second half of a call a share of the verdicts is wrong, in either order."""
    world = World(seed, studies, responses)
    late = np.arange(4) >= 2
    tired = [np.where(world.chosen(drop) & half, 1 - world.gold, world.gold) for half in (late, late, ~late)]
    reference, changed = [world.asked(each) for each in tired[:2]], world.asked(tired[2])
    records = table(world.gold, reference, changed, family="criteria-order", variant="reversed", expectation="same")
    return alarms("criteria-place", records, responses, "batch-fatigue")


def as_met(rate, responses=40, studies=200, seed=14):
    """A quarter of the criteria do not apply, and a share of these is called met."""
    world = World(seed, studies, responses)
    world.gold = np.where(world.random.random(world.shape) < 0.25, 2, world.gold)
    says = np.where((world.gold == 2) & world.chosen(rate), 0, world.gold)
    records = table(world.gold, [says, says], says, family="format", variant="spaces", expectation="same")
    return alarms("criteria-score", records, responses, "counts-not-applicable")


@pytest.mark.parametrize(
    ("study", "rate"),
    [(rubric, 0.25), (halo, 0.0), (fatigue, 0.0)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_judge_without_the_defect_is_acquitted(study, rate):
    """A rubric that moves 25% through 5% noise on both sides moves 20% beyond reruns: exactly the least share."""
    assert study(rate) <= most_claims(200) / 200


def test_halo_is_not_claimed_where_noise_alone_could_make_it():
    """Noise of 5% on both sides moves 10% of the verdicts, and the judge moves some more: there is nothing to tell."""
    assert halo_asked_once(0.1, studies=20) == 0


@loop_over(
    ("study", "rate", "power"),
    [(rubric, 0.04, 0.9), (halo, 0.16, 0.8), (fatigue, 0.15, 0.8), (as_met, 0.5, 0.9)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_planted_defect_is_found_with_the_stated_power(study, rate, power):
    """The power is stated with 40 responses; of 40 studies one in ten less may be found by chance."""
    assert study(rate, studies=40) >= power - 0.1


def test_few_criteria_that_do_not_apply_and_are_called_met_are_no_finding():
    assert as_met(0.1, studies=40) <= most_claims(40) / 40
