"""What holds for any text: the words stay, Markdown reads the same, the same seed gives the same text."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Draft, Item, Skip, derive_seed
from jrh_format import blocks, layouts
from jrh_format.options import FormatOptions, Layout
from jrh_format.perturber import FormatPerturber
from jrh_format.words_unchanged import WordsUnchanged
from jrh_testing import loop_over, sample_task
from markdown_it import MarkdownIt

STRENGTHS = (0.1, 0.4, 1.0)
WORDS = ["One two three.", "Is it so? Yes!", "a", "Dr. No", "It goes on and on " * 5 + "and ends. Then more"]
MARKUP = ["- ", "* ", "1. ", "# ", "> ", "|", "```", "````", "~~~", "`", "**", "_", "---", "===", "\\"]
MARKUP += ["[x]: y", "[l](u)", "<b>", "<pre>"]
SPACE = [" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u2028", "\x0b", "\x85", "\ufeff"]
ODD = ["\x00", "\u200d", "\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "\u0600", "שלום.", "नि", "\u202e", "\u202c"]
PIECES = st.one_of(*(st.sampled_from(pieces) for pieces in (WORDS, MARKUP, SPACE, ODD)))
TEXTS = st.one_of(
    st.lists(PIECES, min_size=1, max_size=14).map("".join),
    st.lists(st.text(max_size=12), max_size=8).map(" ".join),
    st.text(max_size=60),
)


async def outcomes(text, seed=0):
    made = FormatPerturber.of(
        FormatOptions(strengths=STRENGTHS), sample_task(), lambda *parts: derive_seed(seed, *parts)
    )
    return await made.perturb(Item(id="1", fields={"response": text}))


def non_space(text):
    """Return what is left without white space and without the marks the layouts add: a second, cruder proof."""
    return re.sub(r"[ \t\r\n#`-]", "", text)


@settings(max_examples=250, deadline=None)
@given(TEXTS)
async def test_the_words_of_any_text_stay(text):
    item = Item(id="1", fields={"response": text})
    for outcome in await outcomes(text):
        if isinstance(outcome, Draft):
            changed = outcome.fields["response"]
            validation = await WordsUnchanged().validate(item, outcome)
            assert validation.accepted, (outcome.variant, changed, validation.reason)
            assert changed != text
            assert non_space(changed) == non_space(text)
            if outcome.variant not in ("bullets", "heading", "code-fence"):
                assert re.findall(r"[^ \t\r\n]+", changed) == re.findall(r"[^ \t\r\n]+", text)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
async def test_a_stronger_draft_never_changes_fewer_places(text):
    by_layout = {}
    for outcome in await outcomes(text):
        if isinstance(outcome, Draft):
            by_layout.setdefault(outcome.variant, []).append(outcome)
    for drafts in by_layout.values():
        changed = [draft.details["response"]["places_changed"] for draft in drafts]
        assert changed == sorted(set(changed))
        assert len({draft.fields["response"] for draft in drafts}) == len(drafts)


@settings(max_examples=50, deadline=None)
@given(TEXTS, st.integers(0, 5))
async def test_the_same_seed_gives_the_same_drafts(text, seed):
    assert await outcomes(text, seed) == await outcomes(text, seed)


MARKDOWN = MarkdownIt("commonmark").enable("table")
BLOCKS = [
    "The first sentence is here. The second, by Dr. Who, is *slanted. Yes.* And `a  b. C` is code - or not?",
    "Lines of\na paragraph that\ngo on. And on.",
    "- item one. And more\n- item two\n\n  with a second part. Fine.\n\n      and code",
    "1. first\n2. second\n   - nested. Yes.",
    "# A heading. With dots",
    "Title\n=====",
    "> A quotation. Of two\n> lines.",
    "```py\nx  =  1\n\ny. Z = 2\n```",
    "    indented  code",
    "| a  b | c. D |\n|---|---|\n| 1 | 2 |",
    "[ref]: http://example.org 'Title. T'",
    "See [ref] and **bold text. And so on**. Then 3 * 4 * 5 + 1. Done.",
    "***",
    "<div>\nHTML. Text.\n</div>",
    "Ends in a backslash\\\nand goes on. Here.",
]
LIKE_BEFORE = ("spaces", "crlf", "wrap", "trailing")
ADDS_BLOCKS = ("blank-lines", "bullets", "heading")


def rendered(text):
    """Return the HTML without the differences that are layout: white space, and hard line breaks."""
    return re.sub(r"\s+", " ", MARKDOWN.render(text).replace("<br />", " ")).strip()


def inline(text):
    """Return the HTML with the tags of blocks taken away: words, emphasis, links and code, in order."""
    return re.sub(r"\s+", " ", re.sub(r"</?(p|h[1-6]|ul|ol|li|blockquote|pre)\b[^>]*>", " ", rendered(text))).strip()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=4).map("\n\n".join))
async def test_markdown_reads_the_changed_text_as_before(text):
    """Layout that adds no block gives the same HTML; the others keep what each block holds, code above all."""
    for outcome in await outcomes(text):
        if isinstance(outcome, Skip):
            continue
        changed = str(outcome.fields["response"])
        if outcome.variant in LIKE_BEFORE:
            assert rendered(changed) == rendered(text), (outcome.variant, changed)
        elif outcome.variant in ADDS_BLOCKS:
            assert inline(changed) == inline(text), (outcome.variant, changed)
        elif outcome.variant == "code-fence":
            assert [token.type for token in MARKDOWN.parse(changed)] == ["fence"]


@loop_over("layout", [layout.value for layout in Layout])
async def test_every_layout_has_a_draft_for_a_plain_text_of_two_paragraphs(layout):
    text = "This is a first sentence of a text. This is another one, long enough to wrap.\n\nAnd this is the end."
    assert any(isinstance(outcome, Draft) and outcome.variant == layout for outcome in await outcomes(text))


LETTERS_FIRST = st.lists(st.sampled_from(["Words here", "é. Two", "", "a | b", "x\t|", "\u00aa"]), max_size=6)


@settings(max_examples=200, deadline=None)
@given(st.one_of(LETTERS_FIRST.map("\n".join), LETTERS_FIRST.map("\r\n".join), TEXTS))
def test_paragraphs_found_without_the_parser_are_those_the_parser_finds(text):
    found = blocks._plain(text, blocks._lines(text))
    parsed = [token for token in MARKDOWN.parse(text) if token.map and token.type != "inline"]
    if found:
        assert [(token.type, token.level, token.map) for token in found] == [
            (token.type, token.level, token.map) for token in parsed
        ]


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_sentences_end_where_one_pattern_for_word_and_mark_finds_their_ends(text):
    """The word before a mark is read only where it matters; here it is read everywhere, with the mark."""
    expected, sentence = [], 0
    for match in layouts._BOUNDARY.finditer(text):
        word = match["word"] or ""
        numbering = match.start() == sentence and word.isdigit()
        if match["mark"] == "." and (numbering or layouts._abbreviates(word)):
            continue
        sentence = match.end("gap")
        expected.append(match.span("gap"))
    assert layouts.sentence_gaps(text, 0, len(text)) == expected
