"""A document that keeps to its length: nothing is lost without being said, and what matters most stays."""

from hypothesis import given
from hypothesis import strategies as st
from jrh_measuring import comment_length
from jrh_report.markdown import Block, fit

TEXT = st.text(alphabet="ab\n😀&", max_size=60)
BLOCKS = st.lists(
    st.builds(
        Block,
        lines=st.lists(TEXT, min_size=1, max_size=30).map(tuple),
        head=TEXT,
        tail=TEXT,
        rank=st.integers(0, 3),
        share=st.sampled_from([50, 500, 5000]),
        what=st.just("a part"),
    ),
    max_size=8,
)


@given(BLOCKS, st.integers(100, 5000))
def test_no_document_is_longer_than_its_limit(blocks, limit) -> None:
    fitted = fit(blocks, limit)

    assert comment_length(fitted.text) <= limit
    whole = "\n\n".join(block.text() for block in blocks)
    assert fitted.shortened == (fitted.text != whole) or not blocks


def test_what_fits_is_there_as_a_whole_and_in_order() -> None:
    blocks = [Block(lines=("one", "two"), rank=3), Block(lines=("three",), head="# ", rank=0, share=1)]

    assert fit(blocks, 100).text == "one\ntwo\n\n# three"
    assert not fit(blocks, 100).shortened


def test_the_least_important_block_is_shortened_and_says_by_how_much() -> None:
    rows = tuple(f"row {number:02}" for number in range(20))
    fitted = fit([Block(lines=rows, rank=1, what="rows"), Block(lines=("the answer",), rank=0)], 100)

    assert fitted.text.endswith("\n\nthe answer")
    assert fitted.text.startswith("row 00\nrow 01\n")
    assert f"{20 - fitted.text.count('row')} more in report.json" in fitted.text
    assert (fitted.shortened, fitted.left_out) == (True, ())


def test_a_block_of_which_nothing_fits_is_named() -> None:
    fitted = fit([Block(lines=("short",)), Block(lines=("long" * 100,), what="the long part")], 100)

    assert (fitted.text, fitted.left_out) == ("short", ("the long part",))


def test_room_that_others_do_not_need_is_used() -> None:
    rows = tuple("r" * 9 for _ in range(10))
    greedy = Block(lines=rows, share=40, what="greedy")

    assert fit([greedy, Block(lines=("x",))], 200).text.startswith("\n".join(rows))
    assert "more in report.json" in fit([greedy, Block(lines=("x",))], 90).text


def test_characters_beyond_the_basic_plane_count_twice_as_github_counts_them() -> None:
    assert comment_length("a😀") == 3
