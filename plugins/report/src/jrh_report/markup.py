"""Parts of a Markdown document as blocks that can be shortened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve
from jrh_measuring import html_text as html
from jrh_measuring import markdown_text as safe

from jrh_report import tables
from jrh_report.fitting import Block

_CELL: Final = 160
"""Characters of a cell; a longer text is cut."""


def table_block(table: tables.Table, *, rank: int, share: int, what: str, heading: bool = False) -> Block:
    """Return a table, with its title as a heading where wanted and its note."""
    rule = ("---:" if column in table.right else "---" for column in range(len(table.columns)))
    above = [*([f"## {table.title}"] if heading else []), *([safe(table.note, 400)] if table.note else [])]
    head = "".join(f"{part}\n\n" for part in above)
    return Block(
        head=f"{head}{_line(table.columns)}\n| {' | '.join(rule)} |\n",
        lines=tuple(_line(row) for row in table.rows),
        rank=rank,
        share=share,
        what=what,
    )


def bullets(texts: Sequence[str], *, head: str, limit: int, what: str, share: int, rank: int = 0) -> Block:
    """Return texts as a list, each up to a limit."""
    lines = tuple(f"- {safe(text, limit)}" for text in texts)
    return Block(head=head, lines=lines, rank=rank, share=share, what=what)


def folded(block: Block, title: str) -> Block:
    """Return the block behind a line that opens it."""
    head = f"<details><summary>{html(title, 120)}</summary>\n\n{block.head}"
    return evolve(block, head=head, tail=f"{block.tail}\n\n</details>")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(safe(cell, _CELL) for cell in cells)} |"
