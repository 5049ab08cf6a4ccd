"""Write the answer of `jrh automate` for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, Final

import numpy as np
from jrh.text import clean_text, count_noun
from jrh_measuring import closing_lines, format_counts, format_number, plain_table, round_up, terminal_text

from jrh_decide.automate import Automation, Segment, Share, Threshold
from jrh_decide.decisions import PANEL, REPEATS, STATED, Basis

LATER_ERROR: Final = (
    "An error chosen after this answer is promised for what was tested first alone; the rest is a guess."
)
_ROWS: Final = 12
_HEADINGS: Final = ("at least", "items", "share decided alone", "held-out", "wrong", "error", "")
CONFIDENCES: Final = {STATED: "stated probability", REPEATS: "agreement of repeats", PANEL: "agreement of the panel"}


def automation_text(found: Automation) -> str:
    """Return the sentence, the curve, the worst segment, and what it rests on."""
    return terminal_text(_parts(found))


def first_sentence(found: Automation) -> str:
    """Return the answer: how many items the judge may decide, or why it may decide none and what would change that."""
    who = "panel" if found.basis.kind == PANEL else "judge"
    shown, rule = found.shown, f"{CONFIDENCES[found.basis.kind]} at least {level_text(found.basis, found.shown.at)}"
    evidence = evidence_text(shown.wrong, found.error if found.issued else None, found.alpha)
    if found.issued is not None:
        return (
            f"The {who} may decide {shown.decided.count:,} of {count_noun(found.items, 'item')} alone "
            f"({rule}): {evidence}."
        )
    return (
        f"None: no threshold is shown to keep the {who} below {100 * found.error:g}% wrong decisions. At the first one "
        f"({rule}), {evidence}. {remedy_text(found.people, found.more, found.error)}"
    )


def remedy_text(people: Share, more: int | None, error: float) -> str:
    """Return what would change that no threshold is issued."""
    if (people.low or 0.0) > error:
        return (
            f"The labels are the ceiling: most other people contradict a person on {people.count:,} of {people.of:,} "
            "labels of these items."
        )
    if more is None:
        return f"More labels alone would not help: the estimate exceeds {100 * error:g}% at every threshold."
    if not more:
        return "As many labels do in 4 of 5 such tables, and not in this one."
    return f"About {count_noun(round_up(more), 'more labelled item')} would do in 4 of 5 such tables."


def evidence_text(wrong: Share, error: float | None, alpha: float) -> str:
    """Return what the half that guarantees has shown; without an error that is promised, its upper limit."""
    # Rounded up: the limit is not below what is written.
    most = ceil(1000 * (wrong.high or 1.0)) / 1000 if error is None else error
    limit = f"at most {100 * most:g}% with {100 * (1 - alpha):g}% confidence"
    number = "none was" if not wrong.count else f"{wrong.count:,} was" if wrong.count == 1 else f"{wrong.count:,} were"
    return f"of the {wrong.of:,} held-out ones {number} wrong, {limit}"


def level_text(basis: Basis, at: float) -> str:
    """Return a threshold: the votes that agree, where every item has as many."""
    if basis.kind == STATED or basis.votes is None:
        return f"{at:g}"
    return f"{round(at * basis.votes)} of {basis.votes}"


def share_text(share: Share) -> str:
    """Return a share with its limits."""
    if share.value is None or share.low is None or share.high is None:
        return "-"
    ends = ", ".join(format_number(end, 3) for end in (share.low, share.high))
    return f"{format_number(share.value, 3)} [{ends}]"


def _parts(found: Automation) -> Iterator[Any]:
    yield first_sentence(found)
    yield ""
    rows = _rows(found)
    yield plain_table(_HEADINGS, (_cells(threshold, found) for threshold in rows))
    if len(found.curve) > len(rows):
        yield f"{len(rows)} of {len(found.curve)} thresholds; --format json has all."
    yield ""
    if found.segments:
        yield worst_segment(found.segments, found.error)
    yield from _basis(found)


def _cells(threshold: Threshold, found: Automation) -> Iterator[str]:
    decided, wrong = threshold.decided, threshold.wrong
    marks = {found.first.at: "tested first", found.shown.at: "issued" if found.issued else "tested first"}
    yield level_text(found.basis, threshold.at)
    yield from (f"{decided.count:,}", share_text(decided), f"{wrong.of:,}", f"{wrong.count:,}", share_text(wrong))
    yield marks.get(threshold.at, "")


def _rows(found: Automation) -> list[Threshold]:
    """Return the thresholds that are shown: the first and the issued one, and others spread evenly."""
    curve = found.curve
    if len(curve) <= _ROWS:
        return list(curve)
    needed = {curve.index(found.first), curve.index(found.shown)}
    spread = np.linspace(0, len(curve) - 1, _ROWS - len(needed)).round().astype(int).tolist()
    return [curve[at] for at in sorted(needed.union(spread))]


def worst_segment(segments: Sequence[Segment], error: float) -> str:
    """Return the segment whose decisions are most surely worst, and whether it breaks the promise."""
    worst, number = segments[0], len(segments)
    name = clean_text(worst.name, 60) or "(blank)"
    shown = (worst.wrong.low or 0.0) > error
    open_end = "the promise is for the mix of segments, and broken here" if shown else "not shown to exceed the promise"
    return (
        f"Worst segment of {number}: {name}, {worst.wrong.count:,} of {worst.wrong.of:,} held-out decisions wrong, "
        f"{share_text(worst.wrong)}, corrected for {count_noun(number, 'segment')} (Bonferroni); {open_end}."
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
        yield LATER_ERROR
    if found.basis.contested:
        yield f"People are divided on {count_noun(found.basis.contested, 'item')}: wrong, whatever the judge decides."
    if found.people.of:
        yield (
            f"People: most others contradict a person on {found.people.count:,} of {found.people.of:,} labels of the "
            f"items that the judge decides, {share_text(found.people)}."
        )
    yield from closing_lines(found.basis.simulated, found.basis.notes)
