"""Write the answer of `jrh court` for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from jrh.plugins import plain_value
from jrh.text import clean_text, count_noun
from jrh_measuring import closing_lines, format_counts, format_number, plain_table, terminal_text

from jrh_court.estimates import CourtAnswer, CourtShare

_HEADINGS: Final = ("of all items", "share", "interval", "of disagreements", "of agreements")


def court_json(answer: CourtAnswer) -> str:
    """Return the document that `schemas/court.schema.json` describes, with all numbers in full precision."""
    document = {"sentence": court_sentence(answer), **plain_value(answer)}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def court_text(answer: CourtAnswer) -> str:
    """Return the sentence, the table, and what it rests on."""
    return terminal_text(_parts(answer))


def court_sentence(answer: CourtAnswer) -> str:
    """Return the answer: who is wrong how often, or why nothing can be said."""
    if answer.refused:
        return f"Not known yet: {answer.refused}."
    label, judge, several, silent, _ = (share_text(share) for share in answer.shares)
    disputed = "Disputed, as one referee is not the truth: " if answer.disputed else ""
    items, left = count_noun(answer.docket.items, "item"), sum(answer.docket.left_out.values())
    items += f" ({left:,} left out)" if left else ""
    text = (
        f"{disputed}of {items} the label is wrong on {label}, the judge on {judge}; "
        f"on {several} several labels are defensible, and on {silent} the rubric does not say."
    )
    return text[0].upper() + text[1:]


def share_text(share: CourtShare) -> str:
    """Return a share with its interval."""
    low, high = (format_number(end, 2) for end in (share.low, share.high))
    return f"{format_number(share.value, 2)} [{low}, {high}]"


def _parts(answer: CourtAnswer) -> Iterator[Any]:
    docket, referees = answer.docket, answer.referees
    yield court_sentence(answer)
    yield ""
    if not answer.refused:
        rows = []
        for share in answer.shares:
            figure, _, interval = share_text(share).partition(" ")
            sides = ((share.disagreements, answer.disagreements), (share.agreements, answer.agreements))
            rows.append((share.name, figure, interval, *(f"{count:.3g} of {of}" for count, of in sides)))
        figure, _, interval = share_text(answer.naive).partition(" ")
        yield plain_table(_HEADINGS, [*rows, (f"{answer.naive.name} (no ruling)", figure, interval, "", "")])
        yield ""
    names = ", ".join(
        f"{clean_text(name, 60)} {count}" for name, count in zip(referees.names, referees.ruled, strict=True)
    )
    yield (
        f"Rests on {clean_text(docket.judge, 60)}, task {clean_text(docket.task, 60)}: "
        f"{count_noun(docket.items, 'item')} with a verdict and a label, in {count_noun(docket.clusters, 'cluster')}. "
        + (f"Left out: {format_counts(docket.left_out)}." if docket.left_out else "")
    ).rstrip()
    differ, agree = count_noun(docket.disagreements, "disagreement"), count_noun(docket.agreements, "agreement")
    yield (
        f"Drawn (seed {docket.seed}): {docket.drawn(agreeing=False):,} of {differ}, "
        f"{docket.drawn(agreeing=True):,} of {agree}. Cases with a ruling: "
        f"{answer.disagreements + answer.agreements:,} of {len(docket.cases):,}{f' ({names})' if names else ''}."
    )
    if referees.both:
        yield (
            f"All referees ruled alike on {referees.same:,} of the {referees.both:,} cases that several ruled on; "
            "where they differ, the limits allow for each of them."
        )
    if answer.disputed:
        yield "A second referee shows how far the rulings are a matter of the person."
    if not answer.refused:
        yield (
            f"Intervals of {100 * docket.level:g}% for items like these; cases without a ruling count as not drawn, so "
            "skipping hard ones moves every number."
        )
    yield from closing_lines([docket.judge] if docket.simulated else [], docket.notes)
