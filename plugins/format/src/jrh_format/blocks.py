"""Classify the lines of a text as prose, structure or verbatim."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from attrs import frozen
from markdown_it import MarkdownIt
from markdown_it.token import Token

_BREAK: Final = re.compile(r"\r\n?|\n")
_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")
_VERBATIM: Final = frozenset({"fence", "code_block", "html_block", "table_open", "hr"})
_STRUCTURED: Final = frozenset({"list_item_open", "blockquote_open", "heading_open"})
_LISTS: Final = frozenset({"bullet_list_open", "ordered_list_open"})
_UNSAFE_START: Final = re.compile(r"[ \t]*(?:```|~~~|<)")


class Kind(Enum):
    """Which changes a line allows."""

    BLANK = auto()
    """Nothing but white space."""
    PROSE = auto()
    """Part of a free-standing paragraph: every layout may be applied."""
    STRUCTURED = auto()
    """A list item, quotation or heading: leading white space has a meaning, inner white space has none."""
    VERBATIM = auto()
    """Code, a table, HTML, a rule, a link definition: nothing may change."""


@frozen(kw_only=True)
class Line:
    """One line of the text, by offsets."""

    start: int
    end: int
    """Where its line break begins, or the text ends."""
    stop: int
    """Where the next line begins."""
    kind: Kind


@frozen(kw_only=True)
class Paragraph:
    """A paragraph of prose, by offsets."""

    start: int
    """Its first character that is not white space."""
    end: int
    """Behind its last one."""
    lines: tuple[Line, ...]
    after_list: bool
    """A list precedes it, so indentation would make it part of the last item."""
    before_code: bool
    """Indented code follows it; if this became a list, the code would become part of it."""
    followed: bool
    """There is a blank line after it, and more text after that."""


@frozen(kw_only=True)
class Document:
    """A text with its lines and paragraphs."""

    text: str
    lines: tuple[Line, ...]
    paragraphs: tuple[Paragraph, ...]
    newline: str
    """The line break the text itself uses."""


def read(text: str) -> Document:
    """Split a text into lines and paragraphs as CommonMark with tables does.

    Plain text is Markdown without markup: its paragraphs are prose.
    """
    spans = _lines(text)
    tokens = _plain(text, spans) or [token for token in _MARKDOWN.parse(text) if token.map]
    lines = _classify_lines(text, spans, tokens)
    first_break = _BREAK.search(text)
    return Document(
        text=text,
        lines=tuple(lines),
        paragraphs=tuple(_paragraphs(text, lines, tokens)),
        newline=first_break.group() if first_break else "\n",
    )


def _lines(text: str) -> list[tuple[int, int, int]]:
    """Return start, end and stop of every line."""
    lines = []
    start = 0
    for match in _BREAK.finditer(text):
        lines.append((start, *match.span()))
        start = match.end()
    if start < len(text):
        lines.append((start, len(text), len(text)))
    return lines


def _plain(text: str, lines: list[tuple[int, int, int]]) -> list[Token]:
    """Return the paragraphs of a text whose lines all start with a letter or are empty; for any other text nothing.

    A letter starts no block but a paragraph, so the parser need not be asked, which takes longest of all.
    """
    tokens: list[Token] = []
    first = 0
    for number, (start, end, _) in enumerate([*lines, (0, 0, 0)]):
        if start < end:
            if not text[start].isalpha():
                return []
        else:
            if first < number:
                tokens.append(Token("paragraph_open", "p", 1, map=[first, number]))
            first = number + 1
    return tokens


def _classify_lines(text: str, lines: list[tuple[int, int, int]], tokens: list[Token]) -> list[Line]:
    kinds = [Kind.VERBATIM for _ in lines]
    # Later entries win: code inside a list item is code.
    for types, kind in ((_STRUCTURED, Kind.STRUCTURED), ({"paragraph_open"}, Kind.PROSE), (_VERBATIM, Kind.VERBATIM)):
        for token in tokens:
            if token.type in types and not (kind is Kind.PROSE and token.level):
                first, last = token.map or (0, 0)
                kinds[first:last] = [kind] * len(kinds[first:last])
    code = {
        index
        for token in tokens
        if token.type in _VERBATIM and token.map
        for index in range(token.map[0], token.map[1])
    }
    for index, (start, end, _) in enumerate(lines):
        if index not in code and not text[start:end].strip(" \t"):
            kinds[index] = Kind.BLANK
    return [
        Line(start=start, end=end, stop=stop, kind=kind) for (start, end, stop), kind in zip(lines, kinds, strict=True)
    ]


def _paragraphs(text: str, lines: list[Line], tokens: list[Token]) -> list[Paragraph]:
    blocks = [token for token in tokens if token.level == 0 and token.nesting >= 0]
    paragraphs = []
    for index, token in enumerate(blocks):
        if token.type != "paragraph_open" or token.map is None:
            continue
        first, last = token.map
        paragraph_lines = tuple(lines[first:last])
        if any(_UNSAFE_START.match(text, line.start, line.end) for line in paragraph_lines):
            # Broken differently, such a line could open a code fence or an HTML block.
            continue
        content = text[paragraph_lines[0].start : paragraph_lines[-1].end]
        following = lines[last:]
        paragraphs.append(
            Paragraph(
                start=paragraph_lines[0].start + len(content) - len(content.lstrip(" \t")),
                end=paragraph_lines[0].start + len(content.rstrip(" \t")),
                lines=paragraph_lines,
                after_list=index > 0 and blocks[index - 1].type in _LISTS,
                before_code=index + 1 < len(blocks) and blocks[index + 1].type == "code_block",
                followed=bool(following)
                and following[0].kind is Kind.BLANK
                and any(line.kind is not Kind.BLANK for line in following),
            )
        )
    return paragraphs
