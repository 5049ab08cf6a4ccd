"""Rubric files: one task per entry, with the entry's instructions as the rubric and its levels as the scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import field, frozen

from jrh.document.convert import collect
from jrh.document.nodes import Node
from jrh.document.positions import Document, Location, did_you_mean
from jrh.document.yaml_reader import read_document
from jrh.errors import Problem, SuiteError
from jrh.suite.syntax import WrittenCriteriaTask, unfit_name
from jrh.values.items import Mode, Task
from jrh.values.scales import Scale, ScaleKind

SATISFIES: Final = "satisfies"
VIOLATES: Final = "violates"


@frozen(kw_only=True)
class ScoreLevel:
    """One level of an entry."""

    level: int | None = None
    score: int | None = None
    """Another word for `level`, that of the Judge Reliability Harness."""
    label: str
    """What the level means."""

    def __attrs_post_init__(self) -> None:
        """Refuse a level without a number, or with two."""
        if (self.level is None) == (self.score is None):
            raise ValueError("give the number of the level once, as `level` or as `score`")

    @property
    def number(self) -> int:
        """Return the number of the level."""
        return self.level if self.level is not None else self.score or 0

    @property
    def key(self) -> str:
        """Return the key under which the file has the number."""
        return "level" if self.level is not None else "score"


@frozen(kw_only=True)
class Criterion:
    """One entry of a rubric file."""

    id: str
    instructions: str
    """What is asked of the transcript or response."""
    score_levels: tuple[ScoreLevel, ...] = ()
    """From the lowest to the highest, without gaps; none: the entry is satisfied or violated."""

    @property
    def rubric(self) -> str:
        """Return the rubric a judge reads: the instructions, and what each level means."""
        if not self.score_levels:
            return self.instructions
        levels = [f"{each.number}: {each.label}" for each in self.score_levels]
        return "\n".join([self.instructions.rstrip(), "", "Levels:", *levels])

    def task(self, name: str, *, instruction: str, scale: Scale | None, mode: Mode) -> Task:
        """Return the task of this entry; `scale` takes the place of satisfies and violates where it is given."""
        if self.score_levels:
            scale = Scale(kind=ScaleKind.ORDINAL, labels=tuple(str(each.number) for each in self.score_levels))
        scale = scale or Scale.of_labels(SATISFIES, VIOLATES)
        return Task(name=f"{name}.{self.id}", instruction=instruction, rubric=self.rubric, scale=scale, mode=mode)


@frozen(kw_only=True)
class Rubric:
    """A rubric file."""

    source: str
    entries: tuple[Criterion, ...] = field(factory=tuple)

    def chosen(self, targets: Sequence[str]) -> tuple[tuple[Criterion, ...], list[tuple[int, str]]]:
        """Return the entries that are targeted, in the file's order, and (position, message) of unknown targets."""
        ids = [entry.id for entry in self.entries]
        unknown = [
            (at, f"{self.source} has no entry '{target}'\n{did_you_mean(target, ids)}Entries: {', '.join(ids)}.")
            for at, target in enumerate(targets)
            if target not in ids
        ]
        return tuple(entry for entry in self.entries if not targets or entry.id in targets), unknown


def read_criteria(node: Node, name: str) -> Sequence[Task]:
    """Read a section `task` that names a rubric file: a task for every entry."""
    written = node.try_read(WrittenCriteriaTask)
    if written is None:
        return ()
    scale = written.scale.scale() if written.scale else None
    if written.mode is Mode.PAIRWISE or (scale is not None and scale.kind is ScaleKind.PAIRWISE):
        node.report("criteria are judged one answer at a time; neither `mode` nor `scale` can be pairwise")
        return ()
    if not written.criteria.file.is_file():
        node.report(f"there is no file '{written.criteria.file}'", "criteria", "file")
        return ()
    try:
        rubric = read_rubric(written.criteria.file)
    except SuiteError as error:
        node.problems.extend(error.problems)
        return ()
    entries, unknown = rubric.chosen(written.criteria.targets)
    for position, message in unknown:
        node.report(message, "criteria", "targets", position)
    return [
        entry.task(name, instruction=written.instruction.content, scale=scale, mode=written.mode) for entry in entries
    ]


def read_rubric(path: Path) -> Rubric:
    """Read a rubric file, JSON or YAML: a list of entries with `id`, `instructions` and optional `score_levels`.

    Raises:
        SuiteError: with every mistake of the file, each with its line and column.
    """
    document = read_document(path)
    if not isinstance(document.value, list) or not document.value:
        message = "a rubric file is a list of entries with `id`, `instructions` and optional `score_levels`"
        raise SuiteError([document.problem((), message)])
    entries, problems = collect(document.value, tuple[Criterion, ...], base=path.parent, document=document)
    problems = problems or _mistakes(entries or (), document)
    if problems:
        raise SuiteError(problems)
    return Rubric(source=str(path), entries=entries or ())


def _mistakes(entries: Sequence[Criterion], document: Document) -> list[Problem]:
    found: list[Problem] = []
    first: dict[str, int] = {}
    for at, entry in enumerate(entries):
        if not entry.id:
            found.append(document.wrong((at, "id"), "the id is empty"))
        elif unfit := unfit_name(entry.id):
            found.append(document.wrong((at, "id"), unfit))
        elif entry.id in first:
            line = document.positions.get((first[entry.id], "id"), (0, 0))[0]
            found.append(document.wrong((at, "id"), f"the entry of line {line} has the id '{entry.id}' as well"))
        first.setdefault(entry.id, at)
        if not entry.instructions.strip():
            found.append(document.wrong((at, "instructions"), "the instructions are empty"))
        found += _level_mistakes(entry.score_levels, document, (at, "score_levels"))
    return found


def _level_mistakes(levels: Sequence[ScoreLevel], document: Document, at: Location) -> list[Problem]:
    if len(levels) == 1:
        return [document.wrong(at, "one level is no scale; give two or more, or leave `score_levels` out")]
    for position in range(1, len(levels)):
        before, level = levels[position - 1].number, levels[position].number
        if level != before + 1:
            message = f"level {level} follows level {before}; levels go up one by one, without gaps"
            return [document.wrong((*at, position, levels[position].key), message)]
    return [
        document.wrong((*at, position, "label"), "the label is empty; say what the level means")
        for position, level in enumerate(levels)
        if not level.label.strip()
    ]
