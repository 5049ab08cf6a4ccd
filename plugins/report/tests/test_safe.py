import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from jrh.text import clean_text as clean
from jrh_measuring import html_text as html
from jrh_measuring import markdown_text as markdown
from jrh_report.latex import latex_text as latex
from jrh_testing import loop_over


@loop_over(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a new window title\x07after", "after"),
        ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("over\rwritten", "over written"),
        ("a\x00b\x08c\x7fd", "abcd"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("\ufeffone\u2028two\n\n three\t", "one two three"),
        ("half \ud800 pair", "half \ufffd pair"),
        ("👩‍👧 e\u0301 می‌خواهم", "👩‍👧 e\u0301 می‌خواهم"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
    ],
)
def test_nothing_that_a_terminal_obeys_is_left(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(max_size=400))
def test_cleaned_text_is_one_bounded_line_without_control_characters(text: str) -> None:
    shown = clean(text, 50)

    assert len(shown) <= 50
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [c for c in shown if unicodedata.category(c) == "Cf" and c not in "\u200c\u200d"]
    shown.encode("utf-8")


def test_a_long_text_says_that_it_was_cut() -> None:
    assert clean("word " * 100_000, 10) == "word word…"


@loop_over(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("a\nb", "a b"),
        ("`code`", r"\`code\`"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("[a](javascript:alert(1))", r"\[a\](javascript:alert(1))"),
        ("![](http://example.org/pixel)", "!\\[\\](http:\u200b//example.org/pixel)"),
        ("@user, a@example.org", "@\u200buser, a@\u200bexample.org"),
        ("owner/name#12, #7, gh-7", "owner/name#\u200b12, #\u200b7, gh-\u200b7"),
        ("www.example.org ftp://x", "www\u200b.example.org ftp:\u200b//x"),
        (":tada:", ":\u200btada:"),
        ("level 3: 10 # of 12 @ 5", "level 3: 10 # of 12 @ 5"),
        ("**bold** _it_ ~~gone~~ $x$", r"\*\*bold\*\* \_it\_ \~\~gone\~\~ \$x\$"),
        ("back\\slash|", r"back\\slash\|"),
        ("# heading", r"\# heading"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("-0.12", "-0.12"),
        ("0.93", "0.93"),
        ("---", r"\---"),
        ("&lt;", "&amp;lt;"),
        ("gpt-4o-mini (simulated) 0.93", "gpt-4o-mini (simulated) 0.93"),
    ],
)
def test_markdown_shows_the_text_literally(text: str, shown: str) -> None:
    assert markdown(text) == shown


def test_html_within_markdown_has_no_backslashes_and_no_tags() -> None:
    assert html("a_b <img src=x> @user") == "a_b &lt;img src=x&gt; @\u200buser"


@loop_over(
    ("text", "shown"),
    [
        ("50% of $x_1$ & more #1", r"50\% of \$x\_1\$ \& more \#1"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("a^b~c", r"a\textasciicircum{}b\textasciitilde{}c"),
        ("[x]*", "{[}x{]}{*}"),
        ("gpt-4 -- best", "gpt-4 -{}- best"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
        ("^^5cinput", r"\textasciicircum{}\textasciicircum{}5cinput"),
        ("a\nb", "a b"),
    ],
)
def test_latex_prints_the_text(text: str, shown: str) -> None:
    assert latex(text) == shown
