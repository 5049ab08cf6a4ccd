"""Limits that hold at every look, races, and what reports say of them, against what is computed in another way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from jrh_sequential.betting import log_capital, lower_limit
from jrh_sequential.expectation import racing, stopping
from jrh_sequential.options import RaceOptions, StopOptions


@pytest.mark.parametrize("p", [0.3, 0.8])
def test_bets_on_a_fair_game_are_expected_to_win_nothing(p: float) -> None:
    """Every sequence of ten verdicts, weighed by its probability: the capital is a martingale, exactly."""
    verdicts = np.array(list(product([0.0, 1.0], repeat=10)))
    weights = np.prod(np.where(verdicts == 1, p, 1 - p), axis=1)
    capital = np.exp(log_capital(verdicts, np.ones(verdicts.shape), p, p, 0.05))
    assert weights @ capital == pytest.approx(np.ones(10))
    # Clusters of 1 to 3 verdicts that are all the same: the total is what the bets are on.
    sizes = np.array([1.0, 3, 2, 1, 2, 3, 1, 2, 1, 3])
    clustered = np.exp(log_capital(verdicts * sizes, np.broadcast_to(sizes, verdicts.shape), p, p, 0.05))
    assert weights @ clustered == pytest.approx(np.ones(10))
    # Of a smaller mean than is bet against, it is expected to fall.
    assert (weights @ np.exp(log_capital(verdicts, np.ones(verdicts.shape), p + 0.1, p, 0.05)) <= 1).all()


def test_the_limit_is_where_the_capital_decides() -> None:
    verdicts = (np.random.default_rng(1).random(400) < 0.9).astype(float)
    sizes = np.ones(400)
    limit = lower_limit(verdicts, sizes, 0.8, 0.025)
    assert 0.8 < limit < 0.9
    capital = [log_capital(verdicts, sizes, limit + step, 0.8, 0.025).max() for step in (-1e-5, 1e-5)]
    assert capital[0] >= np.log(40) > capital[1]
    assert lower_limit(verdicts[:3], sizes[:3], 0.8, 0.025) < 0.2  # three clusters show little
    assert lower_limit(verdicts[:0], sizes[:0], 0.8, 0.025) == 0


def test_a_rule_and_a_race_are_wrong_as_seldom_as_they_promise_where_a_usual_interval_is_not() -> None:
    from jrh_sequential.deciding import better_judges

    from tests.studies.sequential import WORLDS, race_of, rule_lines

    table = [line.split(" | ") for line in rule_lines(200, 3)][1:]
    # Of 200 studies with probability 5%, more than 21 are wrong with probability 0.0003.
    assert len(table) == len(WORLDS)
    for world, (_, limits, wrong, usual, decided, *_) in zip(WORLDS, table, strict=True):
        assert (max(int(limits), int(wrong)) <= 21) != world.file_order, world.name
        assert world.missing or int(decided) > 90, world.name
        assert int(usual) > 21 or world.ordered or world.missing, world.name
    low, high, sizes = WORLDS[0].draw(np.random.default_rng(4), 60, (0.85, 0.85, 0.6))
    worse = [better_judges(race_of(low[:, study], high[:, study], sizes[study]), 0.05) for study in range(60)]
    # With probability 5%, more than 10 of 60 have one with probability 0.0003.
    assert sum(bool({"0", "1"} & set(judges)) for judges in worse) <= 10
    assert sum("2" in judges for judges in worse) == 60


def test_a_plan_says_how_soon_it_ends() -> None:
    options = StopOptions(when=("gold-accuracy >= 0.8", "missing <= 5%"), check_every=50)
    first, second = stopping(options, {"facts": [1] * 1000}, 2)
    saved = [int(part.split("(")[1].split("%")[0]) for part in first.split(" saved")[:-1]]
    assert first.startswith("Rule `gold-accuracy >= 0.8` on 'facts' stops after about ")
    assert len(saved) == 4  # true rates of 0.7, 0.75, 0.85 and 0.9
    assert min(saved[0], saved[3]) > max(saved[1], saved[2]) > 0
    assert "at 0.15" in second
    (race,) = racing(RaceOptions(), {"facts": [2] * 300, "essays": [1] * 400}, 3)
    shares = [int(part.split("(")[1].split("%")[0]) for part in race.split(" saved")[:-1]]
    assert shares == sorted(shares)
