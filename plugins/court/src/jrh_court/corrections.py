"""Labels that referees corrected: a file with their history, and the stage by which a suite uses it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen
from jrh import Item, JrhError, RunReport, Task
from jrh.plugins import Stage, StageOutcome, plain_value, read_value
from jrh.running import StageWork
from jrh.text import clean_text, count_noun
from jrh.values import GoldKind, GoldSource
from jrh_interchange import read_values

from jrh_court.cases import CourtCase, Docket, Ruling, content_of, question_of
from jrh_court.options import NAME, CorrectedBy

_NOTES: Final = "corrected_labels"
"""Key of what a report says of the corrections."""
_FEWEST: Final = 2
"""Referees who say the same."""


@frozen(kw_only=True)
class Correction:
    """A label that was wrong."""

    item: str
    was: str
    label: str
    content: str
    """Digest of the item's texts."""
    rulings: Mapping[str, str]
    """Referee -> ruling."""


@frozen(kw_only=True)
class Corrections:
    """All labels of a task that one court corrected."""

    run_id: str
    judge: str
    task: str
    question: str
    """Digest of instruction, rubric and scale."""
    written: str
    """When, ISO 8601 in UTC."""
    labels: tuple[Correction, ...] = field()


def find_corrections(docket: Docket, rulings: Mapping[str, Mapping[CourtCase, Ruling]]) -> Corrections:
    """Return the labels that all who ruled on them, two or more, replace by the same other one.

    Raises:
        JrhError: there is no such label.
    """
    labels = []
    for case in docket.cases:
        given = {name: of_referee[case] for name, of_referee in rulings.items() if case in of_referee}
        right = {case.defensible(ruling) for ruling in given.values()}
        label = next((label for label in case.shown if label != case.label and right == {(label,)}), None)
        if label is not None and len(given) >= _FEWEST:
            said = {name: ruling.value for name, ruling in given.items()}
            labels.append(Correction(item=case.item, was=case.label, label=label, content=case.content, rulings=said))
    if not labels:
        raise JrhError("no label is corrected: on no case do all who ruled, two or more, name the same other label")
    return Corrections(
        run_id=docket.run_id,
        judge=docket.judge,
        task=docket.task,
        question=docket.question,
        written=datetime.now(UTC).isoformat(timespec="seconds"),
        labels=tuple(labels),
    )


def write_corrections(found: Corrections, path: Path) -> None:
    """Write a new file of corrections.

    Raises:
        JrhError: the file is there, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(plain_value(found), indent=1) + "\n")
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}; name a new file") from None


def read_corrections(path: Path) -> Corrections:
    """Read a file of corrections.

    Raises:
        JrhError: it cannot be read, or is not what jrh wrote.
    """
    try:
        found = read_value(read_values(path), Corrections)
    except JrhError as error:
        raise JrhError(f"corrected_by: {path}: {error}") from None
    known = {ruling.value for ruling in Ruling}
    for row in found.labels:
        if row.was == row.label or len(row.rulings) < _FEWEST or not known.issuperset(row.rulings.values()):
            raise JrhError(f"corrected_by: {path}: the correction of item '{clean_text(row.item)}' has no two rulings")
    if len({row.item for row in found.labels}) < len(found.labels):
        raise JrhError(f"corrected_by: {path}: an item is corrected twice")
    return found


class CorrectedLabels(Stage):
    """Replaces labels that referees found wrong."""

    def label(self, items: Sequence[Item], task: Task, options: CorrectedBy) -> Iterable[Item]:
        """Return the items with their corrected labels."""
        return _correct_items(items, task, read_corrections(options.corrected_by), options.corrected_by)

    def applies(self, work: StageWork) -> bool:
        """Return whether labels of a task are corrected, or were."""
        return bool(_files_by_task(work.builder.resolved)) or work.store.meta(_NOTES) is not None

    async def run(self, work: StageWork) -> StageOutcome:
        """Note which labels count, for every report."""
        notes = []
        for name, path in _files_by_task(work.builder.resolved).items():
            found = read_corrections(path)
            known = {item.id for item in work.items[name]}
            number = sum(correction.item in known for correction in found.labels)
            referees = sorted({referee for correction in found.labels for referee in correction.rulings})
            people = ", ".join(clean_text(referee, 60) for referee in referees)
            verb = "is" if number == 1 else "are"
            notes.append(f"Task '{name}': {count_noun(number, 'label')} {verb} as corrected by {people} ({path.name}).")
        text = json.dumps(notes)
        # A resumed run writes nothing where nothing changed.
        if work.store.meta(_NOTES) != text:
            work.store.set_meta(_NOTES, text)
        return StageOutcome()

    def report(self, report: RunReport, work: StageWork) -> RunReport:
        """Say which tasks have corrected labels."""
        notes = json.loads(work.store.meta(_NOTES) or "[]")
        return evolve(report, notes=(*report.notes, *notes)) if notes else report


def _files_by_task(resolved: Any) -> Mapping[str, Path]:
    """Return the file of corrections of each task that has one."""
    return {
        use.task.name: use.data.stages[NAME].corrected_by for use in resolved.suite.tasks if NAME in use.data.stages
    }


def _correct_items(items: Sequence[Item], task: Task, found: Corrections, path: Path) -> Iterator[Item]:
    if found.question != question_of(task):
        raise JrhError(
            f"{path}: the corrections were made under another instruction, rubric or scale than '{task.name}'"
        )
    corrections = {correction.item: correction for correction in found.labels}
    for item in items:
        correction = corrections.get(item.id)
        if correction is None:
            yield item
            continue
        # Other texts or another label were never ruled on: the file belongs to other data.
        if content_of(item) != correction.content or item.gold not in (correction.was, correction.label):
            raise JrhError(
                f"{path}: the correction of item '{clean_text(item.id)}' (from '{clean_text(correction.was)}' to "
                f"'{clean_text(correction.label)}') was made for other texts, or for another label than "
                f"'{clean_text(str(item.gold))}'"
            )
        if correction.label not in task.scale:
            raise JrhError(
                f"{path}: '{clean_text(correction.label)}' is not on the scale {', '.join(task.scale.labels)}"
            )
        yield evolve(item, gold=correction.label, gold_source=GoldSource(kind=GoldKind.PEOPLE).text)
