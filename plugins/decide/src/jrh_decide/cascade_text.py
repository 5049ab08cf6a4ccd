"""Write the answer of `jrh automate --cascade` for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from jrh.text import clean_text, count_noun, format_dollars
from jrh_measuring import closing_lines, format_counts, plain_table, terminal_text

from jrh_decide.automate_text import (
    CONFIDENCES,
    LATER_ERROR,
    evidence_text,
    level_text,
    remedy_text,
    share_text,
    worst_segment,
)
from jrh_decide.cascade import Cascade

_STAGES: Final = (
    "", "decides from", "asked", "decided", "share of all", "held-out", "wrong", "error", "$ per 1,000 asked",
)  # fmt: skip
_PLANE: Final = ("held-out labels", "decided rightly", "share", "$ per 1,000 items", "")


def cascade_text(found: Cascade) -> str:
    """Return the sentence, what each judge decides, the plane of cost and right decisions, and what it rests on."""
    return terminal_text(_parts(found))


def first_sentence(found: Cascade) -> str:
    """Return how many items the cascade may decide and at what cost, or that it may decide none."""
    names = " then ".join(f"'{clean_text(stage.judge, 60)}'" for stage in found.stages)
    evidence = evidence_text(found.wrong, found.error if found.issued else None, found.alpha)
    if found.issued:
        price = _price(found.per_thousand) + (" per 1,000 items" if found.per_thousand is not None else "")
        each = ", ".join(f"{stage.decided.count:,}" for stage in found.stages)
        return (
            f"{names} may decide {found.decided.count:,} of {count_noun(found.items, 'item')} alone ({each}), and "
            f"{found.left:,} go to people: {evidence}; {price}."
        )
    return (
        f"None: no thresholds are shown to keep {names} below {100 * found.error:g}% wrong decisions. At the first "
        f"ones, {evidence}; {found.left:,} of {count_noun(found.items, 'item')} go to people. "
        f"{remedy_text(found.people, found.more, found.error)}"
    )


def _price(per_thousand: float | None) -> str:
    return "price unknown" if per_thousand is None else format_dollars(per_thousand)


def _parts(found: Cascade) -> Iterator[Any]:
    yield first_sentence(found)
    yield ""
    rows: list[Sequence[str]] = []
    for stage, basis in zip(found.stages, found.bases, strict=True):
        decided, wrong = stage.decided, stage.wrong
        level = "never" if stage.at is None else level_text(basis, stage.at)
        cells = (f"{stage.reached:,}", f"{decided.count:,}", share_text(decided), f"{wrong.of:,}", f"{wrong.count:,}")
        price = _price(stage.per_thousand) if stage.reached else "-"
        rows.append((clean_text(stage.judge, 60), level, *cells, share_text(wrong), price))
    yield plain_table(_STAGES, [*rows, ("people", "", f"{found.left:,}", f"{found.left:,}")])
    yield ""
    plane = []
    for side in found.plane:
        mark = "not on the frontier" if side.frontier is False else "frontier" if side.frontier else ""
        counts = f"{side.correct.count:,} of {side.correct.of:,}"
        name, price = clean_text(side.name, 60), _price(side.per_thousand)
        plane.append((name, counts, share_text(side.correct), price, mark))
    yield plain_table(_PLANE, plane)
    yield ""
    if found.segments:
        yield worst_segment(found.segments, found.error)
    yield from _rests_on(found)


def _rests_on(found: Cascade) -> Iterator[str]:
    for basis in found.bases:
        lost = format_counts(basis.reasons) if basis.reasons else "none"
        name = clean_text(basis.judges[0], 60)
        yield f"{name}: confidence is {CONFIDENCES[basis.kind]}; items without a decision: {lost}."
    yield (
        f"Rests on {found.labelled:,} items with a label and a decision; {found.held_out:,} are held out (seed "
        f"{found.seed}). A judge without a verdict passes the item on; the last one to people. No call was made."
    )
    yield (
        f"In at most {100 * found.alpha:g} of 100 such tables thresholds are issued that break the promise, for all "
        "tests together (fixed sequence). The promise is for all decisions together, and not for each judge's."
    )
    yield "It holds for items like the labelled ones: label a random sample. People's time is not in the cost."
    if not found.issued:
        yield LATER_ERROR
    simulated = (name for basis in found.bases for name in basis.simulated)
    yield from closing_lines(simulated, (note for basis in found.bases for note in basis.notes))
