"""The mode `criteria`: one verdict per criterion of a response, which together make a weighted score."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import Attribute, evolve, field, frozen
from jrh import Item, JrhError, Json, Mode, Scale, ScaleKind, Task
from jrh.suite import read_file
from jrh.values import CRITERION_FIELD, TOGETHER_FIELD, Criteria, Criterion, JudgedCriterion

from jrh_criteria.options import JOINED, WrittenCriteriaTask

MOST_ENTRIES: Final = 1000
MOST_WEIGHT: Final = 1_000_000
Mistake: TypeAlias = tuple[tuple[str | int, ...], str]


def _check_text(_: object, attribute: Attribute[Any], text: str) -> None:
    if not text.strip():
        raise ValueError(f"the {attribute.name} {'are' if attribute.name.endswith('s') else 'is'} empty")


def _check_weight(_: object, __: object, weight: float | None) -> None:
    # A weight of 0 counts for nothing, and an infinite one for everything.
    if weight is not None and not (weight and abs(weight) <= MOST_WEIGHT):
        raise ValueError(f"the weight must be from -{MOST_WEIGHT:,} to {MOST_WEIGHT:,} and not 0, got {weight:g}")


def _check_labels(entry: Entry, _: object, labels: Sequence[str | int]) -> None:
    if not labels:
        return
    if entry.score_levels:
        raise ValueError("give `labels` or `score_levels`, not both")
    texts = [str(label) for label in labels]
    if len(texts) < 2 or len(set(texts)) < len(texts) or any(text != text.strip() or not text for text in texts):  # noqa: PLR2004
        raise ValueError("a scale has two or more distinct labels, none of them empty or with white space around it")


def _check_levels(_: object, __: object, levels: Sequence[ScoreLevel]) -> None:
    if len(levels) == 1:
        raise ValueError("a scale needs at least two levels; add one, or leave `score_levels` out")


@frozen(kw_only=True)
class ScoreLevel:
    """One level of an entry."""

    level: int | None = None
    score: int | None = None
    """Another word for `level`, that of the Judge Reliability Harness."""
    label: str = field(validator=_check_text)
    """What the level means."""

    def __attrs_post_init__(self) -> None:
        """Refuse a level without a number, or with two."""
        # Two numbers for one level could contradict each other.
        if (self.level is None) == (self.score is None):
            raise ValueError("give the number of the level once, as `level` or as `score`")

    @property
    def number(self) -> int:
        """Return the number of the level."""
        return self.level if self.level is not None else self.score or 0


@frozen(kw_only=True)
class Entry:
    """One entry of a rubric file."""

    id: str = field(validator=_check_text)
    instructions: str = field(validator=_check_text)
    """What is asked of the transcript or response."""
    score_levels: tuple[ScoreLevel, ...] = field(default=(), validator=_check_levels)
    """From the lowest to the highest, without gaps; none: the entry is satisfied or violated."""
    labels: tuple[str | int, ...] = field(default=(), validator=_check_labels)
    """Labels of its own, the one that counts as met first; none: those of the task."""
    weight: float | None = field(default=None, validator=_check_weight)
    """What it adds to the weighted score if it is met; 1 where it is not given."""

    def scale(self, otherwise: Scale) -> Scale:
        """Return its scale: its levels, its labels, or else that of the task."""
        if self.score_levels:
            return Scale(kind=ScaleKind.ORDINAL, labels=tuple(str(level.number) for level in self.score_levels))
        return scale_met_first(tuple(map(str, self.labels))) if self.labels else otherwise

    @property
    def rubric(self) -> str:
        """Return the rubric a judge reads: the instructions, and what each level means."""
        if not self.score_levels:
            return self.instructions
        levels = [f"{level.number}: {level.label}" for level in self.score_levels]
        return "\n".join([self.instructions.rstrip(), "", "Levels:", *levels])


def scale_met_first(labels: tuple[str, ...]) -> Scale:
    """Return a scale of unordered labels of which the first one counts as met."""
    return Scale(kind=ScaleKind.LABELS, labels=labels, positive=labels[0])


def read_rubric(path: Path) -> tuple[Entry, ...]:
    """Read a rubric file, JSON or YAML: a list of entries with `id`, `instructions` and optional `score_levels`.

    Raises:
        SuiteError: with every mistake of the file, each with its line and column.
    """
    return read_file(path, tuple[Entry, ...], _mistakes)


def _mistakes(entries: Sequence[Entry]) -> Iterable[Mistake]:
    """Yield what is wrong with the entries together, and with the levels of one."""
    if not 1 <= len(entries) <= MOST_ENTRIES:
        yield (), f"a rubric file has 1 to {MOST_ENTRIES:,} entries, got {len(entries):,}"
    # Ids are parts of the names of tasks and columns, so they have to be unique.
    known: dict[str, int] = {}
    for at, entry in enumerate(entries):
        if known.setdefault(entry.id, at) != at:
            yield (at, "id"), f"entry {known[entry.id] + 1} has the same id '{entry.id}'"
        for place in range(1, len(entry.score_levels)):
            before, level = entry.score_levels[place - 1], entry.score_levels[place]
            if level.number != before.number + 1:
                key = "score" if level.level is None else "level"
                message = f"level {level.number} follows level {before.number}; levels go up one by one, without gaps"
                yield (at, "score_levels", place, key), message
                # One gap shifts all levels after it, so only the first is reported.
                break


SATISFIES: Final = "satisfies"
VIOLATES: Final = "violates"
MET: Final = "met"
UNMET: Final = "unmet"
LABEL: Final = "label."
"""Start of the names of the columns with a gold label per criterion: `label.ID`."""
BETWEEN: Final = "#"
"""Between the id of a response and that of a criterion."""
_INSTRUCTION: Final = "Judge the {judged} below by every criterion of the rubric, one by one."
_MOST_OWN: Final = 200
"""Criteria that one item may bring: each of its items lists them all."""


@frozen
class CriteriaMode:
    """A task for every entry of a rubric file or, in the mode `criteria`, one per scale for all of them together."""

    written: WrittenCriteriaTask

    def tasks(self, name: str, report: Callable[..., None]) -> Sequence[Task]:
        """Return the tasks of the entries that are targeted."""
        written = self.written
        scale = written.scale.scale() if written.scale else None
        joined = written.mode == JOINED
        # A criterion is met or not by one response; two responses have no common verdict on it.
        if written.mode == Mode.PAIRWISE.value or (scale is not None and scale.kind is ScaleKind.PAIRWISE):
            raise JrhError("criteria are judged one answer at a time; neither `mode` nor `scale` can be pairwise")
        file = written.criteria.file
        if file is None and not joined:
            report("name the rubric file: `criteria: {file: rubric.yaml}`", "criteria")
            return ()
        if file is not None and not file.is_file():
            report(f"there is no file '{file}'", "criteria", "file")
            return ()
        entries = () if file is None else self._targets(read_rubric(file), report)
        tasks = self._score_tasks if joined else self._separate_tasks
        return tasks(name, entries, scale, report)

    def _targets(self, entries: Sequence[Entry], report: Callable[..., None]) -> Sequence[Entry]:
        targets, ids = self.written.criteria.targets, [entry.id for entry in entries]
        for place, target in enumerate(targets):
            if target not in ids:
                close = "".join(f"Did you mean '{near}'? " for near in get_close_matches(target, ids, n=1))
                message = f"{self.written.criteria.file} has no entry '{target}'\n{close}Entries: {', '.join(ids)}."
                report(message, "criteria", "targets", place)
        return [entry for entry in entries if not targets or entry.id in targets]

    def _separate_tasks(
        self, name: str, entries: Sequence[Entry], scale: Scale | None, report: Callable[..., None]
    ) -> Sequence[Task]:
        """Return a task for every entry; `scale` takes the place of satisfies and violates where it is given."""
        criteria = self.written.criteria
        for key, stated in (("per_call", criteria.per_call != 1), ("not_applicable", criteria.not_applicable)):
            if stated:
                report("is for `mode: criteria`; here every entry is a separate task", "criteria", key)
        if any(entry.weight is not None for entry in entries):
            report("the entries have weights, which count only with `mode: criteria`", "criteria", "file")
        # An entry may bring labels or levels of its own.
        usual = scale or Scale.of_labels(SATISFIES, VIOLATES)
        return [
            Task(
                name=f"{name}.{entry.id}",
                instruction=self.written.instruction.content,
                rubric=entry.rubric,
                scale=entry.scale(usual),
                mode=Mode(self.written.mode),
            )
            for entry in entries
        ]

    def _score_tasks(
        self, name: str, entries: Sequence[Entry], scale: Scale | None, report: Callable[..., None]
    ) -> Sequence[Task]:
        """Return one task for every scale among the entries; together they make one weighted score."""
        criteria = self.written.criteria
        apart = criteria.not_applicable or ""
        scale = scale or scale_met_first((MET, UNMET, *([apart] if apart else [])))
        if apart and (apart not in scale or scale.ordered):
            report(f"'{apart}' is not a label of `scale`", "criteria", "not_applicable")
        elif len(scale.labels) - bool(apart) < 2:  # noqa: PLR2004 - a scale has two ends
            report("leaves a single label on the scale", "criteria", "not_applicable")
        if entries and max(entry.weight or 1.0 for entry in entries) < 0:
            message = "all weights are negative, so there is no best score; make at least one positive"
            report(message, "criteria", "file")
        if scale.kind is ScaleKind.LABELS and not scale.positive_label:
            scale = scale_met_first(scale.labels)
        # Without a rubric file the criteria come with the items, all on the task's scale.
        by_scale: defaultdict[Scale, list[Entry]] = defaultdict(list, {} if entries else {scale: []})
        for entry in entries:
            by_scale[entry.scale(scale)].append(entry)
        return [
            Task(
                name=name if len(by_scale) == 1 else f"{name}.{_scale_name(task_scale)}",
                instruction=self.written.instruction.content or _INSTRUCTION.format(judged=criteria.judged),
                scale=task_scale,
                mode=Mode.TRANSCRIPT if criteria.judged == "transcript" else Mode.POINTWISE,
                criteria=Criteria(
                    name=name,
                    entries=tuple(
                        Criterion(id=entry.id, text=entry.rubric, weight=entry.weight or 1.0) for entry in chosen
                    ),
                    # Columns `label.ID` of criteria on the file's other scales are no mistakes here.
                    elsewhere=tuple(entry.id for entry in entries if entry not in chosen),
                    per_call=0 if criteria.per_call == "all" else int(criteria.per_call),
                    not_applicable=apart if apart in task_scale else "",
                ),
            )
            for task_scale, chosen in by_scale.items()
        ]

    def expand_items(self, items: Iterable[Item], task: Task, problem: Callable[[str], None]) -> Iterator[Item]:
        """Yield an item per response and criterion, all of one cluster; those of a task without criteria as they are.

        The gold label of a criterion is in the column `label.ID`. The criterion is the stratum of items without
        another.
        """
        criteria = task.criteria
        columns: dict[str, str] = {}
        for item in items:
            if criteria is None:
                yield item
                continue
            where = item.origin or f"item '{item.id}'"
            # jrh writes these two fields itself, and would overwrite the item's own.
            taken = [name for name in (CRITERION_FIELD, TOGETHER_FIELD) if name in item.fields]
            if taken:
                problem(f"{where}: the field '{taken[0]}' is where jrh puts the criteria; map the column elsewhere")
            elif criteria.entries:
                for name in item.metadata:
                    columns.setdefault(name, item.origin or "the data")
                yield from (_of_response(item, criteria, place) for place in range(len(criteria.entries)))
            elif item.criterion is None:
                problem(f"{where}: has no criterion; name a rubric `file`, or a source that brings criteria")
            elif len(item.criterion.others) > _MOST_OWN:
                problem(f"{where}: has {len(item.criterion.others)} criteria; at most {_MOST_OWN} are allowed")
            else:
                yield _with_own(item, item.criterion, criteria)
        if criteria is not None:
            for message in _unknown_columns(columns, criteria):
                problem(message)


def _scale_name(scale: Scale) -> str:
    if scale.ordered:
        return f"{scale.labels[0]}-{scale.labels[-1]}"
    return "-".join(label.replace("/", "").replace("\\", "") for label in scale.labels)


def _unknown_columns(columns: Mapping[str, str], criteria: Criteria) -> Iterator[str]:
    """Say which columns `label.ID` name no criterion, once each."""
    known = [entry.id for entry in criteria.entries]
    for name, where in sorted(columns.items()):
        # The criteria of one file with several scales are several tasks over the same data.
        if name.startswith(LABEL) and name.removeprefix(LABEL) not in (*known, *criteria.elsewhere):
            # A misspelt column would otherwise be read as missing gold labels.
            close = get_close_matches(name.removeprefix(LABEL), known, n=1)
            hint = f"; did you mean '{LABEL}{close[0]}'?" if close else ""
            yield f"{where}: column '{name}' names no criterion{hint}"


def _of_response(item: Item, criteria: Criteria, place: int) -> Item:
    criterion = criteria.entries[place]
    written = item.metadata.get(f"{LABEL}{criterion.id}")
    gold = str(written).strip() if written is not None else ""
    return evolve(
        item,
        id=f"{item.id}{BETWEEN}{criterion.id}",
        fields={**item.fields, **_criterion_fields(criteria, place, criteria.entries)},
        gold=gold or None,
        labels={},
        stratum=item.stratum or criterion.id,
        # The verdicts on one response depend on each other, so they are one cluster.
        group=item.group or item.id,
        criterion=JudgedCriterion(criterion=criterion, of=item.id),
    )


def _with_own(item: Item, own: JudgedCriterion, criteria: Criteria) -> Item:
    """Return an item that brings its criterion, with the fields that show it."""
    all_of = own.others or (own.criterion,)
    place = next((at for at, other in enumerate(all_of) if other.id == own.criterion.id), 0)
    fields = {**item.fields, **_criterion_fields(criteria, place, all_of)}
    return evolve(item, fields=fields, group=item.group or own.of)


def _criterion_fields(criteria: Criteria, place: int, all_of: tuple[Criterion, ...]) -> dict[str, Json]:
    """Return the fields of an item; judges see no weight, which is for the score."""
    # Id and text only: the ids distinguish the verdicts of one reply.
    shown: dict[str, Json] = {CRITERION_FIELD: {"id": all_of[place].id, "text": all_of[place].text}}
    together = _together(criteria, first_of_call(criteria, place, len(all_of)), all_of)
    return {**shown, TOGETHER_FIELD: together} if together else shown


def first_of_call(criteria: Criteria, place: int, number: int) -> int:
    """Return the place of the first criterion of the call that asks the one in a place, of so many."""
    return place - place % (criteria.per_call or number)


# Many responses ask the same criteria.
@lru_cache(maxsize=1024)
def _together(criteria: Criteria, start: int, all_of: tuple[Criterion, ...]) -> str:
    chosen = all_of[start : start + (criteria.per_call or len(all_of))]
    return together_text((criterion.id, criterion.text) for criterion in chosen) if len(chosen) > 1 else ""


def together_text(criteria: Iterable[tuple[str, str]]) -> str:
    """Format the (id, text) pairs of the criteria of one call for the field `TOGETHER_FIELD`."""
    return json.dumps(dict(criteria), ensure_ascii=False)
