"""Lay out a comparison as sections of lines and tables, independent of the output format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import evolve, frozen
from jrh import Interval
from jrh.text import count_noun, format_dollars
from jrh_measuring import format_counts, format_ends, format_number, format_p, state_p
from jrh_measuring.comparing.causes import SCALE
from jrh_measuring.comparing.results import (
    Answer,
    Changes,
    Comparison,
    Flip,
    Matching,
    Noise,
    Pair,
    Point,
    Row,
    SideName,
    Within,
    served_to,
)
from jrh_measuring.comparing.scoring import MEASURES, measure_names

_DIGITS: Final = 3
_LONGEST_CAUSE: Final = 160
_ROWS: Final = 6
"""Rows of a pair in brief; with the causes and the cases below, three pairs fit forty lines."""
_CAUSES: Final = 2
_FLIPS: Final = 2
_PLACES: Final = 4
"""Tests that a verdict names; the others are counted."""


@frozen(kw_only=True)
class Lines:
    """Sentences, one per line; they may contain untrusted text."""

    lines: tuple[str, ...]


@frozen(kw_only=True)
class Table:
    """Columns and rows of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block: TypeAlias = Lines | Table


@frozen(kw_only=True)
class Section:
    """A title and its content."""

    title: str
    """Empty: no title."""
    blocks: tuple[Block, ...]
    of_all: bool = False
    """Whether it is about all pairs; such sections come last."""


def document(comparison: Comparison, *, brief: bool = False) -> Iterator[Section]:
    """Yield a section per pair, then the sections about all of them; in brief, of each pair what is shown."""
    if comparison.unfinished:
        # The numbers below may change: that is said before them.
        yield Section(title="", blocks=(Lines(lines=tuple(f"Caution: {why}." for why in comparison.unfinished)),))
    yield from _brief(comparison) if brief else _full(comparison)
    sides = (side for pair in comparison.pairs for side in (pair.first, pair.second))
    yield from (Section(title="", blocks=(Lines(lines=(line,)),), of_all=True) for line in served_to(*sides))


def _full(comparison: Comparison) -> Iterator[Section]:
    for pair in comparison.pairs:
        yield Section(title=_title(pair), blocks=tuple(_pair(pair, comparison)))
    # One side alone is no curve.
    if len(comparison.curve) > 1:
        yield _curve(comparison)
    yield Section(title="", blocks=(Lines(lines=tuple(_legend(comparison))),), of_all=True)


def _title(pair: Pair) -> str:
    return f"{side(pair.first)} -> {side(pair.second)}"


def _brief(comparison: Comparison) -> Iterator[Section]:
    """Yield the verdict on each pair with the rows that it rests on, likely causes and the worst cases."""
    for pair in comparison.pairs:
        shown = tuple(row for row in pair.rows if not row.same_as and _is_decided(row))
        left = sum(not row.same_as for row in pair.rows) - len(shown[:_ROWS])
        blocks: list[Block] = [Lines(lines=(verdict_sentence(pair, comparison), next(_match_sentences(pair))))]
        if shown:
            same = tuple(row for row in pair.rows if row.same_as)
            blocks.append(_rows(evolve(pair, rows=(*shown[:_ROWS], *same)), comparison))
        few = evolve(pair, causes=pair.causes[:_CAUSES], flips=pair.flips[:_FLIPS])
        blocks += [*_causes(few), *_flips(few)]
        if left:
            blocks.append(Lines(lines=(f"{count_noun(left, 'more row')}: --full.",)))
        yield Section(title=_title(pair), blocks=tuple(blocks))
    families = (f"{comparison.family.error_rates} This correction decides what counts as shown.",)
    yield Section(title="", blocks=(Lines(lines=(*(f"Note: {note}." for note in comparison.notes), *families)),))


def _is_decided(row: Row) -> bool:
    undecided = (Answer.IDENTICAL, Answer.NOT_SHOWN, Answer.EMPTY)
    return row.answer not in undecided or row.equivalence is Within.DIFFERENT


def verdict_sentence(pair: Pair, comparison: Comparison) -> str:
    """Say in a sentence how the second side compares with the first: what is shown, and how often nothing is."""
    rows = [row for row in pair.rows if not row.same_as and row.answer is not Answer.EMPTY]
    if not rows:
        return "Nothing to compare."
    # One task is not named: every test is of it.
    several = len({row.task for row in rows}) > 1
    parts = []
    shown = (Answer.WORSE, Answer.BETTER, Answer.HIGHER, Answer.LOWER)
    answers: dict[tuple[str, str], set[Answer]] = {}
    for row in rows:
        answers.setdefault((row.task, row.test), set()).update({row.answer}.intersection(shown))

    def name_place(row: Row) -> str:
        # A test that is worse by one measure and better by another says nothing without the measure.
        about = [row.task] * several + [row.measure] * (len(answers[row.task, row.test]) > 1)
        return f"{row.test} ({', '.join(about)})" if about else row.test

    for answer in shown:
        places = dict.fromkeys(name_place(row) for row in rows if row.answer is answer)
        if places:
            more = len(places) - _PLACES
            named = ", ".join(list(places)[:_PLACES]) + (f" and {more:,} more" if more > 0 else "")
            parts.append(f"{answer.value} on {named}")
    if comparison.margin is not None:
        equivalent = sum(row.equivalence is Within.EQUIVALENT for row in rows)
        parts.append(f"equivalent within {comparison.margin:g} on {equivalent:,} of {len(rows):,} measures")
    for answer, words in ((Answer.NOT_SHOWN, "no difference shown"), (Answer.IDENTICAL, "identical")):
        count = sum(row.answer is answer for row in rows)
        if count:
            parts.append(f"{words} on {count:,} of {len(rows):,} measures")
    return f"{side(pair.second)}: {'; '.join(parts)}.{_other_scale(pair)}"


def _other_scale(pair: Pair) -> str:
    """Warn that the sides judge on scales with other labels, unless these are the same under other names."""
    for cause in pair.causes if not pair.matching.labels else ():
        if cause.what.endswith(SCALE) and set(cause.before.split(", ")) != set(cause.after.split(", ")):
            return f" The scales differ ({cause.before}; {cause.after}): the same label may mean another level."
    return ""


def _pair(pair: Pair, comparison: Comparison) -> Iterator[Block]:
    yield Lines(lines=(verdict_sentence(pair, comparison), *_match_sentences(pair)))
    if pair.rows:
        yield _rows(pair, comparison)
        yield _changes(pair)
    yield from _causes(pair)
    yield from _flips(pair)


def _match_sentences(pair: Pair) -> Iterator[str]:
    matching = pair.matching
    pairs = ((matching.by_id, "by id"), (matching.by_place, "by item and variant"))
    ways = ", ".join(f"{number:,} {way}" for number, way in pairs if number)
    yield f"{count_noun(matching.case_count, 'case')} on both sides{f', paired: {ways}' if ways else ''}."
    if matching.by_place and not matching.looked_at:
        yield "Their text is not stored, so jrh cannot check whether it is the same."
    elif matching.by_place and not matching.other_text:
        compared = "" if matching.looked_at == matching.by_place else " that could be compared"
        yield f"All {matching.looked_at:,} texts{compared} are identical."
    elif matching.by_place:
        yield f"{matching.other_text:,} of {count_noun(matching.looked_at, 'text')} that could be compared differ."
    yield from _other_names(pair)
    for side_name, alone in ((pair.first, matching.only_first), (pair.second, matching.only_second)):
        if any(alone.values()):
            yield f"Only in {side(side_name)}: {sum(alone.values())} cases ({format_counts(alone)})."
    yield from _left_out(matching)
    if pair.missing_cases:
        yield f"{pair.missing_cases} of the cases on both sides have no verdict on one side or both."
    sides = (("before", pair.missing_first), ("after", pair.missing_second))
    missing = [f"{which} {format_counts(statuses)}" for which, statuses in sides if statuses]
    if missing:
        yield f"Trials of these cases without a verdict: {'; '.join(missing)}."


def _left_out(matching: Matching) -> Iterator[str]:
    if matching.ambiguous:
        yield f"{matching.ambiguous} cases could not be matched because others have the same position in the design."
    if matching.other_items:
        yield f"{count_noun(matching.other_items, 'item')} left out: same id, but another text."
    if matching.gold_changed:
        yield f"{matching.gold_changed} cases were left out because their gold labels differ."


def _other_names(pair: Pair) -> Iterator[str]:
    """Say which items and labels have other names on the second side."""
    matching = pair.matching
    if matching.other_ids:
        yield f"{count_noun(matching.other_ids, 'item')} with the same text and another id: paired by text."
    if matching.labels:
        same = ", ".join(f"{new} = {old}" for new, old in matching.labels.items())
        yield f"Labels have other names in {side(pair.second)}, and are shown as in {side(pair.first)}: {same}."


def _rows(pair: Pair, comparison: Comparison) -> Table:
    # The column says nothing where there is one task, and tables are wide enough.
    several = len({row.task for row in pair.rows}) > 1
    margin = comparison.margin is not None
    columns = ["test", "measure", "before", "after", "difference", "cases", "better/worse", "p", "shown"]
    return Table(
        columns=(*(["task"] if several else []), *columns, *(["within the margin"] if margin else [])),
        rows=tuple(
            (
                *([row.task] if several else []),
                row.test,
                _measure(row, pair),
                *(number(mean, proportion=row.unit == "proportion") for mean in (row.first, row.second)),
                "not estimable" if row.difference is None else difference(row.difference, row.low, row.high),
                _sizes(row),
                f"{row.better}/{row.worse}",
                format_p(row.p),
                _answer(row, comparison),
                *([row.equivalence.value if row.equivalence else ""] if margin else []),
            )
            for row in pair.rows
            # One difference under two names is one row; `_measure` names both.
            if not row.same_as
        ),
    )


def _answer(row: Row, comparison: Comparison) -> str:
    """Return the answer; where the interval seems to contradict it, with the p-value before the correction."""
    if row.answer is not Answer.NOT_SHOWN or row.p is None or row.low is None or row.high is None:
        return row.answer.value
    # Significant alone: without this a reader would take the interval for a contradiction.
    if row.p <= 1 - comparison.level:
        return f"not shown after correction (alone {state_p(row.p)})"
    return f"{row.answer.value} ({state_p(row.p)} alone)" if row.low > 0 or row.high < 0 else row.answer.value


def _measure(row: Row, pair: Pair) -> str:
    """Return the names of all measures with this difference."""
    place = (row.task, row.test, row.measure)
    same = (other.measure for other in pair.rows if (other.task, other.test, other.same_as) == place)
    return " = ".join([row.measure, *same])


def _sizes(row: Row) -> str:
    missing = f", {row.unpaired} unpaired" if row.unpaired else ""
    return f"{row.cases}, {_items(row)}{missing}"


def _changes(pair: Pair) -> Table:
    """Return the table of changed verdicts; each task's rerun noise comes before its tests."""
    several = len({changes.task for changes in pair.changes}) > 1
    rows: list[tuple[str, ...]] = []
    tasks: set[str] = set()
    for changes in pair.changes:
        # Noise belongs to a task, not to a test: it is written once, before the first of its tests.
        lines = [] if changes.task in tasks else [*_noises(changes)]
        tasks.add(changes.task)
        rows += [(*([changes.task] if several else []), *line) for line in (*lines, _change(changes))]
    return Table(
        columns=(*(["task"] if several else []), *("test", "verdicts that differ", "rate", "items", "missing")),
        rows=tuple(rows),
    )


def _noises(changes: Changes) -> Iterator[tuple[str, ...]]:
    for which, noise in (("before", changes.noise_first), ("after", changes.noise_second)):
        if noise is None:
            yield f"rerun noise {which}", "-", "no reference condition", "-", ""
        else:
            yield f"rerun noise {which}", *_noise(noise)


def _noise(noise: Noise) -> tuple[str, ...]:
    missing = str(sum(noise.missing.values()))
    if noise.rate is None:
        return "-", "no case has two verdicts", "-", missing
    rate = _rate(noise.rate, noise.low, noise.high)
    return f"{noise.differing} of {noise.pairs} pairs", rate, _items(noise, bare=True), missing


def _change(row: Changes) -> tuple[str, ...]:
    rate = _rate(row.rate, row.low, row.high)
    return (row.test, f"{row.changed} of {row.trials}", rate, _items(row, bare=True), str(row.missing))


def _causes(pair: Pair) -> Iterator[Block]:
    changed = any(changes.changed for changes in pair.changes)
    # Listed also where no verdict changed, and then not called causes.
    if pair.causes:
        likely = "Differences, most likely cause first:" if changed else "Differences:"
        lines = [f"{cause.kind} {cause.what}: {_short(cause.before)} -> {_short(cause.after)}" for cause in pair.causes]
        yield Lines(lines=(likely, *(f"- {line}" for line in lines)))
    elif changed:
        unknown = "The verdicts were imported, so their origin is not recorded."
        same = f"No recorded difference: {_unrecorded(pair)}."
        yield Lines(lines=(same if pair.recorded else unknown,))


def _unrecorded(pair: Pair) -> str:
    """Say what may differ without a record; rerun noise only where it was not measured as 0."""
    noises = [noise for changes in pair.changes for noise in (changes.noise_first, changes.noise_second) if noise]
    measured = [noise.rate for noise in noises if noise.rate is not None]
    if measured and not any(measured):
        return "reruns of one run never differed, so the model may have changed under the same name"
    return "rerun noise, or a model that its provider changed under the same name"


def _flips(pair: Pair) -> Iterator[Block]:
    total = sum(pair.flipped.values())
    if not total:
        return
    kinds = format_counts(pair.flipped)
    yield Lines(lines=(f"{total} cases with a different verdict ({kinds}), {len(pair.flips)} shown, worst first:",))
    if pair.flips:
        several = len({flip.task for flip in pair.flips}) > 1
        columns = ("test", "item", "condition", "expected", "gold", "before", "after", "case")
        yield Table(
            columns=("", *(["task"] if several else []), *columns),
            rows=tuple(_flip(flip, several=several) for flip in pair.flips),
        )


def _flip(flip: Flip, *, several: bool) -> tuple[str, ...]:
    condition = "/".join(part for part in (flip.variant, flip.template, flip.option_order) if part)
    place = (*([flip.task] if several else []), flip.test, flip.item, condition, flip.expected, flip.gold)
    return flip.direction.value, *place, " ".join(flip.before), " ".join(flip.after), flip.case_first[:8]


def _curve(comparison: Comparison) -> Section:
    cases = comparison.curve[0].cases
    table = Table(
        columns=("side", "correct", "cost of these verdicts", "per 1000 trials", "trials", "frontier"),
        rows=tuple(_point(point) for point in comparison.curve),
    )
    title = f"Cost of the compared verdicts, against how many are correct: the {cases} cases that all sides answered"
    return Section(title=title, blocks=(table,), of_all=True)


def _point(point: Point) -> tuple[str, ...]:
    frontier = {True: "yes", False: "no", None: "price unknown" if point.unknown else "-"}[point.frontier]
    # Only where no price is known: otherwise the sum of the known ones is a lower bound.
    return (
        side(point.side),
        _rate(point.correct, point.low, point.high),
        "unknown" if point.trials == point.unknown else dollars(point, point.cost),
        dollars(point, point.per_thousand),
        str(point.trials),
        frontier,
    )


def _legend(comparison: Comparison) -> Iterator[str]:
    yield from (f"Note: {note}." for note in comparison.notes)
    shown = dict.fromkeys(row.measure for pair in comparison.pairs for row in pair.rows)
    meanings = {name: MEASURES.get(measure, "") for measure, name in measure_names().items()}
    yield from (f"{measure}: {meanings[measure]}." for measure in shown)
    level = f"{comparison.level * 100:.4g}%"
    yield f"Differences are after minus before, paired by case; {level} confidence intervals, clustered by item."
    if any(row.same_as for pair in comparison.pairs for row in pair.rows):
        yield (
            "Measures joined by = are the same difference by definition: in the reference condition the expected label "
            "is the gold label; in a test that should change nothing, it is the judge's own reference verdict."
        )
    yield f"{comparison.family.error_rates} This correction decides what counts as shown; p-values are not adjusted."
    # Explained only where it is seen.
    if any("alone" in _answer(row, comparison) for pair in comparison.pairs for row in pair.rows):
        yield "Intervals are not adjusted: an interval that excludes 0 does not show a difference by itself."
    if any(row.answer is Answer.NOT_SHOWN for pair in comparison.pairs for row in pair.rows):
        yield '"No difference shown" does not mean that there is none: use --margin to test for equivalence.'
    if comparison.margin is not None:
        yield f"Within the margin: equivalence within ±{comparison.margin:g}, by two one-sided tests (TOST)."
    if any(pair.changes for pair in comparison.pairs):
        yield "Rerun noise: pairs of repeats of the identical question that differ, in the reference condition."
    if len(comparison.curve) > 1:
        yield "These costs leave out all other calls of a run; `jrh report` shows what a run cost."
        yield "Correct: agreement with the gold or stated label; without one, with what the test expects."
        yield "The frontier uses point estimates: if intervals overlap, another side may belong on it."


def _items(counts: Row | Noise | Changes, *, bare: bool = False) -> str:
    """Write the number of items, and of their clusters where items share them."""
    items = str(counts.items) if bare else count_noun(counts.items, "item")
    return f"{items} in {count_noun(counts.clusters, 'cluster')}" if counts.clusters < counts.items else items


def side(name: SideName) -> str:
    """Return a side's label, marked where its answers are made up."""
    # Wherever a simulated judge is named, so that made-up numbers are never taken for a model's.
    return f"{name.label} (simulated)" if name.simulated else name.label


def number(value: float | None, *, proportion: bool = True) -> str:
    """Write a number; `-` where there is none."""
    return "-" if value is None else format_number(value, _DIGITS, proportion=proportion)


def difference(value: float, low: float | None, high: float | None) -> str:
    """Write a difference with its sign and its interval, as reports do."""
    return f"{format_number(value, _DIGITS, proportion=False, signed=True, nonzero=True)}{_ends(low, high)}"


def dollars(point: Point, value: float | None) -> str:
    """Write a cost; trials of unknown price are never counted as free."""
    return "unknown" if value is None else format_dollars(value, point.unknown)


def _rate(value: float | None, low: float | None, high: float | None) -> str:
    return f"{number(value)}{_ends(low, high, proportion=True)}"


def _ends(low: float | None, high: float | None, *, proportion: bool = False) -> str:
    if low is None or high is None:
        return ""
    return f" {format_ends(Interval(low=low, high=high), _DIGITS, proportion=proportion)}"


def _short(text: str) -> str:
    """Shorten a text that is only shown."""
    return text if len(text) <= _LONGEST_CAUSE else f"{text[: _LONGEST_CAUSE - 1]}…"
