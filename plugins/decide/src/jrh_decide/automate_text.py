"""Write the answer of `jrh automate` for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import Any, Final

import numpy as np
from attrs import asdict
from jrh.text import clean_text, count_noun
from jrh_measuring import format_counts, format_number, round_up, terminal_text

from jrh_decide.automate import Automation, Share, Threshold
from jrh_decide.decisions import PANEL, REPEATS, STATED

_ROWS: Final = 12
_HEADINGS: Final = ("at least", "items", "share decided alone", "held-out", "wrong", "error", "")
_CONFIDENCES: Final = {STATED: "stated probability", REPEATS: "agreement of repeats", PANEL: "agreement of the panel"}


def automation_json(found: Automation) -> str:
    """Return the document, with the numbers of the text in full precision."""
    document = {"sentence": first_sentence(found), **asdict(found)}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def automation_text(found: Automation) -> str:
    """Return the sentence, the curve, the worst segment, and what it rests on."""
    return terminal_text(_parts(found))


def first_sentence(found: Automation) -> str:
    """Return the answer: how many items the judge may decide, or why it may decide none and what would change that."""
    who = "panel" if found.basis.kind == PANEL else "judge"
    shown, rule = found.shown, f"{_CONFIDENCES[found.basis.kind]} at least {_level(found, found.shown)}"
    # Rounded up: the limit is not below what is written.
    most = found.error if found.issued else ceil(1000 * (shown.wrong.high or 1.0)) / 1000
    evidence = (
        f"{_wrong_count(shown.wrong)} wrong, at most {100 * most:g}% with {100 * (1 - found.alpha):g}% confidence"
    )
    if found.issued is not None:
        return (
            f"The {who} may decide {shown.decided.count:,} of {count_noun(found.items, 'item')} alone "
            f"({rule}): of the {shown.wrong.of:,} held-out ones {evidence}."
        )
    return (
        f"None: no threshold is shown to keep the {who} below {100 * found.error:g}% wrong decisions. At the first one "
        f"({rule}), of the {shown.wrong.of:,} held-out ones {evidence}. {_remedy(found)}"
    )


def _remedy(found: Automation) -> str:
    if (found.people.low or 0.0) > found.error:
        return (
            f"The labels are the ceiling: most other people contradict a person on {found.people.count:,} of "
            f"{found.people.of:,} labels of these items."
        )
    if found.more is None:
        return f"More labels alone would not help: the estimate exceeds {100 * found.error:g}% at every threshold."
    if not found.more:
        return "As many labels do in 4 of 5 such tables, and not in this one."
    return f"About {count_noun(round_up(found.more), 'more labelled item')} would do in 4 of 5 such tables."


def _wrong_count(wrong: Share) -> str:
    return "none was" if not wrong.count else f"{wrong.count:,} was" if wrong.count == 1 else f"{wrong.count:,} were"


def _level(found: Automation, shown: Threshold) -> str:
    if found.basis.kind == STATED or found.basis.votes is None:
        return f"{shown.at:g}"
    return f"{round(shown.at * found.basis.votes)} of {found.basis.votes}"


def _share(share: Share) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "-"
    ends = ", ".join(format_number(end, 3) for end in (share.low, share.high))
    return f"{format_number(share.value, 3)} [{ends}]"


def _parts(found: Automation) -> Iterator[Any]:
    from rich.table import Table

    yield first_sentence(found)
    yield ""
    table = Table(*_HEADINGS, box=None, pad_edge=False)
    rows = _rows(found)
    for threshold in rows:
        decided, wrong = threshold.decided, threshold.wrong
        marks = {found.first.at: "tested first", found.shown.at: "issued" if found.issued else "tested first"}
        cells = (f"{decided.count:,}", _share(decided), f"{wrong.of:,}", f"{wrong.count:,}", _share(wrong))
        table.add_row(_level(found, threshold), *cells, marks.get(threshold.at, ""))
    yield table
    if len(found.curve) > len(rows):
        yield f"{len(rows)} of {len(found.curve)} thresholds; --format json has all."
    yield ""
    if found.segments:
        yield _worst_segment(found)
    yield from _basis(found)


def _rows(found: Automation) -> list[Threshold]:
    """Return the thresholds that are shown: the first and the issued one, and others spread evenly."""
    curve = found.curve
    if len(curve) <= _ROWS:
        return list(curve)
    needed = {curve.index(found.first), curve.index(found.shown)}
    spread = np.linspace(0, len(curve) - 1, _ROWS - len(needed)).round().astype(int).tolist()
    return [curve[at] for at in sorted(needed.union(spread))]


def _worst_segment(found: Automation) -> str:
    worst, number = found.segments[0], len(found.segments)
    name = clean_text(worst.name, 60) or "(blank)"
    shown = (worst.wrong.low or 0.0) > found.error
    open_end = "the promise is for the mix of segments, and broken here" if shown else "not shown to exceed the promise"
    return (
        f"Worst segment of {number}: {name}, {worst.wrong.count:,} of {worst.wrong.of:,} held-out decisions wrong, "
        f"{_share(worst.wrong)}, corrected for {count_noun(number, 'segment')} (Bonferroni); {open_end}."
    )


def _basis(found: Automation) -> Iterator[str]:
    judges = ", ".join(clean_text(name, 60) for name in found.basis.judges)
    never = (
        f"never automated: {format_counts(found.basis.reasons)}" if found.basis.reasons else "every item has a verdict"
    )
    yield (
        f"Rests on {judges}: {count_noun(found.items, 'item')}, {never}. {found.labelled:,} have a label and a "
        f"decision, in {count_noun(found.clusters, 'cluster')}; {found.held_out:,} are held out (seed {found.seed})."
    )
    yield (
        f"In at most {100 * found.alpha:g} of 100 such tables a threshold is issued that breaks its promise, for all "
        f"tests together (fixed sequence). Brackets: each end errs in at most {100 * found.alpha:g}%, at one threshold."
    )
    yield "It holds for items like the labelled ones: label a random sample. Wrong is any other label than people's."
    if found.issued is None:
        yield "An error chosen after this answer is promised for the first threshold alone; the next ones are a guess."
    if found.basis.contested:
        yield f"People are divided on {count_noun(found.basis.contested, 'item')}: wrong, whatever the judge decides."
    if found.people.of:
        yield (
            f"People: most others contradict a person on {found.people.count:,} of {found.people.of:,} labels of the "
            f"items that the judge decides, {_share(found.people)}."
        )
    if found.basis.simulated:
        yield f"Simulated judges: {', '.join(map(clean_text, found.basis.simulated))}."
    yield from (clean_text(note, 400) for note in found.basis.notes)
