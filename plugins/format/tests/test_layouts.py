"""What each layout makes of a text, to the character."""

import pytest
from jrh_format import layouts
from jrh_format.layouts import Source, apply, sentence_gaps
from jrh_format.options import Layout
from jrh_testing import loop_over


def changed(layout, text, *, width=30, seed=1):
    return apply(text, Source(text).places(Layout(layout), seed=seed, width=width))


TWO = "First things first. Then the rest.\n\nA second paragraph.\n"
CODE = "Look at this:\n\n```python\nif  a:\n    b  =  1. C\n```\n\nThat was it. Really so."


def test_blank_lines_part_sentences_and_widen_paragraph_gaps():
    assert changed("blank-lines", TWO) == "First things first.\n\nThen the rest.\n\n\nA second paragraph.\n"


def test_blank_lines_use_the_line_break_of_the_text():
    assert changed("blank-lines", "One. Two.\r\nThree.") == "One.\r\n\r\nTwo.\r\n\r\nThree."


def test_spaces_widen_the_gaps_inside_lines_only():
    text = "Three short words\nand more \n"
    wide = changed("spaces", text)
    assert wide.split() == text.split()
    assert [len(line) - len(line.lstrip()) for line in wide.split("\n")] == [0, 0, 0]
    first, second, _ = wide.split("\n")
    assert all(len(run) > 2 for run in (first[5 : first.index("s")], second[3 : second.index("m")]))
    assert second.endswith("more ")


def test_indent_moves_every_line_of_prose():
    lines = changed("indent", "One.\nTwo.\n\nThree.").split("\n")
    assert [line.strip() for line in lines] == ["One.", "Two.", "", "Three."]
    assert all(line[0] in " \t" for line in lines if line)
    assert lines[2] == ""


def test_trailing_ends_lines_with_two_spaces_but_not_empty_ones():
    assert changed("trailing", "One.\n\nTwo.") == "One.  \n\nTwo.  "


def test_crlf_changes_every_lone_line_feed():
    assert changed("crlf", "One.\nTwo.\r\n\nThree.") == "One.\r\nTwo.\r\n\r\nThree."


def test_wrap_breaks_at_the_width():
    wrapped = changed("wrap", "The quick brown fox jumps over the lazy dog and runs away.", width=20)
    assert wrapped == "The quick brown fox\njumps over the lazy\ndog and runs away."


def test_wrap_lets_a_word_longer_than_the_width_be():
    assert changed("wrap", "See " + "x" * 40 + " there", width=20) == "See\n" + "x" * 40 + "\nthere"


@loop_over("mark", ["-", "+", "*", "#", "1.", "2)", ">", "=====", "---", "|", "[a]: b"])
def test_wrap_never_starts_a_line_with_what_would_be_markup(mark):
    text = f"Some words that are here {mark} and some more words"
    for width in range(20, 40):
        assert not any(line.startswith(mark) for line in changed("wrap", text, width=width).split("\n"))


def test_bullets_make_a_list_of_the_sentences():
    assert changed("bullets", TWO) == "- First things first.\n- Then the rest.\n\n- A second paragraph.\n"


def test_bullets_make_a_list_of_lines_that_stand_for_themselves():
    assert changed("bullets", "Apples\nPears\nOlive oil") == "- Apples\n- Pears\n- Olive oil"


def test_bullets_keep_lines_together_that_were_broken_at_a_width():
    assert changed("bullets", "One sentence over\ntwo lines. Another.") == "- One sentence over\ntwo lines.\n- Another."


def test_heading_sets_off_the_first_sentence_of_each_paragraph():
    assert changed("heading", TWO) == "# First things first.\n\nThen the rest.\n\n# A second paragraph.\n"


def test_heading_leaves_long_first_sentences():
    text = "word " * 30 + "end. Second."
    assert changed("heading", text) == text


def test_code_fence_goes_around_everything():
    assert changed("code-fence", "One.\n\nTwo.") == "```\nOne.\n\nTwo.\n```"
    assert changed("code-fence", "One.\n") == "```\nOne.\n```"


def test_code_fence_is_longer_than_any_fence_inside():
    assert changed("code-fence", CODE) == f"````\n{CODE}\n````"


def test_text_that_is_all_code_is_not_fenced_again():
    text = "```\nx = 1\n```"
    assert changed("code-fence", text) == text


@loop_over("layout", [layout for layout in Layout if layout is not Layout.CODE_FENCE])
def test_nothing_inside_code_changes(layout):
    result = changed(layout.value, CODE, width=20)
    assert result != CODE
    assert "```python\nif  a:\n    b  =  1. C\n```" in result


@loop_over(
    "text",
    [
        "    x  =  1\n    y = 2. Z",
        "| a b | c d |\n|-----|-----|\n| E. F | g h |",
        "<pre>\nA b. C d.\n</pre>",
        "[label]: /url 'A title. With dots.'",
        "***",
    ],
    ids=["indented code", "table", "html", "link definition", "rule"],
)
@loop_over("layout", Layout)
def test_blocks_whose_white_space_means_something_stay(layout, text):
    assert changed(layout.value, text) == text


@loop_over(
    ("layout", "expected"),
    [
        ("trailing", "- One. Two.  \n- [ ] Three four.  "),
        ("bullets", "- One. Two.\n- [ ] Three four."),
        ("indent", "- One. Two.\n- [ ] Three four."),
        ("blank-lines", "- One. Two.\n- [ ] Three four."),
    ],
)
def test_lists_keep_their_structure(layout, expected):
    assert changed(layout, "- One. Two.\n- [ ] Three four.") == expected


def test_spaces_in_lists_leave_the_marks_alone():
    result = changed("spaces", "> - [ ] One two\n1. Three four\n## Five six")
    assert [line[:7] for line in result.split("\n")] == ["> - [ ]", "1. Thre", "## Five"]
    assert result.split() == [">", "-", "[", "]", "One", "two", "1.", "Three", "four", "##", "Five", "six"]
    assert "One  " in result
    assert "Three  " in result


def test_prose_after_a_list_is_not_indented_into_it():
    text = "- item\n\nProse."
    assert changed("indent", text) == text


def test_a_list_is_not_made_where_it_would_swallow_code():
    text = "Run this. Then wait.\n\n    sleep 1"
    assert changed("bullets", text) == text


@loop_over(
    "kept",
    [
        "`a b. C d`",
        "``a ` b. C``",
        "[A link. With dots](http://x.y/a b)",
        "**Bold text. All of it**",
        "*Slanted. Twice*",
        '<a href="A b. C d">',
        "\u2067Right. To left\u2069",
    ],
)
@loop_over("layout", [layout for layout in Layout if layout is not Layout.CODE_FENCE])
def test_spans_are_kept_whole(layout, kept):
    assert kept in changed(layout.value, f"Before it. {kept} after it. And the end of this long line.", width=20)


@loop_over("layout", Layout)
@loop_over(
    "character",
    ["👨\u200d👩\u200d👧", "e\u0301", "\U0001f1e9\U0001f1ea", "👍🏽", " \u0301", "नि", "\u0600 5", "각"],
    ids=["family", "accent", "flag", "skin", "accent on a space", "vowel sign", "number sign", "jamo"],
)
def test_characters_of_several_code_points_stay_whole(layout, character):
    text = f"Start x{character}y here. {character} Next one. Last {character}"
    assert changed(layout.value, text, width=20).count(character) == 3


def test_no_break_spaces_and_tabs_stay():
    text = "10\u00a0km is\tfar. Very\u2003far."
    result = changed("spaces", text)
    assert "10\u00a0km" in result
    assert "is\tfar" in result
    assert "Very\u2003far." in result


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("blank-lines", "We met. 2. We left.\n\nEnd."),
        ("bullets", "- We met. 2. We left.\n- End."),
        ("heading", "We met. 2. We left. End."),
    ],
)
def test_a_sentence_that_would_become_markup_stays_where_it_is(layout, expected):
    assert changed(layout, "We met. 2. We left. End.") == expected


def test_prose_that_would_open_a_code_fence_when_broken_is_left_alone():
    text = "``` is three of ` in a row. See above and below."
    assert changed("wrap", text, width=20) == text


def test_the_sentences_of_a_text_are_looked_for_once_for_all_layouts(monkeypatch):
    asked = []

    def counted(text, start, end):
        asked.append((start, end))
        return sentence_gaps(text, start, end)

    monkeypatch.setattr(layouts, "sentence_gaps", counted)
    source = Source(TWO)
    assert all(source.places(layout, seed=1, width=30) is not None for layout in Layout)
    assert asked == [(0, 34), (36, 55)]  # once for each of the two paragraphs
