"""May a new judge replace the old one? The same cases, judged by both: a decision, and what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Item, JrhError, Json, RunReport, Scale, ScaleKind, Task, content_id
from jrh_measuring import round_up
from jrh_measuring.comparing.causes import NotComparableError, causes, check_comparable, fingerprint
from jrh_measuring.comparing.cost_curve import curve
from jrh_measuring.comparing.flips import flips
from jrh_measuring.comparing.matching import Matched, items_by_name, leave_out_other_texts, match
from jrh_measuring.comparing.pairing import Terms, Tested, cells, changes, clusters_of, count_missing, rerun_noise, rows
from jrh_measuring.comparing.results import Cause, Changes, Flip, Matching, SideName
from jrh_measuring.comparing.scoring import EXPECTED, GOLD, Case, read_cases
from jrh_measuring.comparing.sides import Side, open_sides
from jrh_stats import holm, items_to_decide, z_quantile
from numpy.typing import NDArray

from jrh_decide.equating import Mark, equate_levels, equate_share

ANSWERED: Final = "verdict given"
SAME: Final = "same verdict as before"
_ABOUT: Final = {GOLD: "agrees with people", EXPECTED: "as expected", ANSWERED: ANSWERED, SAME: SAME}
FEWEST: Final = 20
"""Items of a stratum that is tested alone; a smaller one cannot show anything."""
_SHARE_DECIDED: Final = 0.8
_DIGEST: Final = 12
_TEXTS: Final = 1000
"""Cases whose texts are read at a time."""


class Answer(Enum):
    """What is shown of a row, or of the swap as a whole."""

    EQUIVALENT = "equivalent"
    """The difference is shown to be smaller than the margin."""
    WORSE = "worse"
    BETTER = "better"
    CHANGED = "verdicts change"
    """They do, and nothing says which judge is right."""
    OPEN = "too few items"


@frozen(kw_only=True)
class Row:
    """One test, and one stratum or all of them: the new judge minus the old one."""

    task: str
    test: str
    """Empty: all tests."""
    stratum: str
    """Empty: all strata."""
    about: str
    before: float | None
    """Mean over the cases that have a score on both sides."""
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    cases: int
    items: int
    clusters: int
    better: int
    worse: int
    p: float
    """That there is no difference; not corrected."""
    p_equivalent: float
    """That the difference is the margin or more; not corrected."""
    unpaired: int
    """Cases without a verdict on one side or both."""
    answer: Answer
    """After Holm's correction over all rows."""


@frozen(kw_only=True)
class Part:
    """What may have moved between the two runs, or between the two judges of one."""

    what: str
    before: str
    """Digest."""
    after: str
    changed: int
    """Items whose text differs; 0 for what items do not have."""
    known: bool = True

    @property
    def moved(self) -> bool:
        """Return whether it differs."""
        return self.known and self.before != self.after


@frozen(kw_only=True)
class Bill:
    """What the verdicts of one judge on these cases cost."""

    verdicts: int
    missing: Mapping[str, int]
    """Status -> trials without a verdict."""
    cost: float
    per_thousand: float | None
    """US dollars for 1,000 verdicts; None if a price is unknown."""


@frozen(kw_only=True)
class Translation:
    """Pass marks of the old judge in those of the new one."""

    task: str
    kind: str
    """`level` or `share`; empty if there is none."""
    anchors: int
    """Items with a label of people and both verdicts."""
    clusters: int
    marks: tuple[Mark, ...] = ()
    needs: str = ""
    """What is missing for a translation; empty if nothing is."""
    labels: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Levels of the old and the new judge, or the label that passes."""


@frozen(kw_only=True)
class Swap:
    """The answer of `jrh swap`."""

    old: SideName
    new: SideName
    margin: float
    level: float
    answer: Answer
    why: tuple[Row, ...]
    """The rows behind the answer."""
    needed: tuple[int, int] | None
    """Clusters that would decide if the judges are equal, from and to; None where the answer is given or unknown."""
    labelled: bool
    matching: Matching
    other_text: int
    """Cases left out because the judges saw another text."""
    rows: tuple[Row, ...]
    small_strata: int
    agreement: tuple[Changes, ...]
    """How often the verdict changed, with the rerun noise of both judges."""
    flips: tuple[Flip, ...]
    flipped: Mapping[str, int]
    bills: tuple[Bill, Bill]
    moved: tuple[Part, ...]
    causes: tuple[Cause, ...]
    marks: tuple[Translation, ...]
    gold_sources: Mapping[str, int]
    notes: tuple[str, ...]


def find_swap(
    runs: Sequence[Path],
    *,
    old: str = "",
    new: str = "",
    margin: float = 0.05,
    mark: float = 0.5,
    most_flips: int = 10,
) -> Swap:
    """Decide whether the new judge may replace the old one; asks no model.

    Args:
        runs: the run of the old and that of the new judge, or one run of both.
        old: name of the old judge; needed where its run has several.
        new: the same of the new one.
        margin: the largest difference of a share that does not matter, chosen before seeing the data.
        mark: share of verdicts that have to pass, to be translated; for scales of two labels.
        most_flips: changed cases to return.

    Raises:
        JrhError: it is open which judges are meant, or the old verdicts do not say what gave them.
        NotComparableError: the judges share no case.
    """
    with ExitStack() as stack:
        before, after = _sides(runs, old, new, stack)
        _check_fingerprint(before, after)
        reports = before.run.report, after.run.report
        cases = read_cases(before.records, reports[0]), read_cases(after.records, reports[1])
        everything, matching = match(*cases, reports)
        same_items, paired = leave_out_other_texts(everything, matching, reports)
        check_comparable(before, after, paired)
        matched = _same_texts(same_items, before, after)
        if not matched:
            raise NotComparableError(f"'{before.name.label}' and '{after.name.label}' have no case in common")
        terms = Terms(level=reports[0].level, margin=margin, seed=reports[0].seed)
        strata = dict(zip(before.records.text("item_id"), before.records.text("stratum"), strict=True))
        labelled, found, small = swap_rows(matched, reports, terms, strata)
        found = decide_rows(found, 1 - terms.level)
        answer, why = decide_swap(found, labelled=labelled, alpha=1 - terms.level)
        listed, flipped = flips(matched, most_flips)
        noise = [rerun_noise(judged, terms) for judged in cases]
        return Swap(
            old=before.name,
            new=after.name,
            margin=margin,
            level=terms.level,
            answer=answer,
            why=tuple(why),
            needed=_items_needed(why, terms) if answer is Answer.OPEN and labelled else None,
            labelled=labelled,
            matching=evolve(matching, other_items=paired.other_items),
            other_text=len(everything) - len(matched),
            rows=tuple(found),
            small_strata=small,
            agreement=tuple(changes(matched, reports[0], (noise[0], noise[1]), terms)),
            flips=listed,
            flipped=flipped,
            bills=_bills(matched, before, after, terms),
            moved=tuple(_moved(before, after, everything)),
            causes=causes(before, after),
            marks=tuple(_marks(matched, before, after, terms, mark, renamed=bool(matching.labels))),
            gold_sources=Counter(dict(_gold_sources(before))),
            notes=tuple(_notes(before, after)),
        )


def _sides(runs: Sequence[Path], old: str, new: str, stack: ExitStack) -> tuple[Side, Side]:
    for run in runs:
        if not run.is_dir():
            raise JrhError(f"'{run}' is not a run directory")
    if len(runs) == 1 and not (old and new):
        with ExitStack() as first:
            pairs = open_sides([str(runs[0])], (), first)
            names = [pairs[0][0].name.judge, *(pair[1].name.judge for pair in pairs)]
        raise JrhError(
            f"which judge of '{runs[0]}' is the old one? It has {', '.join(names)}\n"
            f"Name both: jrh swap {runs[0]} --old JUDGE --new JUDGE"
        )
    named = [f"{run}:{judge}" if judge else str(run) for run, judge in zip([*runs, *runs], (old, new), strict=False)]
    pairs = open_sides(named, (), stack)
    if len(pairs) != 1:
        names = [pair[0].name.judge for pair in pairs]
        raise JrhError(
            f"the runs have several judges: {', '.join(dict.fromkeys(names))}\n"
            "Name the old and the new one with --old JUDGE --new JUDGE."
        )
    before, after = pairs[0]
    alike = before.name.judge == after.name.judge
    labels = [side.name.run if alike else side.name.judge for side in (before, after)]
    return (
        evolve(before, name=evolve(before.name, label=labels[0])),
        evolve(after, name=evolve(after.name, label=labels[1])),
    )


def _check_fingerprint(before: Side, after: Side) -> None:
    """Refuse a stored baseline that does not record what gave its verdicts."""
    if before.run.path != after.run.path and not fingerprint(before.run.report, before.name.judge):
        raise JrhError(
            f"the verdicts in '{before.run.path}' do not say which judge gave them: they have no fingerprint (model, "
            "prompt, version)\nA new judge cannot be told from new data. Run the old judge again with "
            "`jrh run`, or import both judges' verdicts in one table."
        )


def _same_texts(matched: Matched, before: Side, after: Side) -> Matched:
    """Return the pairs without those whose texts are known to differ: another question is no other verdict."""
    unsure = [pair for pair in matched if pair[0].id != pair[1].id]
    differ = set()
    for start in range(0, len(unsure), _TEXTS):
        some = unsure[start : start + _TEXTS]
        first = before.run.report.evidence.cases([case.id for case, _ in some])
        second = after.run.report.evidence.cases([case.id for _, case in some])
        for case, other in some:
            if case.id in first and other.id in second and first[case.id].fields != second[other.id].fields:
                differ.add(case.id)
    return [pair for pair in matched if pair[0].id not in differ]


def swap_rows(
    matched: Matched, reports: tuple[RunReport, RunReport], terms: Terms, strata: Mapping[str | None, str | None]
) -> tuple[bool, list[Row], int]:
    """Return whether anything says which verdict is right, the rows, and the strata that are too small for one."""
    found: list[Row] = []
    small: set[str] = set()
    by_cell = cells(matched, reports[0])
    chosen = [(cell, _measure(pairs)) for cell, pairs in by_cell.items()]
    labelled = any(measure == GOLD for _, measure in chosen)
    if not labelled:
        # Two judges that never move, each with its own verdict, are as expected in every test: what has to stay the
        # same is the verdict itself.
        chosen = [*((cell, SAME) for cell in by_cell), *[entry for entry in chosen if entry[1] != SAME]]
    for (task, test), measure in chosen:
        pairs = by_cell[task, test]
        if measure == SAME and labelled:
            continue
        scored = [_unchanged(pair) for pair in pairs] if measure == SAME else pairs
        parts: dict[str, list[tuple[Case, Case]]] = {}
        for pair in scored:
            parts.setdefault(strata.get(pair[0].item) or "", []).append(pair)
        large = {name: part for name, part in parts.items() if name and len({x.item for x, _ in part}) >= FEWEST}
        small |= {name for name in parts if name and name not in large}
        for stratum, part in ({"": scored} | (large if len(parts) > 1 else {})).items():
            tested = rows(part, reports, terms, (measure,))
            found.extend(_row(each, (task, test, stratum, measure)) for each in tested)
    given = [(_answered(case, reports[0].tests[0]), _answered(other, reports[0].tests[0])) for case, other in matched]
    tested = rows(given, reports, terms, (ANSWERED,))
    found.extend(_row(each, (each.row.task, "", "", ANSWERED)) for each in tested)
    return labelled, found, len(small)


def _measure(pairs: Matched) -> str:
    """Return what the cases of a test can be scored by: the labels of people, else what is expected of them."""
    about = {measure for case, other in pairs for measure in case.about & other.about}
    return next((measure for measure in (GOLD, EXPECTED) if measure in about), SAME)


def _unchanged(pair: tuple[Case, Case]) -> tuple[Case, Case]:
    """Score both answers by whether they are the old one."""
    case, other = pair
    given = [
        (before.label is not None and after.label is not None, before.label == after.label)
        for before, after in zip(case.trials, other.trials, strict=False)
    ]
    sides = []
    for side, scores in ((case, [1.0] * len(given)), (other, [float(same) for _, same in given])):
        trials = tuple(
            evolve(trial, scores={SAME: score} if both else {})
            for trial, score, (both, _) in zip(side.trials, scores, given, strict=False)
        )
        sides.append(evolve(side, about=frozenset({SAME}), trials=trials))
    return sides[0], sides[1]


def _answered(case: Case, test: str) -> Case:
    """Score whether there is a verdict, whatever it is; all tests count as one."""
    trials = tuple(evolve(trial, scores={ANSWERED: float(trial.label is not None)}) for trial in case.trials)
    return evolve(case, test=test, about=frozenset({ANSWERED}), trials=trials)


def _row(tested: Tested, place: tuple[str, str, str, str]) -> Row:
    (task, test, stratum, measure), row = place, tested.row
    return Row(
        task=task, test=test, stratum=stratum, about=_ABOUT[measure], before=row.first, after=row.second,
        difference=row.difference, low=row.low, high=row.high, cases=row.cases, items=row.items, clusters=row.clusters,
        better=row.better, worse=row.worse,
        p=tested.difference.p, p_equivalent=tested.same.p if tested.same else 1.0,
        unpaired=row.unpaired,
        answer=Answer.OPEN,
    )  # fmt: skip


def decide_rows(found: Sequence[Row], alpha: float) -> list[Row]:
    """Decide every row: Holm's procedure over the differences of all rows, and over their equivalences."""
    if not found:
        return []
    differ, same = holm([row.p for row in found]), holm([row.p_equivalent for row in found])
    decided = []
    for row, p, p_same in zip(found, differ, same, strict=True):
        answer = Answer.OPEN
        if p_same <= alpha:
            answer = Answer.EQUIVALENT
        # A verdict that changed is neither better nor worse where it is not known what is right.
        elif p <= alpha and row.difference and row.about == SAME:
            answer = Answer.CHANGED
        elif p <= alpha and row.difference:
            answer = Answer.BETTER if row.difference > 0 else Answer.WORSE
        decided.append(evolve(row, answer=answer))
    return decided


def decide_swap(found: Sequence[Row], *, labelled: bool, alpha: float) -> tuple[Answer, list[Row]]:
    """Return the answer and the rows it rests on.

    Worse where any row is shown to be worse. Equivalent where every row of all strata is, each at the level alpha: the
    claim is false only if one of them is, so that several tests need no correction (intersection-union test, Berger
    1982, Technometrics 24:295-300). Better where these rows are better or equivalent, and one is shown to be better.
    """
    worse = [row for row in found if row.answer is Answer.WORSE]
    if worse:
        return Answer.WORSE, worse
    whole = [row for row in found if not row.stratum]
    kept = [row for row in whole if row.p_equivalent <= alpha or row.answer in (Answer.EQUIVALENT, Answer.BETTER)]
    # Without labels all is known that can be: the verdicts stay the same.
    if not whole or len(kept) < len(whole) or all(row.about == ANSWERED for row in whole):
        return Answer.OPEN, [row for row in whole if row not in kept]
    better = [row for row in whole if row.answer is Answer.BETTER and row.p_equivalent > alpha]
    return (Answer.BETTER, better) if better and labelled else (Answer.EQUIVALENT, whole)


def _items_needed(open_rows: Iterable[Row], terms: Terms) -> tuple[int, int] | None:
    """Return how many clusters would show equivalence in 80 of 100 studies of equal judges, from and to.

    None where as many are there: then it is the few that differ which leave it open, and no variance tells how many do.

    Both one-sided tests have to reject at 1 - level: each misses in half of the 20 studies that may fail.
    """
    alpha, needed, present = 1 - terms.level, [(0, 0)], 0
    for row in open_rows:
        present = max(present, row.clusters)
        if row.low is None or row.high is None or row.clusters <= 1 or row.low == row.high:
            return None
        half = (row.high - row.low) / 2 * z_quantile(1 - 2 * alpha) / z_quantile(terms.level)
        power = 1 - (1 - _SHARE_DECIDED) / 2
        margin = terms.margin or 1.0
        needed.append(items_to_decide(row.clusters, half, margin, level=1 - 2 * alpha, power=power, span=1))
    low, high = (max(ends) for ends in zip(*needed, strict=True))
    return (round_up(max(low, present + 1)), round_up(high)) if high > present else None


def _bills(matched: Matched, before: Side, after: Side, terms: Terms) -> tuple[Bill, Bill]:
    sides = [(side.name, {pair[0].id: pair[place] for pair in matched}) for place, side in enumerate((before, after))]
    bills = []
    for (_, judged), point in zip(sides, curve(sides, terms), strict=True):
        missing = count_missing(judged.values())
        verdicts = point.trials - sum(missing.values())
        known = not point.unknown and verdicts
        bills.append(
            Bill(
                verdicts=verdicts,
                missing=missing,
                cost=point.cost,
                per_thousand=round(1000 * point.cost / verdicts, 12) if known else None,
            )
        )
    return bills[0], bills[1]


def _moved(before: Side, after: Side, matched: Matched) -> Iterator[Part]:
    """Yield what gave the verdicts, and what they are about: judge, items, the system's responses, prompts, tests."""
    prints = [fingerprint(side.run.report, side.name.judge) for side in (before, after)]
    yield _part("judge", *prints, known=all(prints))
    # A provider may serve another snapshot to the same judge: nothing that a suite says would differ.
    answered = [side.name.served or () for side in (before, after)]
    if any(answered):
        yield _part("answering model", *answered, known=all(answered))
    if before.run is after.run:
        return
    names = {(case.task, case.item): (other.task, other.item) for case, other in matched}
    items = [items_by_name(side.run.report) for side in (before, after)]
    both = [(items[0][old], items[1][new]) for old, new in names.items() if old in items[0] and new in items[1]]
    for what, responses in (("items", False), ("responses", True)):
        texts = [[_texts(pair[place], responses=responses) for pair in both] for place in (0, 1)]
        changed = sum(first != second for first, second in zip(*texts, strict=True))
        yield _part(what, *texts, changed=changed, known=bool(both))
    yield _part(
        "prompts and scales", *([prompt_parts(each.task) for each in side.run.report.tasks] for side in (before, after))
    )
    yield _part("tests", *(_components(side, "perturber") for side in (before, after)))


def _part(what: str, first: Sequence[Json], second: Sequence[Json], *, changed: int = 0, known: bool = True) -> Part:
    before, after = (content_id(value)[:_DIGEST] if value else "" for value in (first, second))
    return Part(what=what, before=before, after=after, changed=changed, known=known)


def _components(side: Side, role: str) -> list[Json]:
    used = (part for part in side.run.report.components if part.role == role)
    return [[part.name, part.component, part.version, part.digest, dict(part.options)] for part in used]


def _texts(item: Item, *, responses: bool) -> dict[str, Json]:
    return {
        name: value for name, value in item.fields.items()
        if (name.startswith("response") or name == "transcript") is responses
    }  # fmt: skip


def prompt_parts(task: Task) -> list[Json]:
    """Return what of a task is in every prompt."""
    return [task.instruction, task.rubric, list(task.scale.labels)]


def _marks(
    matched: Matched, before: Side, after: Side, terms: Terms, mark: float, *, renamed: bool
) -> Iterator[Translation]:
    """Translate the pass marks of every task, over the cases of the reference condition that people labelled.

    Labels that were renamed are those of the old scale.
    """
    tasks = [{summary.task.name: summary.task for summary in side.run.report.tasks} for side in (before, after)]
    for task, old_task in tasks[0].items():
        pairs = [pair for pair in matched if pair[0].task == task and pair[0].test == before.run.report.tests[0]]
        if not pairs:
            continue
        scales = old_task.scale, old_task.scale if renamed else tasks[1][pairs[0][1].task].scale
        known = [pair for pair in pairs if pair[0].gold in scales[0]]
        anchors = [(pair, *labels) for pair in known for labels in pair[0].label_pairs(pair[1])]
        empty = Translation(
            task=task,
            kind="",
            anchors=len({pair[0].item for pair, *_ in anchors}),
            clusters=len(set(clusters_of([pair for pair, *_ in anchors]).tolist())) if anchors else 0,
        )
        ordinal = all(scale.kind is ScaleKind.ORDINAL for scale in scales)
        two = scales[0] == scales[1] and scales[0].kind is ScaleKind.LABELS and not scales[0].labels[2:]
        if not ordinal and not two:
            yield evolve(empty, needs="an ordinal scale, or one of two labels")
        elif not anchors:
            yield evolve(empty, needs="items that people labelled: `jrh label SUITE`, then run the suite again")
        else:
            given: tuple[Sequence[str | None], ...] = (
                [old for _, old, _ in anchors],
                [new for _, _, new in anchors],
                [pair[0].gold for pair, *_ in anchors],
            )
            clusters = clusters_of([pair for pair, *_ in anchors])
            if ordinal:
                codes = [_codes(labels, scale) for labels, scale in zip(given, (*scales, scales[0]), strict=True)]
                size = len(scales[0].labels), len(scales[1].labels)
                marks = equate_levels(codes[0], codes[1], codes[2], clusters, size, level=terms.level, seed=terms.seed)
                yield evolve(empty, kind="level", marks=marks, labels=(scales[0].labels, scales[1].labels))
                continue
            passing = scales[0].positive or scales[0].labels[0]
            codes = [np.array([int(label == passing) for label in labels], dtype=np.int64) for labels in given]
            moved = equate_share(mark, codes[0], codes[1], codes[2], clusters, level=terms.level, seed=terms.seed)
            needs = "" if moved else "labels of both kinds, and an old judge that is right more often than chance"
            marks = (moved,) if moved else ()
            yield evolve(empty, kind="share", marks=marks, labels=((passing,), (passing,)), needs=needs)


def _codes(labels: Sequence[str | None], scale: Scale) -> NDArray[np.int64]:
    return np.array([scale.labels.index(label or "") for label in labels], dtype=np.int64)


def _gold_sources(side: Side) -> Iterator[tuple[str, int]]:
    for summary in side.run.report.tasks:
        yield from summary.gold_sources.items()


def _notes(before: Side, after: Side) -> Iterator[str]:
    for side in dict.fromkeys((before.run, after.run)):
        if side.unfinished:
            yield f"'{side.path}' is not finished: {side.unfinished}"
        if side.report.missing_records:
            yield f"'{side.path}': {side.report.missing_records:,} of {side.report.planned:,} trials were not run"
        if side.imported:
            yield f"the verdicts of '{side.path}' were imported: their judges are known by name alone"
    simulated = [side.name.label for side in (before, after) if side.name.simulated]
    if simulated:
        yield f"simulated judges (planted behaviour, no model): {', '.join(simulated)}"
