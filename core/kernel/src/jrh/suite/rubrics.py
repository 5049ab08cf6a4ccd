"""Rubric files: a task per entry, or one weighted score of all entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import field, frozen

from jrh.document.convert import collect
from jrh.document.nodes import Node
from jrh.document.positions import Document, Location, did_you_mean
from jrh.document.yaml_reader import read_document
from jrh.errors import Problem, SuiteError
from jrh.suite.syntax import JOINED, WrittenCriteria, WrittenCriteriaTask, unfit_name
from jrh.values.criteria import Criteria, Criterion
from jrh.values.items import Mode, Task
from jrh.values.scales import Scale, ScaleKind

SATISFIES: Final = "satisfies"
VIOLATES: Final = "violates"
MET: Final = "met"
UNMET: Final = "unmet"
_INSTRUCTION: Final = "Judge the {judged} below by every criterion of the rubric, one by one."
MOST_ENTRIES: Final = 1000
MOST_WEIGHT: Final = 1_000_000


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
class Entry:
    """One entry of a rubric file."""

    id: str
    instructions: str
    """What is asked of the transcript or response."""
    score_levels: tuple[ScoreLevel, ...] = ()
    """From the lowest to the highest, without gaps; none: the entry is satisfied or violated."""
    labels: tuple[str | int, ...] = ()
    """Labels of its own, the one that counts as met first; none: those of the task."""
    weight: float | None = None
    """What it adds to the weighted score if it is met; 1 where it is not given."""

    def scale(self, otherwise: Scale) -> Scale:
        """Return its scale: its levels, its labels, or else that of the task."""
        if self.score_levels:
            return Scale(kind=ScaleKind.ORDINAL, labels=tuple(str(each.number) for each in self.score_levels))
        if self.labels:
            return _met_first(tuple(map(str, self.labels)))
        return otherwise

    @property
    def rubric(self) -> str:
        """Return the rubric a judge reads: the instructions, and what each level means."""
        if not self.score_levels:
            return self.instructions
        levels = [f"{each.number}: {each.label}" for each in self.score_levels]
        return "\n".join([self.instructions.rstrip(), "", "Levels:", *levels])

    def task(self, name: str, *, instruction: str, scale: Scale | None, mode: Mode) -> Task:
        """Return the task of this entry; `scale` takes the place of satisfies and violates where it is given."""
        scale = self.scale(scale or Scale.of_labels(SATISFIES, VIOLATES))
        return Task(name=f"{name}.{self.id}", instruction=instruction, rubric=self.rubric, scale=scale, mode=mode)


@frozen(kw_only=True)
class Rubric:
    """A rubric file."""

    source: str
    entries: tuple[Entry, ...] = field(factory=tuple)

    def chosen(self, targets: Sequence[str]) -> tuple[tuple[Entry, ...], list[tuple[int, str]]]:
        """Return the entries that are targeted, in the file's order, and (position, message) of unknown targets."""
        ids = [entry.id for entry in self.entries]
        unknown = [
            (at, f"{self.source} has no entry '{target}'\n{did_you_mean(target, ids)}Entries: {', '.join(ids)}.")
            for at, target in enumerate(targets)
            if target not in ids
        ]
        return tuple(entry for entry in self.entries if not targets or entry.id in targets), unknown


def read_criteria(node: Node, name: str) -> Sequence[Task]:
    """Read a section `task` that names a rubric file: a task for every entry, or one per scale for all together."""
    written = node.try_read(WrittenCriteriaTask)
    if written is None:
        return ()
    joined = written.mode == JOINED
    scale = written.scale.scale() if written.scale else None
    if written.mode == Mode.PAIRWISE.value or (scale is not None and scale.kind is ScaleKind.PAIRWISE):
        node.report("criteria are judged one answer at a time; neither `mode` nor `scale` can be pairwise")
        return ()
    if not joined and written.criteria.file is None:
        node.report("name the rubric file: `criteria: {file: rubric.yaml}`", "criteria")
        return ()
    entries = _entries(node, written.criteria)
    if entries is None:
        return ()
    if joined:
        return read_joined(node, name, written, entries)
    _only_joined(node, written.criteria, entries)
    mode, instruction = Mode(written.mode), written.instruction.content
    return [entry.task(name, instruction=instruction, scale=scale, mode=mode) for entry in entries]


def _entries(node: Node, written: WrittenCriteria) -> Sequence[Entry] | None:
    if written.file is None:
        return ()
    if not written.file.is_file():
        node.report(f"there is no file '{written.file}'", "criteria", "file")
        return None
    try:
        rubric = read_rubric(written.file)
    except SuiteError as error:
        node.problems.extend(error.problems)
        return None
    entries, unknown = rubric.chosen(written.targets)
    for position, message in unknown:
        node.report(message, "criteria", "targets", position)
    return entries


def _only_joined(node: Node, written: WrittenCriteria, entries: Sequence[Entry]) -> None:
    """Report what is about a weighted score where every entry is a task of its own."""
    for key, given in (("per_call", written.per_call != 1), ("not_applicable", written.not_applicable is not None)):
        if given:
            node.report("is for `mode: criteria`; here every entry is a separate task", "criteria", key)
    if any(entry.weight is not None for entry in entries):
        node.report("the entries have weights, which count only with `mode: criteria`", "criteria", "file")


def read_joined(node: Node, name: str, written: WrittenCriteriaTask, entries: Sequence[Entry]) -> Sequence[Task]:
    """Return one task for every scale among the entries; together they make one weighted score."""
    apart = written.criteria.not_applicable or ""
    scale = written.scale.scale() if written.scale else _met_first((MET, UNMET, *((apart,) if apart else ())))
    if apart and (apart not in scale or scale.ordered):
        node.report(f"'{apart}' is not a label of `scale`", "criteria", "not_applicable")
        return ()
    if len(scale.labels) - bool(apart) < 2:  # noqa: PLR2004 - a scale has two ends
        node.report("leaves a single label on the scale", "criteria", "not_applicable")
        return ()
    if entries and max(entry.weight or 1.0 for entry in entries) < 0:
        node.report(
            "all weights are negative, so there is no best score; make at least one positive", "criteria", "file"
        )
        return ()
    if scale.kind is ScaleKind.LABELS and not scale.positive_label:
        scale = _met_first(scale.labels)
    own: dict[Scale, list[Entry]] = {scale: []} if not entries else {}
    for entry in entries:
        own.setdefault(entry.scale(scale), []).append(entry)
    per_call = 0 if written.criteria.per_call == "all" else int(written.criteria.per_call)
    return [
        Task(
            name=name if len(own) == 1 else f"{name}.{_scale_name(each)}",
            instruction=written.instruction.content or _INSTRUCTION.format(judged=written.criteria.judged),
            scale=each,
            mode=Mode.TRANSCRIPT if written.criteria.judged == "transcript" else Mode.POINTWISE,
            criteria=Criteria(
                name=name,
                entries=tuple(Criterion(id=one.id, text=one.rubric, weight=one.weight or 1.0) for one in chosen),
                elsewhere=tuple(one.id for one in entries if one not in chosen),
                per_call=per_call,
                not_applicable=apart if apart in each else "",
            ),
        )
        for each, chosen in own.items()
    ]


def _met_first(labels: tuple[str, ...]) -> Scale:
    """Return a scale of unordered labels of which the first one counts as met."""
    return Scale(kind=ScaleKind.LABELS, labels=labels, positive=labels[0])


def _scale_name(scale: Scale) -> str:
    if scale.ordered:
        return f"{scale.labels[0]}-{scale.labels[-1]}"
    return "-".join(label.replace("/", "").replace("\\", "") for label in scale.labels)


def read_rubric(path: Path) -> Rubric:
    """Read a rubric file, JSON or YAML: a list of entries with `id`, `instructions` and optional `score_levels`.

    Raises:
        SuiteError: with every mistake of the file, each with its line and column.
    """
    document = read_document(path)
    if not isinstance(document.value, list) or not document.value:
        message = "a rubric file is a list of entries with `id`, `instructions` and optional `score_levels`"
        raise SuiteError([document.problem((), message)])
    entries, problems = collect(document.value, tuple[Entry, ...], base=path.parent, document=document)
    if not problems and len(entries or ()) > MOST_ENTRIES:
        problems = [document.problem((), f"has {len(entries or ()):,} entries; at most {MOST_ENTRIES:,}")]
    problems = problems or _mistakes(entries or (), document)
    if problems:
        raise SuiteError(problems)
    return Rubric(source=str(path), entries=entries or ())


def _mistakes(entries: Sequence[Entry], document: Document) -> list[Problem]:
    found: list[Problem] = []
    first: dict[str, int] = {}
    for at, entry in enumerate(entries):
        if not entry.id:
            found.append(document.wrong((at, "id"), "the id is empty"))
        elif unfit := unfit_name(entry.id):
            found.append(document.wrong((at, "id"), unfit))
        elif entry.id in first:
            line = document.positions.get((first[entry.id], "id"), (0, 0))[0]
            found.append(document.wrong((at, "id"), f"the entry on line {line} has the same id '{entry.id}'"))
        first.setdefault(entry.id, at)
        found += [document.wrong((at, key), why) for key, why in _entry_mistakes(entry)]
        if not entry.instructions.strip():
            found.append(document.wrong((at, "instructions"), "the instructions are empty"))
        found += _level_mistakes(entry.score_levels, document, (at, "score_levels"))
    return found


def _entry_mistakes(entry: Entry) -> Iterator[tuple[str, str]]:
    weight = entry.weight
    if weight is not None and not (weight and abs(weight) <= MOST_WEIGHT):
        yield "weight", f"the weight must be from -{MOST_WEIGHT:,} to {MOST_WEIGHT:,} and not 0, got {weight:g}"
    if not entry.labels:
        return
    if entry.score_levels:
        yield "labels", "give `labels` or `score_levels`, not both"
    texts = [str(label) for label in entry.labels]
    if len(texts) < 2 or len(set(texts)) < len(texts) or any(text != text.strip() or not text for text in texts):  # noqa: PLR2004
        yield "labels", "a scale has two or more distinct labels, none of them empty or with white space around it"


def _level_mistakes(levels: Sequence[ScoreLevel], document: Document, at: Location) -> list[Problem]:
    if len(levels) == 1:
        return [document.wrong(at, "a scale needs at least two levels; add one, or leave `score_levels` out")]
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
