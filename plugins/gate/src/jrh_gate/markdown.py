"""The gate's findings as Markdown, fit for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from jrh.text import LONGEST_COMMENT, markdown_text

from jrh_gate import wording
from jrh_gate.checking import Checked
from jrh_gate.deciding import Decision, Outcome

_RESERVE: Final = 2_000
"""Kept for what stands around the tables."""
_HEAD: Final = "| | rule | judge | where | estimate | rests on |\n| --- | --- | --- | --- | --- | --- |"
_OPEN: Final = (Outcome.FAILS, Outcome.UNDECIDED)
_NAMES: Final = 40
"""Judges and places that are named; more are counted."""


def markdown(checked: Checked) -> str:
    """Return the document: the conclusion, what is missing, what fails or is undecided, and folded what holds.

    At most 65,536 characters: lines that do not fit are left out from the end, and counted.
    """
    blocks = list(_head(checked))
    left = LONGEST_COMMENT - _RESERVE - sum(map(len, blocks))
    trouble = [each for each in checked.decisions if each.outcome in _OPEN]
    holding = [each for each in checked.decisions if each.outcome not in _OPEN]
    for title, decisions in (("", trouble), (f"{len(holding)} hold", holding)):
        lines, dropped = _fitting([_line(each, checked) for each in decisions], left)
        if lines or dropped:
            more = f"\n\n{dropped} more do not fit here; the JSON file has them all." if dropped else ""
            table = "\n".join([_HEAD, *lines]) + more
            block = f"<details><summary>{title}</summary>\n\n{table}\n\n</details>" if title else table
            blocks.append(block)
            left -= len(block)
    return "\n\n".join(blocks) + "\n"


def _head(checked: Checked) -> Iterator[str]:
    yield f"## Gate of {markdown_text(checked.suite)}: {'passed' if checked.exit_code == 0 else 'not passed'}"
    yield f"{markdown_text(wording.conclusion(checked), 1000)}."
    if checked.level is not None:
        yield (
            f"Intervals cover {checked.level:.4g}, items are the unit. A rule holds when the whole interval meets the "
            "threshold, fails when the whole interval misses it, and is undecided otherwise."
        )
    if checked.simulated:
        names = [markdown_text(name, 100) for name in checked.judges if name in checked.simulated]
        yield f"Simulated judges (planted behaviour, no model): {_some(names, ', ')}."
    if checked.silent:
        lines = [
            f"- {markdown_text(wording.judge(each.judge, checked), 100)} in "
            f"{markdown_text(wording.where(each, checked), 100)}: "
            f"{markdown_text(wording.silence(each))}"
            for each in checked.silent
        ]
        yield f"Verdicts missing beyond the allowance of {wording.share(checked.terms.allow_missing)}:"
        yield _some(lines, "\n", "- ")


def _some(entries: Sequence[str], separator: str, mark: str = "") -> str:
    rest = len(entries) - _NAMES
    return separator.join([*entries[:_NAMES], *([f"{mark}and {rest} more"] if rest > 0 else [])])


def _line(each: Decision, checked: Checked) -> str:
    outcome = each.outcome.value if each.outcome is Outcome.HOLDS else f"**{each.outcome.value}**"
    cells = (
        markdown_text(each.rule.text),
        markdown_text(wording.judge(each.place.judge, checked)),
        markdown_text(wording.where(each.place, checked)),
        markdown_text(wording.found(each)),
        wording.sizes(each.measure),
    )
    return f"| {' | '.join((outcome, *cells))} |"


def _fitting(lines: Iterable[str], room: int) -> tuple[list[str], int]:
    """Return the lines that fit into so many characters, and how many do not."""
    kept: list[str] = []
    dropped = 0
    for line in lines:
        room -= len(line) + 1
        if room >= 0 and not dropped:
            kept.append(line)
        else:
            dropped += 1
    return kept, dropped
