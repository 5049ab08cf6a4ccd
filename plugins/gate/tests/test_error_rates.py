"""How often a rule is decided by mistake: over many places, and over many looks."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

import numpy as np
import pytest
from gate_findings import FLAGS, alone, measured
from jrh import Interval, Measure
from jrh_measuring import GateRule, Look, parse_rule
from jrh_measuring.gating.deciding import Outcome, decide
from jrh_measuring.gating.rule_limits import LimitTable
from jrh_stats import binomial_limits, clustered_proportion
from jrh_testing import loop_over

ALPHA = 0.025
STUDIES = 1000


def judged(right: int, n: int, error: float, name: str = "mini", flags: tuple[str, ...] = ()) -> Measure:
    low, high = binomial_limits(right, n, alpha=error)
    interval = Interval(low=low, high=high, level=1 - 2 * error, method="clopper-pearson")
    return measured(low, high, judge=name, estimate=right / n, interval=interval, n_items=n, n_clusters=n, flags=flags)


def fewest(n: int, rate: float, error: float) -> tuple[int, int]:
    """Return from which count on a rule `>= rate` holds, and up to which it fails, as the gate decides.

    More right answers never turn the answer back (`test_more_right_answers_never_turn_a_decision_back`), so that both
    counts are found by halving.
    """
    return bisect_left(range(n + 1), 2, key=partial(rank, n, rate, error)), (
        bisect_left(range(n + 1), 1, key=partial(rank, n, rate, error)) - 1
    )


def rank(n: int, rate: float, error: float, right: int) -> int:
    """Return 0 where the rule fails, 1 where it is undecided, 2 where it holds."""
    rule, one = parse_rule(f"as-expected >= {rate!r}"), judged(right, n, error)
    return [Outcome.FAILS, Outcome.UNDECIDED, Outcome.HOLDS].index(decide(rule, one, alone(one), FLAGS).outcome)


@loop_over(("n", "rate", "error"), [(100, 0.9, ALPHA), (100, 0.5, ALPHA * 0.8 / 36), (41, 0.9, ALPHA)])
def test_more_right_answers_never_turn_a_decision_back(n: int, rate: float, error: float) -> None:
    ranks = [rank(n, rate, error, right) for right in range(n + 1)]
    assert ranks == sorted(ranks)
    assert ranks[0] == 0
    assert (ranks.index(2) if 2 in ranks else n + 1, ranks.index(1) - 1) == fewest(n, rate, error)


def test_a_rule_over_36_places_all_at_the_threshold_seldom_fails() -> None:
    generator = np.random.default_rng(36)
    n, rate = 100, 0.9
    right = generator.binomial(n, rate, (STUDIES, 36))
    names = [f"j{place}" for place in range(36)]

    def table(row: np.ndarray) -> LimitTable:
        return LimitTable.of(
            0.95,
            Look(),
            [36],
            lambda rates: {
                error: tuple(judged(int(x), n, error, name) for x, name in zip(row, names, strict=True))
                for error in rates
            },
        )

    limits = table(np.arange(36) + 60).limits(judged(60, n, ALPHA, "j0"), 36)
    assert limits is not None
    assert (limits.hold_error, limits.fail_error) == pytest.approx((ALPHA * 0.8, ALPHA * 0.8 / 36))
    _, fails = fewest(n, rate, limits.fail_error)
    assert (right <= fails).any(axis=1).mean() <= ALPHA + 3 * (ALPHA * (1 - ALPHA) / STUDIES) ** 0.5
    _, alone = fewest(n, rate, ALPHA)
    assert (right <= alone).any(axis=1).mean() > 0.3, "what happens without a family"


@loop_over(("looks", "start", "step"), [(10, 20, 20), (98, 30, 4)])
@loop_over("rate", [0.5, 0.9])
def test_many_looks_at_growing_data_seldom_decide_by_mistake(looks: int, start: int, step: int, rate: float) -> None:
    generator = np.random.default_rng(looks)
    sizes = start + step * np.arange(looks)
    right = (generator.random((STUDIES, sizes[-1])) < rate).cumsum(axis=1)[:, sizes - 1]
    ends = np.array(
        [fewest(int(n), rate, ALPHA * Look(number=number).share) for number, n in enumerate(sizes, start=1)]
    )
    most = ALPHA + 3 * (ALPHA * (1 - ALPHA) / STUDIES) ** 0.5
    assert (right >= ends[:, 0]).any(axis=1).mean() <= most
    assert (right <= ends[:, 1]).any(axis=1).mean() <= most


@pytest.mark.parametrize("kind", ["asked three times", "uneven clusters"])
def test_ten_looks_at_growing_clusters_seldom_decide_by_mistake(kind: str) -> None:
    """Items of their own rates asked three times, and clusters of 1 to 9 items with a rate in common (correlation 0.3).

    The limits are those that metrics compute for a gate. With the error rate of a single look at each of the ten, more
    than 2.5% would hold by mistake.
    """
    generator, rate, studies = np.random.default_rng(10), 0.8, 150
    rule, sizes = parse_rule(f"as-expected >= {rate}"), 40 + 40 * np.arange(10)
    even = kind == "asked three times"
    held, failed, peeked = 0, 0, 0
    for _ in range(studies):
        asked = np.full(sizes[-1], 3) if even else generator.integers(1, 10, sizes[-1])
        spread = 1.0 if even else (1 - 0.3) / 0.3
        rates = generator.beta(rate * spread, (1 - rate) * spread, sizes[-1])
        right = generator.binomial(asked, rates).astype(float)
        found = [clustered(right[:size], asked[:size], Look(number=k), rule) for k, size in enumerate(sizes, start=1)]
        held += Outcome.HOLDS in found
        failed += Outcome.FAILS in found
        peeked += Outcome.HOLDS in [clustered(right[:size], asked[:size], Look(), rule) for size in sizes]
    most = ALPHA + 3 * (ALPHA * (1 - ALPHA) / studies) ** 0.5
    assert held / studies <= most
    assert failed / studies <= most
    assert peeked > held


def clustered(right: np.ndarray, asked: np.ndarray, look: Look, rule: GateRule) -> Outcome:
    """Decide a rule about clusters at a look, as the gate does."""

    def measure(error: float) -> Measure:
        found = clustered_proportion(right, asked.astype(float), level=1 - 2 * error)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        ends = Interval(low=found.low, high=found.high, level=1 - 2 * error, method=found.method)
        clusters = {"n_items": len(right), "n_clusters": len(right), "flags": found.flags}
        return measured(found.low, found.high, estimate=found.value, interval=ends, **clusters)

    table = LimitTable.of(0.95, look, [1], lambda rates: {error: (measure(error),) for error in rates})
    (one,) = table.measures[table.error].values()
    return decide(rule, one, table.limits(one, 1), FLAGS).outcome


def test_all_looks_together_have_one_error_rate() -> None:
    assert Look().share == 0.8
    assert sum(Look(number=number).share for number in range(1, 10_000)) == pytest.approx(1, abs=1e-4)


@loop_over("flag", ["few-events", "few-clusters", "few-items", "degenerate", "one-item"])
def test_a_flag_that_doubts_the_limits_leaves_the_rule_undecided(flag: str) -> None:
    rule = parse_rule("as-expected >= 0.5")
    doubted = measured(0.9, 0.95, flags=(flag,))
    found = decide(rule, doubted, alone(doubted), FLAGS)
    assert found.outcome is Outcome.UNDECIDED
    assert flag in found.reason
    exact = judged(95, 100, ALPHA, flags=(flag,))
    assert decide(rule, exact, alone(exact), FLAGS).outcome is Outcome.HOLDS, "exact limits need no large sample"


def test_an_undecided_rule_says_what_would_decide_it() -> None:
    rule = parse_rule("flip-rate <= 0.02")
    none = judged(0, 60, ALPHA)
    assert "a decision without an exception takes 190 items in all" in decide(rule, none, alone(none), FLAGS).reason
    some = judged(57, 60, ALPHA)
    found = decide(parse_rule("as-expected >= 0.9"), some, alone(some), FLAGS)
    assert found.outcome is Outcome.UNDECIDED
    assert "; 80% power for a true value of 0.95 takes 260 items in all" in found.reason


@pytest.mark.parametrize("number", [1, 2])
def test_what_would_decide_a_rule_names_the_look_it_assumes(number: int) -> None:
    """Later looks may err less, so that the same data need more items: without the look the numbers contradict."""
    some = judged(57, 60, ALPHA)
    table = LimitTable.of(0.95, Look(number=number), [1], lambda rates: dict.fromkeys(rates, (some,)))
    found = decide(parse_rule("as-expected >= 0.9"), some, table.limits(some, 1), FLAGS)
    assert found.reason.endswith(f"items in all at look {number}")


def test_a_metric_that_is_not_installed_decides_nothing() -> None:
    found = decide(parse_rule("as-expected >= 0.1"), measured(0.9, 0.95), None, FLAGS)
    assert found.outcome is Outcome.UNDECIDED
    assert "--plugins" in found.reason
