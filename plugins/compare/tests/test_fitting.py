"""A document that keeps to a number of characters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_compare.rendering import Chapter, Part, fit
from jrh_measuring import comment_length

LINES = st.lists(st.text("ab 𝄞\u200b", max_size=200), max_size=60).map(tuple)
PARTS = st.lists(st.builds(Part, lines=LINES, head=st.sampled_from(["", "| head |\n"])), max_size=4).map(tuple)
CHAPTERS = st.lists(st.builds(Chapter, title=st.just("## title"), parts=PARTS, last=st.booleans()), max_size=8)


@given(CHAPTERS, st.integers(5_000, 20_000))
def test_a_document_is_whole_or_keeps_to_the_limit_and_says_that_it_does(chapters, limit):
    document = fit(chapters, limit)
    whole = fit(chapters, 10**9)
    assert comment_length(document) <= limit
    assert (document == whole) == (comment_length(whole) <= limit)
    assert (f"Shortened to stay within {limit:,} characters" in document) == (document != whole)


def test_what_a_long_list_lacks_is_counted_and_short_parts_stay_whole():
    short = Part(lines=("one", "two"))
    long = Part(head="| head |\n", lines=tuple(f"row {place}" for place in range(5000)))
    document = fit([Chapter(title="## pair", parts=(long, short))], 8000)
    assert document.startswith("## pair\n\n| head |\nrow 0\n")
    assert "\n\none\ntwo\n\n---\n" in document
    kept = len(re.findall(r"^row \d+$", document, re.MULTILINE))
    assert f"\n{5000 - kept:,} more; jrh compare --format json has all of it." in document
    assert 7000 < len(document) <= 8000


@pytest.mark.parametrize("count", [2, 40])
def test_as_many_comparisons_are_shown_as_have_room_and_the_rest_is_counted(count):
    pairs = [Chapter(title=f"## pair {place}", parts=(Part(lines=("x" * 99,) * 100),)) for place in range(count)]
    legend = Chapter(title="", parts=(Part(lines=("legend",)),), last=True)
    document = fit([*pairs, legend], 10_000)
    assert document.count("## pair") == 2
    assert ("comparisons are left out entirely" in document) == (count > 2)
    assert "\nlegend\n" in document
    assert count == 2 or "; 38 of 40 comparisons are left out entirely;" in document
