"""A comparison as headings, lines and tables; how they look is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from attrs import frozen

from jrh_compare.results import Answer, Changes, Comparison, Flip, Pair, Point, Row, SideName
from jrh_compare.scoring import MEASURES

_DIGITS = 3
_SHOWN = 160
_CENTS = 0.0001


@frozen(kw_only=True)
class Heading:
    """The title of what follows."""

    text: str


@frozen(kw_only=True)
class Lines:
    """Sentences, one per line; text from outside may stand in them."""

    lines: tuple[str, ...]


@frozen(kw_only=True)
class Table:
    """Columns and rows of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block: TypeAlias = Heading | Lines | Table


def document(comparison: Comparison) -> Iterator[Block]:
    """Yield the comparison block by block."""
    for pair in comparison.pairs:
        yield Heading(text=f"{side(pair.first)} -> {side(pair.second)}")
        yield Lines(lines=tuple(_matching(pair)))
        if pair.rows:
            yield _rows(pair, comparison)
            yield _changes(pair)
        yield from _causes(pair)
        yield from _flips(pair)
    if len(comparison.curve) > 1:
        yield from _curve(comparison)
    yield Lines(lines=tuple(_legend(comparison)))


def side(name: SideName) -> str:
    """Return a side's label, marked where its answers are made up."""
    return f"{name.label} (simulated)" if name.simulated else name.label


def number(value: float | None, *, signed: bool = False) -> str:
    """Write a number; what is not 0 is not written as 0, nor a share below 1 as 1."""
    if value is None:
        return "-"
    text = f"{value:+.{_DIGITS}f}" if signed else f"{value:.{_DIGITS}f}"
    step = 10.0**-_DIGITS
    if float(text) == 0:
        return f"{0:.{_DIGITS}f}" if not value else f"<{step:.{_DIGITS}f}" if value > 0 else f">-{step:.{_DIGITS}f}"
    return f">{1 - step:.{_DIGITS}f}" if float(text) == 1 and value < 1 else text


def dollars(point: Point, value: float | None) -> str:
    """Write a cost; trials of unknown price are never counted as free."""
    if value is None:
        return "unknown"
    known = f"<${_CENTS}" if 0 < value < _CENTS else f"${value:,.4f}" if value else "$0"
    return f"at least {known} ({point.unknown} of unknown price)" if point.unknown else known


def counts(found: Mapping[str, int]) -> str:
    """Write counts by name."""
    return ", ".join(f"{name} {count}" for name, count in found.items() if count)


def _matching(pair: Pair) -> Iterator[str]:
    found = pair.matching
    yield f"{found.matched} cases on both sides: {found.by_id} with the same id, {found.by_place} with the same place."
    if found.by_place:
        yield (
            f"Of {found.looked_at} of these whose text could be compared, {found.other_text} read differently."
            if found.looked_at
            else "Whether those read the same cannot be told: their text is not stored."
        )
    for side_name, alone in ((pair.first, found.only_first), (pair.second, found.only_second)):
        if any(alone.values()):
            yield f"Only in {side(side_name)}: {sum(alone.values())} cases ({counts(alone)})."
    if found.ambiguous:
        yield f"{found.ambiguous} cases share their place with others and could not be matched."
    if found.gold_changed:
        yield f"{found.gold_changed} cases have another gold label and were left out."
    if pair.missing_cases:
        yield f"{pair.missing_cases} of the cases on both sides have no verdict on one side or both."
    sides = (("before", pair.missing_first), ("after", pair.missing_second))
    missing = [f"{which} {counts(statuses)}" for which, statuses in sides if statuses]
    if missing:
        yield f"Trials of these cases without a verdict: {'; '.join(missing)}."


def _rows(pair: Pair, comparison: Comparison) -> Table:
    several = len({row.task for row in pair.rows}) > 1
    margin = comparison.margin is not None
    columns = ["test", "measure", "before", "after", "difference", "cases", "better/worse", "p (Holm)", "shown"]
    return Table(
        columns=(*(["task"] if several else []), *columns, *(["within the margin"] if margin else [])),
        rows=tuple(
            (
                *([row.task] if several else []),
                row.test,
                row.measure,
                number(row.first),
                number(row.second),
                _difference(row),
                _sizes(row),
                f"{row.better}/{row.worse}",
                _p(row.p_adjusted),
                row.answer.value,
                *([row.equivalence] if margin else []),
            )
            for row in pair.rows
        ),
    )


def _difference(row: Row) -> str:
    if row.difference is None:
        return "not estimable"
    ends = (
        ""
        if row.low is None or row.high is None
        else f" [{number(row.low, signed=True)}, {number(row.high, signed=True)}]"
    )
    return f"{number(row.difference, signed=True)}{ends}"


def _sizes(row: Row) -> str:
    missing = f", {row.unpaired} unpaired" if row.unpaired else ""
    return f"{row.cases}, {row.items} {'item' if row.items == 1 else 'items'}{missing}"


def _p(value: float | None) -> str:
    return "-" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004


def _changes(pair: Pair) -> Table:
    several = len({each.task for each in pair.changes}) > 1
    return Table(
        columns=(
            *(["task"] if several else []),
            *("test", "verdicts that differ", "rate", "rerun noise before", "rerun noise after"),
        ),
        rows=tuple((*([each.task] if several else []), *_change(each)) for each in pair.changes),
    )


def _change(each: Changes) -> tuple[str, ...]:
    ends = "" if each.low is None else f" [{number(each.low)}, {number(each.high)}]"
    noise = (number(each.noise_first), number(each.noise_second))
    return each.test, f"{each.changed} of {each.trials}", f"{number(each.rate)}{ends}", *noise


def _causes(pair: Pair) -> Iterator[Block]:
    changed = any(each.changed for each in pair.changes)
    if pair.causes:
        likely = "What differs, and is the likely cause, the nearest first:" if changed else "What differs:"
        lines = [f"{cause.kind} {cause.what}: {_cut(cause.before)} -> {_cut(cause.after)}" for cause in pair.causes]
        yield Lines(lines=(likely, *(f"- {line}" for line in lines)))
    elif changed:
        unknown = "What gave the verdicts is not recorded: they were imported."
        same = "Nothing that is recorded differs: rerun noise, or a model that its provider changed under its name."
        yield Lines(lines=(same if pair.recorded else unknown,))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _flips(pair: Pair) -> Iterator[Block]:
    total = sum(pair.flipped.values())
    if not total:
        return
    yield Lines(
        lines=(f"{total} cases with another verdict ({counts(pair.flipped)}), {len(pair.flips)} shown, worst first:",)
    )
    if pair.flips:
        several = len({flip.task for flip in pair.flips}) > 1
        yield Table(
            columns=(
                "",
                *(["task"] if several else []),
                "test",
                "item",
                "condition",
                "expected",
                "gold",
                "before",
                "after",
                "case",
            ),
            rows=tuple(_flip(flip, several=several) for flip in pair.flips),
        )


def _flip(flip: Flip, *, several: bool) -> tuple[str, ...]:
    condition = "/".join(part for part in (flip.variant, flip.template, flip.option_order) if part)
    place = (*([flip.task] if several else []), flip.test, flip.item, condition, flip.expected, flip.gold)
    short = flip.case_first[:8]
    return flip.direction.value, *place, " ".join(flip.before), " ".join(flip.after), short


def _curve(comparison: Comparison) -> Iterator[Block]:
    cases = comparison.curve[0].cases
    yield Heading(text=f"Cost against accuracy, on the {cases} cases that all sides answered")
    yield Table(
        columns=("side", "accuracy", "cost", "per 1000 trials", "trials", "frontier"),
        rows=tuple(_point(point) for point in comparison.curve),
    )


def _point(point: Point) -> tuple[str, ...]:
    ends = "" if point.low is None else f" [{number(point.low)}, {number(point.high)}]"
    frontier = {True: "yes", False: "no", None: "price unknown" if point.unknown else "-"}[point.frontier]
    unpriced = point.trials == point.unknown
    return (
        side(point.side),
        f"{number(point.accuracy)}{ends}",
        "unknown" if unpriced else dollars(point, point.cost),
        dollars(point, point.per_thousand),
        str(point.trials),
        frontier,
    )


def _legend(comparison: Comparison) -> Iterator[str]:
    yield from (f"Note: {note}." for note in comparison.notes)
    shown = dict.fromkeys(row.measure for pair in comparison.pairs for row in pair.rows)
    yield from (f"{measure}: {MEASURES[measure]}." for measure in shown)
    yield f"Differences are after minus before, paired by case; intervals cover {comparison.level:.4g}, by item."
    yield "p is adjusted by Holm over the tests of a pair, a task and a measure; it decides what is shown."
    if any(row.answer is Answer.NOT_SHOWN for pair in comparison.pairs for row in pair.rows):
        yield '"No difference shown" does not say that there is none: declare --margin to test that.'
    if comparison.margin is not None:
        yield f"Within the margin: two one-sided tests of a difference of at most {comparison.margin:g}."
    if len(comparison.curve) > 1:
        yield "Accuracy beside cost: right by gold or a stated label; as expected only where no truth is known."
        yield "The frontier is that of the estimates: where intervals overlap, another side may belong on it."
