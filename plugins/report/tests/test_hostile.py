"""Text that wants to run, to notify, to compute or to reorder is shown as text, in every field and every format."""

from __future__ import annotations

import csv
import io
import re
from functools import cache
from xml.etree import ElementTree

import pytest
from attrs import evolve
from jrh import RecordTable
from jrh.values import spending_of
from jrh.values.report import RunReport
from jrh_measuring import escape_controls
from jrh_report.latex import latex_text as latex
from jrh_report.record_tables import neutral, storable
from jrh_testing import PAYLOADS, load_sections
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

ACTIVE = (
    "@somebody look",
    "fixes #1 and GH-2 and owner/name#3",
    "see https://evil.test/ or www.evil.test or ftp://evil.test",
    "mailto:a@evil.test a@evil.test",
    "[^1]: note",
    "![x](//evil.test/a.png)",
    "[x]: //evil.test/",
    "<https://evil.test/>",
    "```\ncode",
    "</details><img src=//evil.test/a.png>",
    "| a | b |",
    "\\| x |",
    "$\\href{//evil.test}{x}$",
    ":shipit:",
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    " =1",
    "\uff1d1",
    '=HYPERLINK("//evil.test/","x")',
    "'=1",
    "\\input{/etc/passwd}",
    "^^5cinput",
    "%",
    "\\end{tabular}\\write18{id}",
    "\u202egnp.exe",
    "\x1b]8;;http://evil.test\x07link\x1b]8;;\x07",
)
TEXTS = (*PAYLOADS, *ACTIVE)
with_sections: dict[str, RunReport] = {}
"""Made once for all formats: sections take longer than most of them."""
OURS = re.compile(r"(<details><summary>[^<>]*</summary>|</details>)\n?")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


@pytest.fixture
def hostile(hostile):
    """Return a function: text -> its report, with the sections."""

    def made(text):
        if text not in with_sections:
            with_sections[text] = load_sections(hostile(text))
        return with_sections[text]

    return made


@cache
def github() -> MarkdownIt:
    """Return a parser that lets HTML through and makes links of bare addresses, as GitHub does."""
    parser = MarkdownIt("gfm-like", {"html": True, "linkify": True})
    assert parser.linkify is not None
    parser.linkify.set({"fuzzy_link": False})
    parser.linkify.add("//", None)
    parser.core.ruler.after("block", "once", read_once)
    return parser


def read_once(state: StateCore) -> None:
    """Leave out inline content that was there before: it is read alike in all of a document, and cells repeat it."""
    kept = {token.content if token.type == "inline" else number: token for number, token in enumerate(state.tokens)}
    state.tokens = list(kept.values())


def tokens(text: str):
    for block in github().parse(text):
        yield block
        yield from block.children or ()


def test_there_are_at_least_200_payloads() -> None:
    assert len(PAYLOADS) >= 200


def test_the_parser_would_find_what_is_active() -> None:
    found = {token.type for token in tokens("http://evil.test ![a](b) <b>x</b>\n\n<div>\n")}
    assert {"link_open", "image", "html_inline", "html_block"} <= found


@pytest.mark.slow
def test_nothing_in_markdown_is_active(render, hostile) -> None:
    for text in TEXTS:
        rendered = render("markdown", hostile(text))
        assert not CONTROL.search(rendered), text
        assert rows_are_whole(rendered), text
        for token in tokens(rendered):
            assert token.type not in ("link_open", "image", "html_inline", "fence", "code_block", "code_inline"), text
            if token.type == "html_block":
                assert OURS.fullmatch(token.content), text
                assert not MENTION.search(token.content), text
            if token.type == "text":
                assert not MENTION.search(token.content), text


MENTION = re.compile(r"@\w|#\d|gh-\d|\b(?:https?|ftp|mailto|xmpp):[^\s\u200b]|\bwww\.", re.IGNORECASE)


def rows_are_whole(text: str) -> bool:
    """Tell whether every table has as many cells in each row as in its first; an escaped pipe parts nothing."""
    width = None
    for line in text.splitlines():
        cells = len(re.split(r"(?<!\\)(?:\\\\)*\|", line)) if line.startswith("| ") else None
        if None not in (width, cells) and cells != width:
            return False
        width = cells
    return True


def test_no_cell_of_the_csv_is_a_formula_and_every_text_can_be_had_back(render, hostile) -> None:
    for text in TEXTS:
        shown = render("csv", hostile(text)).decode("utf-8")
        header, row = csv.reader(io.StringIO(shown, newline=""), strict=True)
        cells = dict(zip(header, row, strict=True))
        for cell in row:
            first = cell.lstrip()[:1]
            assert first not in set("=+-@\uff1d\uff0b\uff0d\uff20") or re.fullmatch(r"-?\d+(\.\d+)?", cell), text
            assert not cell.startswith(("\t", "\r", "\n")), text
        assert cells["rationale"] == neutral(text)
        assert cells["rationale"].removeprefix("'") == escape_controls(storable(text))
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown), text


def test_controls_are_escaped_one_by_one_and_kept_for_programs(render, hostile) -> None:
    text = "a\x1b]52;c;x\x07\x9b2J\u202eb\tc\n"
    assert neutral(text) == "a\\x1b]52;c;x\\x07\\x9b2J\\u202eb\tc\n"
    assert text in render("csv", hostile(text), neutralise=False).decode("utf-8")


def test_no_latex_command_comes_from_the_run(render, hostile) -> None:
    printed = re.compile(
        r"(?:[^\\{}$&#%_^~<>|\"\[\]*`]"
        r"|\\[{}$&#%_]|\\text(?:backslash|asciicircum|asciitilde|less|greater|bar|asciigrave)\{\}"
        r"|\{\\char34\}|\{\[\}|\{\]\}|\{\*\}|-\{\}(?=-)|'\{\}(?=')|[?!]\{\})*"
    )
    for text in TEXTS:
        assert printed.fullmatch(latex(text)), text
        document = render("latex", hostile(text))
        assert document.count(r"\begin{tabular}") == document.count(r"\end{tabular}") == 12, text
        rows = [line for line in document.splitlines() if line.endswith(r" \\")]
        assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {3, 6, 7, 8}, text
        assert not CONTROL.search(document), text


@pytest.mark.slow
def test_nothing_in_the_terminal_is_obeyed(render, hostile) -> None:
    # What has no control character and no mark that could become one brings none, as a tenth of it shows.
    told = [text for text in TEXTS if CONTROL.search(text) or set(text) & set("\\[]&%")]
    for text in (*told, *[text for text in TEXTS if text not in told][::10]):
        assert not CONTROL.search(render("terminal", hostile(text), width=100, full=True)), text


def test_the_json_report_is_ascii_and_holds_the_text(render, hostile) -> None:
    import json

    for text in TEXTS:
        shown = render("json", hostile(text))
        assert shown.isascii()
        assert json.loads(shown)["suite"] == text


def test_parquet_holds_the_text_as_it_is(render, hostile) -> None:
    import pyarrow
    from pyarrow import parquet

    for text in TEXTS[::10]:
        table = parquet.read_table(pyarrow.BufferReader(render("parquet", hostile(text))))
        assert table.column("rationale").to_pylist() == [storable(text)]


@pytest.fixture
def crowd(hostile):
    """Return a function: texts -> a report whose judges they are, in one test of that name each."""

    def made(texts):
        base = hostile(texts[0])
        measures = [
            evolve(measure, judge=text, test=test, cell={})
            for measure in base.measures[:1]
            for text in texts
            for test in ("reference", texts[0])
        ]
        lines = [evolve(base.costs[0], judge=text) for text in texts]
        return evolve(
            base,
            sections=(),
            judges=tuple(texts),
            simulated=frozenset(texts[::2]),
            tests=("reference", texts[0]),
            measures=tuple(measures),
            costs=tuple(lines),
            spending=tuple(map(spending_of, lines)),
            records=RecordTable.from_records(()),
        )

    return made


@pytest.mark.slow
def test_nothing_in_a_plot_is_active(render, crowd) -> None:
    for start in range(0, len(TEXTS), 20):
        texts = list(dict.fromkeys(TEXTS[start : start + 20]))
        files = render("plots", crowd(texts))
        assert len(files) == 4
        for name, content in files.items():
            assert re.fullmatch(r"[a-z0-9.-]+", name)
            if name.endswith(".svg"):
                inert(content)
        assert not CONTROL.search(files["index.txt"])


def inert(svg: str) -> None:
    assert "<!ENTITY" not in svg
    for element in ElementTree.fromstring(svg).iter():
        tag = element.tag.rpartition("}")[2].casefold()
        assert tag in {"svg", "g", "defs", "style", "path", "use", "text", "rect", "title", "desc"}, tag
        if tag == "style":
            assert re.fullmatch(r"svg\{[a-z0-9:#;-]+\}", element.text or "")
        for name, value in element.attrib.items():
            bare = name.rpartition("}")[2].casefold()
            assert not bare.startswith("on"), bare
            assert bare != "href" or value.startswith("#"), value
            assert "url(" not in value or re.search(r"url\(#\w+\)", value), value
