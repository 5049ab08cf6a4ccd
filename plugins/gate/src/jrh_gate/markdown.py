"""Write the gate's findings as Markdown for a pull request comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jrh_measuring import LONGEST_COMMENT, lines_that_fit, markdown_text

from jrh_gate import wording
from jrh_gate.checking import Checked
from jrh_gate.deciding import Decision, Outcome

_HEAD: Final = "| | rule | judge | where | estimate | rests on |\n| --- | --- | --- | --- | --- | --- |"
_OPEN: Final = (Outcome.FAILS, Outcome.UNDECIDED)
_NAMES: Final = 40
"""Judges and places listed by name; the rest are counted."""


def markdown(checked: Checked) -> str:
    """Return the document: conclusion, missing verdicts, open rules, findings, and rules that hold (folded).

    At most 65,536 characters, GitHub's limit for comments; lines that do not fit are dropped from the end and counted.
    """
    lines = len(checked.decisions) + len(checked.touching)
    return _document(checked, lines_that_fit(lambda room: _document(checked, room), lines, LONGEST_COMMENT))


def _document(checked: Checked, room: int) -> str:
    """Return the document with so many lines of tables and lists at most."""
    blocks = list(_head(checked))
    trouble = [_line(each, checked) for each in checked.decisions if each.outcome in _OPEN]
    findings = [f"- {markdown_text(wording.told(each, checked), 2000)}" for each in checked.touching]
    holding = [_line(each, checked) for each in checked.decisions if each.outcome not in _OPEN]
    for lines, head, form in (
        (trouble, _HEAD, "{}"),
        (findings, "Findings about what was judged:\n", "{}"),
        (holding, _HEAD, f"<details><summary>{len(holding)} hold</summary>\n\n{{}}\n\n</details>"),
    ):
        more = f"\n\n{len(lines[room:])} more do not fit here; the JSON file has them all." if lines[room:] else ""
        if lines:
            blocks.append(form.format("\n".join([head, *lines[:room]]) + more))
        room -= len(lines[:room])
    return "\n\n".join(blocks) + "\n"


def _head(checked: Checked) -> Iterator[str]:
    yield f"## Gate of {markdown_text(checked.suite)}: {'passed' if checked.exit_code == 0 else 'not passed'}"
    yield f"{markdown_text(wording.conclusion(checked), 1000)}."
    if checked.level is not None:
        sentences = (
            "Rules are decided by one-sided confidence limits, clustered by item",
            "A rule holds when a limit meets the threshold, fails when the other misses it, and is undecided otherwise",
            *(markdown_text(sentence, 1000) for sentence in wording.terms_of_decision(checked)),
        )
        yield " ".join(f"{sentence}." for sentence in sentences)
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
        yield f"More than the allowed {wording.share(checked.terms.allow_missing)} of verdicts are missing:"
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
