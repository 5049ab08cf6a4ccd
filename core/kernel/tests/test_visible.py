from jrh.text import visible_line, visible_text
from jrh_testing import loop_over


@loop_over(
    ("text", "shown"),
    [
        ("plain, ä, 漢, 👩‍🔬", "plain, ä, 漢, 👩‍🔬"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("a\x00b\x1b[31m", "a␀b␛[31m"),
        ("\r\n", "␍\n"),
        ("\x7f\x9b", "␡⟨U+009B⟩"),
        ("abc\u202edef\u2066", "abc⟨U+202E⟩def⟨U+2066⟩"),
        ("\ufeff\u200b\u00ad", "⟨U+FEFF⟩⟨U+200B⟩⟨U+00AD⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("no\u00a0break", "no\u00a0break"),
    ],
)
def test_what_hides_or_reorders_is_made_visible_and_nothing_else_changes(text: str, shown: str) -> None:
    assert visible_text(text) == shown


def test_long_texts_are_cut_and_say_by_how_much() -> None:
    assert visible_text("x" * 1500, 100) == "x" * 100 + "… (1,400 more characters)"
    assert visible_text("x" * 100, 100) == "x" * 100


def test_a_line_has_no_breaks() -> None:
    assert visible_line("a\n\n b\tc\u2028d") == "a b c⟨U+2028⟩d"
