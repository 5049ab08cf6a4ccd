"""The validator catches what a layout change must not do."""

import random

import pytest
from jrh import Draft, Item
from jrh_format.words_unchanged import WordsUnchanged, _only_marks_added, _same_words, _words, difference
from jrh_testing import loop_over


@loop_over(
    ("original", "changed", "variant"),
    [
        ("a b c", "a\n\nb   c  ", "blank-lines"),
        ("a b", "\ta\r\nb", "anything"),
        ("One. Two.", "- One.\n- Two.", "bullets"),
        ("One. Two.", "# One.\n\nTwo.", "heading"),
        ("a - b", "- a - b", "bullets"),
        ("a\n- b", "- a\n- b", "bullets"),
        ("- a", "- - a", "bullets"),
        ("- - a", "- - a", "bullets"),
        ("# a", "# # a", "heading"),
        ("a", "```\na\n```", "code-fence"),
        ("a\n", "```\na\n```", "code-fence"),
        ("```\na\n```", "````\n```\na\n```\n````", "code-fence"),
        ("a\r\n", "```\r\na\r\n```", "code-fence"),
        ("a \u0301b c", "a \u0301b   c", "spaces"),
        ("", "", "spaces"),
    ],
)
def test_layout_is_accepted(original, changed, variant):
    assert difference(original, changed, variant) == ""


@loop_over(
    ("original", "changed", "variant"),
    [
        ("a b c", "a b", "spaces"),
        ("a b", "a b c", "spaces"),
        ("a b", "b a", "spaces"),
        ("Word", "word", "spaces"),
        ("word", "wo rd", "spaces"),
        ("wo rd", "word", "wrap"),
        ("don't", "don\u2019t", "spaces"),
        ("10\u00a0km", "10 km", "spaces"),
        ("a b", "a\u00a0b", "spaces"),
        ("a\u2028b", "a\nb", "wrap"),
        ("é", "e\u0301", "spaces"),
        ("a b", "a\u200bb", "spaces"),
        ("One. Two.", "- One.\n- Two.", "spaces"),
        ("One. Two.", "- One. - Two.", "bullets"),
        ("One. Two.", "# One.\n\nTwo.", "bullets"),
        ("One. Two.", "-One.\n-Two.", "bullets"),
        ("One.", "* One.", "bullets"),
        ("One - two", "- One two", "bullets"),
        ("- One", "One", "bullets"),
        ("5 - 3", "5 3", "bullets"),
        ("a", "## a", "heading"),
        ("a", "```\nb\n```", "code-fence"),
        ("a b", "```\na  b\n```", "code-fence"),
        ("a", "```\na\n````", "code-fence"),
        ("a", "```a\n```", "code-fence"),
        ("a\n\n", "```\na\n```", "code-fence"),
        ("a", "a", "code-fence"),
    ],
)
def test_more_than_layout_is_rejected(original, changed, variant):
    assert difference(original, changed, variant) != ""


def test_a_changed_line_of_code_is_named_as_such():
    assert difference("```\na  b\n```", "```\na b\n```", "spaces") == "fenced code changed"


def test_text_inside_that_ends_the_fence_is_named_as_such():
    assert difference("a\n```\nb", "```\na\n```\nb\n```", "code-fence") == "the text ends the code fence early"


def test_a_mark_that_lost_its_base_is_named_as_such():
    assert difference("x \u0301", "x\n\u0301", "wrap") == "the layout change splits a character"


async def test_the_first_changed_field_that_differs_gives_the_reason():
    item = Item(id="1", fields={"response_a": "a b", "response_b": "c d"})
    draft = Draft(variant="spaces", fields={"response_a": "a   b", "response_b": "c e"})
    validation = await WordsUnchanged().validate(item, draft)
    assert not validation.accepted
    assert validation.reason == "the words changed"
    assert validation.details == {"field": "response_b"}


@pytest.mark.parametrize("fields", [{"new": "text"}, {"response": 5}])
async def test_fields_that_cannot_be_compared_are_rejected(fields):
    validation = await WordsUnchanged().validate(Item(id="1", fields={"response": "a"}), Draft(fields=fields))
    assert validation.reason == "a changed field is not text"


async def test_a_draft_that_changes_no_field_changes_no_word():
    assert (await WordsUnchanged().validate(Item(id="1", fields={"response": "a"}), Draft())).accepted


@pytest.mark.parametrize("variant", ["bullets", "heading", "wrap"])
def test_the_quick_reading_finds_what_following_all_readings_finds(variant):
    mark = {"bullets": "-", "heading": "#"}.get(variant)
    draws, agreed = random.Random(5), set()
    for _ in range(3000):
        original, changed = ("".join(draws.choices("a-# \n\r", k=draws.randint(0, 7))) for _ in range(2))
        if draws.random() < 0.5 and mark:
            changed = "\n".join(f"{mark} {line}" for line in original.split("\n"))
        slowly = _same_words(original.split(), _words(changed), mark or "no mark")
        assert _only_marks_added(original, changed, mark) == slowly, (original, changed)
        agreed.add(slowly)
    assert agreed == {True, False}
