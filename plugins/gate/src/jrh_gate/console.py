"""Render the gate's findings for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jrh.text import clean_text
from jrh_measuring import plain_table, terminal_text
from jrh_measuring.gating.checking import Checked

from jrh_gate import wording


def console_text(checked: Checked) -> str:
    """Return the decisions as a table, then what is missing, then the conclusion."""
    return terminal_text(_parts(checked))


def _parts(checked: Checked) -> Iterator[Any]:
    if checked.decisions:
        rows = ((decision.outcome.value, *wording.cells(decision, checked)) for decision in checked.decisions)
        yield plain_table(("", "rule", "judge", "where", "estimate", "rests on"), rows)
    for place in checked.silent:
        name = wording.judge(place.judge, checked)
        yield f"missing: {name} in {wording.where(place, checked)}: {wording.silence(place)}"
    yield from (wording.write_finding(finding, checked) for finding in checked.relevant_findings)
    yield from (f"{sentence}." for sentence in wording.terms_of_decision(checked))
    yield f"Gate of {clean_text(checked.suite)}: {wording.conclusion(checked)}."
