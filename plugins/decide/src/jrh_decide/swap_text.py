"""Write the answer of `jrh swap` for a terminal and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any, Final

from jrh import Interval
from jrh.text import clean_text, count_noun, format_dollars
from jrh_measuring import format_counts, format_ends, format_number, plain_table, state_p, terminal_text
from jrh_measuring.comparing.results import served_to

from jrh_decide.equating import Mark
from jrh_decide.swap import ANSWERED, FEWEST, SAME, Answer, Row, Swap, Translation

_DIGITS: Final = 3
_CELL: Final = 60
_CAUSES: Final = 4
_ABOUT: Final = {ANSWERED: "gives a verdict in", SAME: "keeps the old verdict in"}


def swap_text(found: Swap) -> str:
    """Return the sentence, the table, what moved, the changed cases, the bill, the pass marks, and the next step."""
    return terminal_text(_parts(found))


def first_sentence(found: Swap) -> str:
    """Return the answer: may the new judge replace the old, with the counts that decide."""
    new, within = clean_text(found.new.label), f"{100 * found.margin:g} points"
    # One row goes into the sentence: that of agreement and of all strata comes first.
    told = next((row for row in found.why if row.about != ANSWERED), next(iter(found.why or found.rows), None))
    if told is None or told.before is None:
        return f"Open: '{new}' and the old judge have no verdict on the same case."
    counts = _counts(told, found)
    more = f" (also in {count_noun(len(found.why) - 1, 'other row')})" if len(found.why) > 1 else ""
    return {
        Answer.WORSE: f"No: '{new}' is worse{_place(told)}{more}: it {counts}.{_gains(found)}",
        Answer.BETTER: f"Yes: '{new}' is better{_place(told)}{more}: it {counts}.",
        Answer.EQUIVALENT: f"Yes: '{new}' may replace the old judge, within {within}: it {counts}.",
        Answer.OPEN: _open_sentence(found, told, f"'{new}' {counts}", within),
    }[found.answer]


def _open_sentence(found: Swap, told: Row, counts: str, within: str) -> str:
    if not found.labelled:
        return f"Open: no labels say which judge is right. {counts}."
    if found.needed is None:
        return f"Open: too few items to tell within {within}. {counts}."
    low, high = found.needed
    unit = "items" if told.clusters == told.items else "clusters"
    return f"Open: too few items. {counts}; {low:,} to {high:,} {unit} would show equal judges to be within {within}."


def _gains(found: Swap) -> str:
    """Name what is shown to be better although something else is worse."""
    gains = [f"{row.about}{_place(row)}" for row in found.rows if row.answer is Answer.BETTER and not row.stratum]
    return f" Better: {', '.join(gains)}." if gains else ""


def _place(row: Row) -> str:
    named = [row.test] if row.test not in ("", "reference") else []
    named += [f"stratum {row.stratum}"] if row.stratum else []
    return f" on {clean_text(', '.join(named))}" if named else ""


def _counts(row: Row, found: Swap) -> str:
    """Say how many cases the new judge has right, and the old one."""
    before, after = (format_part(share or 0.0, row.cases) for share in (row.before, row.after))
    where = _ABOUT.get(row.about, "agrees with people on" if row.about.startswith("agrees") else "is as expected on")
    prefix = "in" if row.about == ANSWERED else "on"
    old = "" if row.about == SAME else f", '{clean_text(found.old.label)}' {prefix} {before}"
    difference = f"{_signed(row.difference)} {_ends(row)}"
    return f"{where} {after} of {count_noun(row.cases, 'case')}{old} ({difference})"


def format_part(share: float, whole: int) -> str:
    """Write how many of a number a share is: `52`, and `51.5` where cases count in part."""
    part = round(share * whole, 1)
    return f"{part:,.0f}" if part.is_integer() else f"{part:,.1f}"


def _signed(value: float | None) -> str:
    return "not estimable" if value is None else format_number(value, _DIGITS, signed=True, proportion=False)


def _ends(row: Row) -> str:
    if row.low is None or row.high is None:
        return ""
    return format_ends(Interval(low=row.low, high=row.high), _DIGITS)


def _parts(found: Swap) -> Iterator[Any]:
    yield first_sentence(found)
    yield ""
    columns = ("test", "stratum", "measure", "before", "after", "difference", "cases", "better/worse", "shown")
    several = len({row.task for row in found.rows}) > 1
    yield plain_table(columns, (_cells(row, several=several, found=found) for row in found.rows))
    yield ""
    yield from _agreement(found)
    yield from _flips(found)
    yield from _bill(found)
    yield from (line for each in found.marks for line in _mark(each, found))
    yield ""
    yield from _moved(found)
    yield from _basis(found)
    yield f"Next: {shlex.join(['jrh', 'view', found.new.run])}"


def _cells(row: Row, *, several: bool, found: Swap) -> Iterator[str]:
    test = row.test or "all tests"
    yield clean_text(f"{row.task}: {test}" if several else test, _CELL)
    yield clean_text(row.stratum or "all", _CELL)
    yield row.about
    yield from ("-" if share is None else format_number(share, _DIGITS) for share in (row.before, row.after))
    yield f"{_signed(row.difference)} {_ends(row)}"
    shared = f" in {row.clusters:,} clusters" if row.clusters < row.items else ""
    yield f"{row.cases:,}{shared}" + (f", {row.unpaired:,} without a verdict" if row.unpaired else "")
    yield f"{row.better:,}/{row.worse:,}"
    alone = row.answer is Answer.OPEN and row.p_equivalent <= 1 - found.level
    yield f"equivalent, alone ({state_p(row.p_equivalent)})" if alone else row.answer.value


def _agreement(found: Swap) -> Iterator[str]:
    for each in found.agreement:
        noises = ((found.old, each.noise_first), (found.new, each.noise_second))
        counts = [(side.label, noise.differing, noise.pairs) for side, noise in noises if noise and noise.pairs]
        again = [f"'{clean_text(label)}' {differing:,} of {pairs:,}" for label, differing, pairs in counts]
        reruns = f" Asked again, {' and '.join(again)} of pairs differ." if again else ""
        rate = "" if each.rate is None else f" ({_share(each.rate, each.low, each.high)})"
        yield f"{clean_text(each.test)}: {each.changed:,} of {each.trials:,} verdicts change{rate}.{reruns}"


def _share(value: float, low: float | None, high: float | None) -> str:
    interval = None if low is None or high is None else Interval(low=low, high=high)
    ends = "" if interval is None else f" {format_ends(interval, _DIGITS, proportion=True)}"
    return f"{format_number(value, _DIGITS)}{ends}"


def _flips(found: Swap) -> Iterator[Any]:
    total = sum(found.flipped.values())
    if not total:
        return
    view = shlex.join(["jrh", "view", found.new.run])
    yield ""
    yield (
        f"{count_noun(total, 'case')} with another verdict ({format_counts(found.flipped)}), the worst first; "
        f"look at them: {clean_text(view, 400)}"
    )
    rows = []
    for flip in found.flips:
        cells = (flip.test, flip.item, flip.gold or flip.expected or "-", " ".join(flip.before), " ".join(flip.after))
        rows.append((flip.direction.value, *(clean_text(cell, _CELL) for cell in cells), flip.case_second[:8]))
    yield plain_table(("", "test", "item", "right", "before", "after", "case"), rows)


def _bill(found: Swap) -> Iterator[Any]:
    yield ""
    rows = []
    for side, bill in zip((found.old, found.new), found.bills, strict=True):
        price = "price unknown" if bill.per_thousand is None else format_dollars(bill.per_thousand)
        missing = format_counts(bill.missing) or "none"
        rows.append((clean_text(side.label, _CELL), f"{bill.verdicts:,}", missing, price))
    yield plain_table(("judge", "verdicts", "missing", "cost per 1,000 verdicts"), rows)


def _mark(each: Translation, found: Swap) -> Iterator[str]:
    task = f"{clean_text(each.task, _CELL)}: " if len(found.marks) > 1 else ""
    yield ""
    if each.needs:
        yield f"{task}The pass mark is not translated; that needs {each.needs}."
        return
    rests = f"{count_noun(each.anchors, 'labelled item')}" + (
        f" in {count_noun(each.clusters, 'cluster')}" if each.clusters < each.anchors else ""
    )
    if each.kind == "share":
        (mark,) = each.marks
        ends = format_ends(Interval(low=mark.low, high=mark.high), 2, proportion=True)
        yield (
            f"{task}A pass mark of {mark.before:.2f} (share of {clean_text(each.labels[0][0], _CELL)}) becomes "
            f"{mark.after:.2f} {ends}: by rates per true label, from {rests}."
        )
        return
    for mark in each.marks:
        off = f"{100 * mark.off:.0f}% of the anchors pass with one of the two marks alone"
        yield f"{task}Mark {_level_text(mark, each)}; {off}."
    yield f"{task}Equated within each true label, from {rests}: another mix of labels changes it little."


def _level_text(mark: Mark, each: Translation) -> str:
    old, new = each.labels
    after, low, high = (clean_text(new[int(end)], _CELL) for end in (mark.after, mark.low, mark.high))
    return f"{clean_text(old[int(mark.before)], _CELL)} becomes {after} [{low}, {high}]"


def _moved(found: Swap) -> Iterator[str]:
    yield f"{_movement(found)}"
    for cause in found.causes[:_CAUSES]:
        yield f"- {clean_text(f'{cause.kind} {cause.what}: {cause.before} -> {cause.after}', 200)}"
    if len(found.causes) > _CAUSES:
        more = count_noun(len(found.causes) - _CAUSES, "more difference")
        yield f"- {more}: {clean_text(shlex.join(['jrh', 'compare', found.old.run, found.new.run]), 400)}"


def _movement(found: Swap) -> str:
    moved = [part.what + (f" ({part.changed:,})" if part.changed else "") for part in found.moved if part.moved]
    same = [part.what for part in found.moved if part.known and not part.moved]
    unknown = [part.what for part in found.moved if not part.known]
    parts = [f"Moved: {', '.join(moved) or 'nothing'}"]
    parts += [f"the same: {', '.join(same)}"] if same else []
    parts += [f"not recorded: {', '.join(unknown)}"] if unknown else []
    return "; ".join(parts) + "."


def _basis(found: Swap) -> Iterator[str]:
    yield from (f"Caution: {clean_text(note, 400)}." for note in found.notes)
    matching = found.matching
    left = {
        "another text": found.other_text,
        "another label": matching.gold_changed,
        "no clear partner": matching.ambiguous,
        "only the old judge's run": sum(matching.only_first.values()),
        "only the new judge's run": sum(matching.only_second.values()),
    }
    why = f"; left out: {format_counts(left)}" if any(left.values()) else ""
    people = (
        f" Source of the labels: {clean_text(format_counts(found.gold_sources), 200)}." if found.gold_sources else ""
    )
    yield f"Rests on {count_noun(matching.case_count - found.other_text, 'case')} that both judged{why}.{people}"
    small = f" {count_noun(found.small_strata, 'stratum', 'strata')} with fewer than {FEWEST} items are not tested."
    yield (
        f"Margin ±{found.margin:g}. Brackets: {100 * found.level:g}% intervals by cluster. Shown: corrected for "
        f"{count_noun(len(found.rows), 'row')} (Holm, {100 * (1 - found.level):.2g}%); the answer needs every row of "
        f"all strata to be within the margin.{small * bool(found.small_strata)}"
    )
    yield from served_to(found.old, found.new)
