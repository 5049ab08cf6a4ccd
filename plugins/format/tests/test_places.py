from hypothesis import given
from hypothesis import strategies as st
from jrh_format.layouts import apply, choose, count
from jrh_testing import loop_over

SPOTS = [((index, index, "x"),) for index in range(40)]


@loop_over(
    ("strength", "possible", "expected"),
    [(1.0, 7, 7), (0.5, 7, 4), (0.5, 5, 3), (0.1, 7, 1), (0.01, 3, 1), (0.25, 10, 3), (0.24, 10, 2)],
)
def test_a_strength_is_a_share_of_the_places_and_at_least_one(strength, possible, expected):
    assert count(strength, possible) == expected


@given(st.integers(0, 2**31 - 1), st.integers(1, 40), st.integers(1, 40))
def test_fewer_places_are_a_part_of_more(seed, one, other):
    few, many = sorted((one, other))
    assert set(choose(SPOTS, few, seed)) <= set(choose(SPOTS, many, seed))
    assert len(choose(SPOTS, few, seed)) == few


def test_every_place_is_chosen_about_equally_often():
    hits = [sum(SPOTS[spot] in choose(SPOTS[:4], 1, seed) for seed in range(4000)) for spot in range(4)]
    assert all(880 <= hit <= 1120 for hit in hits)  # 1000 expected, 27 is one standard deviation


def test_edits_of_several_places_are_made_in_text_order():
    assert apply("a b c", [((3, 4, "\n"),), ((0, 0, "# "), (1, 2, "\n\n"))]) == "# a\n\nb\nc"
