"""Numbers against second implementations: enumeration of all draws, and scipy."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
from consistency_studies import CONTEXT, TASKS, World
from jrh import MetricContext, RecordTable
from jrh_consistency.agreement import both_of
from jrh_consistency.naming import Kind, Named, kind_of
from jrh_consistency.preferences import TIED, preferences_by_task
from jrh_consistency.transitivity import triples_of
from jrh_measuring import MeasureBuilder, MetricOptions
from jrh_testing import loop_over

pytestmark = pytest.mark.inside


def table(rows):
    """Make records of one judge out of (task, item, option order, label)."""
    repeats: dict[tuple[str, ...], int] = {}
    columns = {name: [] for name in ("task", "item_id", "option_order", "variant", "canonical", "repeat", "test")}
    for task, item, order, label in rows:
        number = repeats[task, item, order] = repeats.get((task, item, order), -1) + 1
        made = (task, item, order, order, label, float(number), "option-order" if order else "reference")
        for name, value in zip(columns, made, strict=True):
            columns[name].append(value)
    size = len(columns["task"])
    more = {"judge": ["j"] * size, "expectation": ["same" if order else "equals" for order in columns["variant"]]}
    status = ["timeout" if label is None else "ok" for label in columns["canonical"]]
    return RecordTable.from_columns({**columns, **more, "status": status, "expected": [None] * size})


def judged(rows, tasks=TASKS):
    context = MetricContext(tasks=tasks, resamples=100, seed=1)
    builder = MeasureBuilder.of(table(rows), context, MetricOptions())
    return {each.cell.task: each for each in preferences_by_task(builder)}


def drawn(random, members="abcd", repeats=3, orders=("", "BA")):
    """Draw verdicts on all pairs, ties included."""
    return [
        ("pairs", f"q::{one}|{other}", order, random.choice(["A", "B", "TIE"], p=[0.6, 0.3, 0.1]))
        for one, other in combinations(members, 2)
        for order in orders
        for _ in range(repeats)
    ]


def said(rows, one, other):
    """Return the verdicts on a pair: +1 for the first."""
    return [{"A": 1, "B": -1, "TIE": 0}[label] for _, item, _, label in rows if item == f"q::{one}|{other}" and label]


@pytest.mark.parametrize("seed", range(3))
def test_triples_are_those_of_all_draws_of_one_verdict_per_pair(seed):
    """Brute force: every combination of three verdicts is looked at."""
    rows = drawn(np.random.default_rng(seed))
    found = triples_of(judged(rows)["pairs"])
    for place, (one, two, three) in enumerate(combinations("abcd", 3)):
        draws = list(product(said(rows, one, two), said(rows, two, three), said(rows, one, three)))
        cycles = [draw in ((1, 1, -1), (-1, -1, 1)) for draw in draws]
        assert found.cycle[place] == pytest.approx(np.mean(cycles), abs=1e-12)


def test_noise_is_the_disagreement_of_two_verdicts_in_random_orders():
    rows = drawn(np.random.default_rng(5), members="ab", repeats=4)
    own = [[label for *_, order, label in rows if order == which] for which in ("", "BA")]
    within = np.mean([one != other for labels in own for one, other in permutations(labels, 2)])
    between = np.mean([one != other for one, other in product(*own)])
    (found,) = judged(rows)["pairs"].preferences.values()
    assert found.noise == pytest.approx((within + between) / 2, abs=1e-12)
    against = {frozenset(("A", "B")): 1.0, frozenset(("A", "TIE")): 0.25, frozenset(("B", "TIE")): 0.25}
    within = np.mean([against.get(frozenset(pair), 0.0) for labels in own for pair in permutations(labels, 2)])
    between = np.mean([against.get(frozenset(pair), 0.0) for pair in product(*own)])
    assert found.opposition == pytest.approx((within + between) / 2, abs=1e-12)


def test_noise_never_explains_less_than_it_makes():
    """The bound of conflicts, on a grid of what two ways of asking do that both prefer the same response."""
    better, strict = np.meshgrid(np.linspace(0.5, 1, 26), np.linspace(0, 1, 26))
    win, loss = (better * strict).ravel(), ((1 - better) * strict).ravel()
    own = 2 * win * loss + TIED * 2 * (win + loss) * (1 - win - loss)
    conflict = np.outer(win, loss) + np.outer(loss, win)
    most = np.add.outer(own, own) - 2 * np.outer(own, own)
    assert (conflict <= most + 1e-12).all()


def test_noise_of_scores_is_that_of_two_comparisons_without_a_shared_verdict():
    random = np.random.default_rng(6)
    own = {name: random.integers(1, 10, 4) for name in "ab"}
    rows = [("scores", f"q::{name}", "", str(level)) for name, levels in own.items() for level in levels]
    (found,) = judged(rows)["scores"].preferences.values()
    pairs = list(product(range(4), repeat=2))
    signs = {(r, q): np.sign(own["a"][r] - own["b"][q]) for r, q in pairs}
    fresh = [each for each in product(pairs, repeat=2) if each[0][0] != each[1][0] and each[0][1] != each[1][1]]
    apart = [signs[one] != signs[other] for one, other in fresh]
    assert found.noise == pytest.approx(np.mean(apart), abs=1e-12)
    size = {0: 0.0, 1: 0.25, 2: 1.0}
    opposed = [size[abs(int(signs[one] - signs[other]))] for one, other in fresh]
    assert found.opposition == pytest.approx(np.mean(opposed), abs=1e-12)
    assert found.shares == pytest.approx([np.mean([sign == value for sign in signs.values()]) for value in (1, 0, -1)])


def test_missing_verdicts_make_missing_pairs_and_triples():
    rows = [("pairs", f"q::{one}|{other}", "", "A") for one, other in combinations("abcd", 2)]
    rows[0] = (*rows[0][:3], None)
    found = triples_of(judged(rows)["pairs"])
    assert (len(found.cycle), found.missing) == (2, 2)  # the pair (a, b) is in two of four triples
    rows += [("scores", f"q::{name}", "", "3" if name != "d" else None) for name in "abcd"]
    both = both_of(judged(rows)["scores"], judged(rows)["pairs"])
    assert (len(both.agree), both.missing) == (2, 4)


def test_pairs_that_were_not_asked_make_no_triples():
    rows = [("pairs", f"q::{pair}", "", "A") for pair in ("a|b", "b|c", "c|d")]
    found = triples_of(judged(rows)["pairs"])
    assert (len(found.cycle), found.missing) == (0, 0)


def test_verdicts_in_another_order_are_counted_in_canonical_terms():
    """`b|a` is the pair of `a|b`: its A is b."""
    rows = [("pairs", "q::a|b", "", "A"), ("pairs", "q::b|a", "", "B"), ("pairs", "q::a|b", "BA", "A")]
    (found,) = judged(rows)["pairs"].preferences.values()
    assert found.shares == pytest.approx((1, 0, 0))


def test_a_test_that_changes_the_text_is_not_mixed_in():
    records = table([("pairs", "q::a|b", "", "A"), ("pairs", "q::a|b", "BA", "A")])
    frame = {name: records.text(name) for name in ("task", "item_id", "judge", "canonical", "status", "option_order")}
    changed = {
        **frame,
        "test": ["reference", "format+BA"],
        "variant": ["", "spaces+BA"],
        "expectation": ["equals", "same"],
    }
    builder = MeasureBuilder.of(RecordTable.from_columns(changed), CONTEXT, MetricOptions())
    (only,) = preferences_by_task(builder)
    assert len(only.cell.rows) == 1


def test_a_choice_says_that_it_beats_each_other_member_and_every_verdict_weighs_the_same():
    rows = [("best", "q::x|y|z", "", label) for label in ("A", "A", "A", "B")]
    found = judged(rows)["best"].preferences
    assert {pair[1:]: each.weight for pair, each in found.items()} == {
        ("x", "y"): 1.0,
        ("x", "z"): 0.75,
        ("y", "z"): 0.25,
    }
    assert found["q", "x", "y"].shares == pytest.approx((0.75, 0, 0.25))


@loop_over("text", ["q1", "::a", "q::", "q::a|", "q::a|a", ""])
def test_other_ids_name_no_set(text):
    assert Named.read(text) is None


def test_an_id_is_read_back():
    own = Named(set="a::b|c", members=("x y", "ü"))
    assert Named.read(str(own)) == own


def test_the_scale_decides_what_is_asked():
    assert [kind_of(TASKS[name]) for name in ("scores", "pairs", "best", "order")] == [
        Kind.SCORES,
        Kind.PAIRS,
        Kind.CHOICES,
        Kind.RANKINGS,
    ]


def test_a_random_tournament_has_a_quarter_of_cycles():
    """The textbook's chance, from a judge that tosses coins: 5,000 triples."""
    world = World(1, studies=1, requests=500)
    world.pairs(lambda one, other: world.random.random((1, 500)) < 0.5 + 0 * (one + other))
    builder = MeasureBuilder.of(world.records(), CONTEXT, MetricOptions())
    triples = triples_of(preferences_by_task(builder)[0])
    assert len(triples.cycle) == 5_000
    # Triples of a request share pairs; their outcomes are uncorrelated all the same.
    assert triples.cycle.mean() == pytest.approx(0.25, abs=3.3 * np.sqrt(0.25 * 0.75 / 5_000))
