"""How often planted inconsistency is found, and how often a consistent judge is accused, in studies with known rates.

30 requests. With a false alarm rate of 5%, 60 studies have at most 9 alarms in 99.9% of samples; of 30 studies with the
stated power a fifth less may be found by chance.
"""

from __future__ import annotations

import pytest
from consistency_studies import World, claims

pytestmark = pytest.mark.inside
STUDIES, SOME = 60, 30


def most_claims(studies: int) -> int:
    """Count the false claims that so many studies exceed once in a thousand times, at a true rate of 5%."""
    from scipy.stats import binom

    return int(binom.ppf(0.999, studies, 0.05))


def cycles(circle=0.0, *, studies=STUDIES, seed=21, responses=4, kind="preference-cycles", **asked):
    world = World(seed, studies, 30, responses)
    world.pairs(world.circle(circle) if circle else world.better, **asked)
    return claims(world, "transitivity", kind)


def scores(contrary=0.0, *, studies=STUDIES, seed=22, **asked):
    world = World(seed, studies, 30, 3).levels(noise=0.2, contrary=contrary)
    world.pairs(world.better, **asked)
    return claims(world, "pointwise-pairwise", "pointwise-pairwise-conflict")


def lists(contrary=0.0, *, studies=STUDIES, seed=23):
    world = World(seed, studies, 30, 3)
    world.pairs(world.better, noise=0.05)
    world.lists("order", noise=0.1, contrary=contrary)
    return claims(world, "listwise-pairwise", "listwise-pairwise-conflict")


def _named(value):
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize("asked", [{"noise": 0.1}, {"position": 0.5}, {"scale": 0.3}], ids=_named)
def test_a_judge_with_an_order_is_not_accused_of_cycles(asked):
    """Errors at random, a first option that wins regardless, and errors where responses are nearly equal."""
    assert cycles(**asked) <= most_claims(STUDIES) / STUDIES


def test_a_position_bias_looks_like_cycles_where_one_order_is_asked():
    """What the finding warns of: the reason to cross the orders."""
    assert cycles(position=0.5, crossed=False, studies=SOME) >= 0.8


@pytest.mark.parametrize(
    ("study", "asked"), [(scores, {"noise": 0.1}), (scores, {"position": 0.3}), (lists, {})], ids=_named
)
def test_noisy_ways_of_asking_about_one_order_are_not_accused(study, asked):
    assert study(**asked) <= most_claims(STUDIES) / STUDIES


@pytest.mark.parametrize(
    ("study", "rate", "asked", "power"),
    [(cycles, 0.8, {"noise": 0.05}, 0.8), (scores, 0.5, {"noise": 0.05}, 0.8), (lists, 0.4, {}, 0.8)],
    ids=_named,
)
def test_planted_inconsistency_is_found_with_the_stated_power(study, rate, asked, power):
    assert study(rate, studies=SOME, **asked) >= power - 0.2


def test_a_judge_with_an_order_is_called_transitive_only_with_enough_requests():
    """Without a cycle, 30 requests leave room for more than 5% of cycles, and 100 do not."""
    assert cycles(studies=5, kind="transitive") == 0.0
    world = World(24, 5, 100, 4)
    world.pairs(world.better)
    assert claims(world, "transitivity", "transitive") == 1.0


def test_cycles_of_five_percent_are_called_rare_in_few_studies():
    """A fifth of the requests follow a circle on which a quarter of the triples are cycles: exactly the bound."""
    world = World(25, SOME, 100, 4)
    world.pairs(world.circle(0.2))
    assert claims(world, "transitivity", "transitive") <= most_claims(SOME) / SOME
