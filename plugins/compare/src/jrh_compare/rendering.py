"""Render a comparison for the terminal and as Markdown and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Final

import attrs
from jrh.text import clean_text
from jrh_measuring import LONGEST_COMMENT, lines_that_fit, markdown_text, plain_table, terminal_text
from jrh_measuring.comparing.results import Comparison

from jrh_compare.document import Lines, Section, Table, document

_SHORTENED: Final = f"Shortened to stay within {LONGEST_COMMENT:,} characters; jrh compare --format json has all of it."
_LINE: Final = 600
_CELL: Final = 120
_ROWS: Final = 12
"""Rows that are shown whole: more of them, with the changed verdicts of every test, take more than a screen."""


def terminal(comparison: Comparison, *, full: bool = False) -> str:
    """Return the comparison for the terminal, without control sequences from untrusted text.

    In brief where the tables take more than a screen, unless it is wanted in full.
    """
    rows = sum(not row.same_as for pair in comparison.pairs for row in pair.rows)
    return terminal_text(_parts(comparison, brief=rows > _ROWS and not full)).rstrip("\n") + "\n"


def _parts(comparison: Comparison, *, brief: bool) -> Iterator[Any]:
    for section in document(comparison, brief=brief):
        if section.title:
            yield f"== {clean_text(section.title, _LINE)} ==\n"
        for block in section.blocks:
            match block:
                case Lines(lines=lines):
                    yield from (clean_text(line, _LINE) for line in lines)
                case Table(columns=columns, rows=rows):
                    yield plain_table(columns, ([clean_text(cell, _CELL) for cell in row] for row in rows))
            yield ""


def markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown with untrusted text escaped; never longer than a GitHub comment may be.

    Where it is too long, the comparisons are cut at the end, and what concerns all of them stays.
    """
    sections = tuple(document(comparison))
    pair_lines = [line for section in sections if not section.of_all for line in _lines(section)]
    # Legend, notes and cost curve: without them the comparisons before cannot be read.
    closing = [line for section in sections if section.of_all for line in _lines(section)]

    def text_of(kept: int) -> str:
        # Said only if something was cut.
        note = [] if kept == len(pair_lines) + len(closing) else ["", "---", "", _SHORTENED]
        return "\n".join([*pair_lines[: max(kept - len(closing), 0)], *closing[:kept], *note]).rstrip("\n") + "\n"

    return text_of(lines_that_fit(text_of, len(pair_lines) + len(closing), LONGEST_COMMENT))


def _lines(section: Section) -> Iterator[str]:
    """Yield the lines of a section, an empty one after each of its parts."""
    if section.title:
        yield from (f"## {markdown_text(section.title, _LINE)}", "")
    for block in section.blocks:
        match block:
            case Lines(lines=lines):
                yield from (f"- {markdown_text(line.removeprefix('- '), _LINE)}" for line in lines)
            case Table(columns=columns, rows=rows):
                yield from (_line(columns), f"|{' --- |' * len(columns)}", *(_line(row) for row in rows))
        yield ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell, _CELL) for cell in cells)} |"


def as_json(comparison: Comparison) -> str:
    """Return all numbers in full, as in `schemas/comparison.schema.json`; ASCII, `null` for unknown values."""
    return json.dumps(attrs.asdict(comparison, value_serializer=_plain), indent=2, allow_nan=False) + "\n"


def _plain(_of: object, _field: object, value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    # JSON has no NaN and no infinity.
    return None if isinstance(value, float) and not math.isfinite(value) else value
