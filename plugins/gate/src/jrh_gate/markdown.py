"""Write the gate's findings as Markdown for a pull request comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jrh_measuring import LONGEST_COMMENT, lines_that_fit, markdown_text
from jrh_measuring.gating.checking import Checked
from jrh_measuring.gating.deciding import Decision, Outcome

from jrh_gate import wording

_HEAD: Final = "| | rule | judge | where | estimate | rests on |\n| --- | --- | --- | --- | --- | --- |"
_OPEN: Final = (Outcome.FAILS, Outcome.UNDECIDED)
_NAMES: Final = 40
"""Judges and places listed by name; the rest are counted."""


def markdown(checked: Checked) -> str:
    """Return the document: conclusion, missing verdicts, open rules, findings, and rules that hold (folded).

    At most 65,536 characters, GitHub's limit for comments; lines that do not fit are dropped from the end and counted.
    """
    lines = len(checked.decisions) + len(checked.relevant_findings)
    return _document(checked, lines_that_fit(lambda room: _document(checked, room), lines, LONGEST_COMMENT))


def _document(checked: Checked, room: int) -> str:
    """Return the document with so many lines of tables and lists at most."""
    blocks = list(_head(checked))
    trouble = [_line(decision, checked) for decision in checked.decisions if decision.outcome in _OPEN]
    findings = [
        f"- {markdown_text(wording.write_finding(finding, checked), 2000)}" for finding in checked.relevant_findings
    ]
    holding = [_line(decision, checked) for decision in checked.decisions if decision.outcome not in _OPEN]
    for lines, head, form in (
        (trouble, _HEAD, "{}"),
        (findings, "Findings about what was judged:\n", "{}"),
        (holding, _HEAD, f"<details><summary>{len(holding)} hold</summary>\n\n{{}}\n\n</details>"),
    ):
        more = f"\n\n{len(lines[room:])} more do not fit here; the JSON file has them all." if lines[room:] else ""
        if lines:
            blocks.append(form.format("\n".join([head, *lines[:room]]) + more))
        # Open rules first, then findings: what holds is the first to be cut.
        room -= len(lines[:room])
    return "\n\n".join(blocks) + "\n"


def _head(checked: Checked) -> Iterator[str]:
    yield f"## Gate of {markdown_text(checked.suite)}: {wording.write_outcome(checked)}"
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
            f"- {markdown_text(wording.judge(answered.judge, checked), 100)} in "
            f"{markdown_text(wording.where(answered, checked), 100)}: "
            f"{markdown_text(wording.silence(answered))}"
            for answered in checked.silent
        ]
        yield f"More than the allowed {wording.share(checked.terms.allow_missing)} of verdicts are missing:"
        # Hundreds of places may lack verdicts, and the comment has room for other things.
        yield _some(lines, "\n", "- ")


def _some(entries: Sequence[str], separator: str, mark: str = "") -> str:
    more = len(entries) - _NAMES
    return separator.join([*entries[:_NAMES], *([f"{mark}and {more} more"] if more > 0 else [])])


def _line(decision: Decision, checked: Checked) -> str:
    name = decision.outcome.value
    # Bold is what a person has to look at.
    outcome = name if decision.outcome is Outcome.HOLDS else f"**{name}**"
    *cells, sizes = wording.cells(decision, checked)
    return f"| {' | '.join((outcome, *map(markdown_text, cells), sizes))} |"
