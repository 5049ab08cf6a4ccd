"""Label a suite's items: what every person is shown, and the labels; one is durable before a page says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from attrs import evolve, field, frozen
from jrh import Case, Item, JrhError, Json, Mode, Task, derive_seed
from jrh.hashing import shuffled
from jrh.values import option_field

from jrh_review.decisions import StaleError
from jrh_review.person_labels import (
    LabelAction,
    LabelSettings,
    LabelsLog,
    PersonLabel,
    fields_to_label,
    item_content,
    labels_that_count,
    read_labels,
)


@frozen(kw_only=True)
class LabelScreen:
    """One item as one person sees it."""

    task: Task
    item: Item
    again: bool = False
    """Whether it repeats an item; the page does not say so."""
    order: tuple[str, ...] = ()
    """The options of a comparison in the order shown."""

    @property
    def fields(self) -> Mapping[str, Json]:
        """Return the item's texts, the options of a comparison in the order shown."""
        if not self.order:
            return fields_to_label(self.item)
        names = {option: option_field(place) for place, option in enumerate(self.task.scale.options)}
        fields = self.item.fields
        moved = {names[shown]: fields[names[label]] for shown, label in self.label_map.items() if shown in names}
        return {name: moved.get(name, value) for name, value in self.item.fields.items()}

    @property
    def label_map(self) -> Mapping[str, str]:
        """Return the label shown -> the canonical one."""
        scale = self.task.scale
        if not self.order:
            return scale.identity_map()
        return dict(zip(scale.options, self.order, strict=True)) | ({scale.tie: scale.tie} if scale.tie else {})

    @property
    def case(self) -> Case:
        """Return the question, without what names its item."""
        fields, label_map = dict(self.fields), dict(self.label_map)
        return Case(id="", task=self.task.name, test="", item_id="", fields=fields, label_map=label_map)

    def as_shown(self, label: PersonLabel | None) -> str:
        """Return a label as this screen shows it; empty without one."""
        if label is None or label.action is not LabelAction.LABEL:
            return ""
        return next((shown for shown, meant in self.label_map.items() if meant == label.label), "")


class ScreenDecision(NamedTuple):
    """What a person did on a screen."""

    labeller: str
    screen: LabelScreen
    action: LabelAction
    label: str
    """As shown, for a label."""
    version: int
    """`LabelDesk.version` of what the person saw."""
    seconds: float | None = None
    """How long the item was in sight."""


@frozen(kw_only=True)
class LabelDesk:
    """A file of labels that is open, with the items of its suite."""

    settings: LabelSettings
    _log: LabelsLog
    _tasks: list[tuple[Task, tuple[Item, ...]]] = field(factory=list)
    _rows: list[PersonLabel] = field(factory=list)
    _lock: Lock = field(factory=Lock)

    @property
    def tasks(self) -> tuple[tuple[Task, tuple[Item, ...]], ...]:
        """Return the tasks and their items."""
        return tuple(self._tasks)

    def read(self, tasks: Sequence[tuple[Task, Sequence[Item]]]) -> None:
        """Note the tasks of the suite and their items. The file is there by then, so the suite may name it."""
        self._tasks[:] = [(task, tuple(items)) for task, items in tasks]

    def screens(self, labeller: str) -> tuple[LabelScreen, ...]:
        """Return what a person is shown: task by task, in an order of their own, with the hidden repeats.

        The repeats are drawn from the first half of the items and shown half a round later or more, so that the first
        answer is not still in mind.
        """
        return tuple(screen for task, items in self._tasks for screen in self._of_task(labeller, task, items))

    def _of_task(self, labeller: str, task: Task, items: Sequence[Item]) -> Iterator[LabelScreen]:
        seed = self.settings.seed
        ordered = shuffled(items, derive_seed(seed, "label", labeller, task.name))
        half = len(ordered) // 2
        repeated = shuffled(range(half), derive_seed(seed, "repeat", labeller, task.name))
        repeated = repeated[: round(self.settings.repeats * len(ordered))]
        # A repeat goes anywhere from half a round after its item to the end.
        later: dict[int, list[int]] = {}
        for place in repeated:
            # Seeded by place, so that the same person sees the same order after a restart.
            due = place + half + derive_seed(seed, "late", labeller, task.name, place) % (half + 1)
            later.setdefault(min(due, len(ordered) - 1), []).append(place)
        for place, item in enumerate(ordered):
            yield self._screen(labeller, task, item, again=False)
            for earlier in later.get(place, ()):
                yield self._screen(labeller, task, ordered[earlier], again=True)

    def _screen(self, labeller: str, task: Task, item: Item, *, again: bool) -> LabelScreen:
        order: tuple[str, ...] = ()
        if task.mode is Mode.PAIRWISE:
            draw = derive_seed(self.settings.seed, "order", labeller, task.name, item.id, again)
            order = tuple(shuffled(task.scale.options, draw))
        return LabelScreen(task=task, item=item, again=again, order=order)

    def labels(self) -> tuple[PersonLabel, ...]:
        """Return the labels that count, of texts as they are now."""
        known = {(task.name, item.id): item_content(item) for task, items in self.tasks for item in items}
        with self._lock:
            rows = list(self._rows)
        return tuple(
            row for row in labels_that_count(rows).values() if known.get((row.task, row.item_id)) == row.content
        )

    def version(self, labeller: str, screen: LabelScreen) -> int:
        """Return the number of the last row about a person's screen; 0 without one."""
        key = labeller, screen.task.name, screen.item.id, screen.again
        return max((row.number for row in self._rows if row.key == key), default=0)

    def decide(self, decisions: Sequence[ScreenDecision]) -> tuple[PersonLabel, ...]:
        """Add labels durably, all or none.

        Raises:
            StaleError: there is a later row about a screen.
            JrhError: a label is not on the scale, or they cannot be stored.
        """
        with self._lock:
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            rows = []
            for labeller, screen, action, label, version, seconds in decisions:
                # Two windows of the same person: the second would overwrite a label that it never showed.
                if self.version(labeller, screen) != version:
                    raise StaleError("You have since labelled this item in another window. Load it again.")
                if (action is LabelAction.LABEL) != (label in screen.label_map):
                    raise JrhError("The label is not one of the choices.")
                rows.append(
                    PersonLabel(
                        task=screen.task.name,
                        item_id=screen.item.id,
                        content=item_content(screen.item),
                        labeller=labeller,
                        again=screen.again,
                        action=action,
                        label=screen.label_map[label] if action is LabelAction.LABEL else "",
                        order="".join(screen.order),
                        seconds=seconds,
                        made=time,
                    )
                )
            # On disk before it is in memory: a page that shows a label can rely on it.
            self._log.add(rows)
            first = len(self._rows) + 1
            numbered = [evolve(row, number=first + place) for place, row in enumerate(rows)]
            self._rows.extend(numbered)
            return tuple(numbered)


@contextmanager
def label_desk(path: Path, settings: LabelSettings | None = None) -> Iterator[LabelDesk]:
    """Open a file of labels, or make one; `LabelDesk.read` tells it the items.

    Args:
        path: the file.
        settings: seed and share of repeats; None: those of the file, or the usual ones.

    Raises:
        JrhError: the file is in use or damaged, or has labels that were made with other settings.
    """
    # Locked before it is read: what another process adds in between would be missed.
    log = LabelsLog.open(path)
    try:
        stored, rows = read_labels(path) if path.is_file() else (None, ())
        if stored is not None and settings not in (None, stored) and rows:
            raise JrhError(
                f"'{path}' already has labels, so its seed ({stored.seed}) and share of repeats ({stored.repeats:g}) "
                "cannot change; leave out --seed and --repeats to continue with it"
            )
        used = settings or stored or LabelSettings()
        if used != stored:
            log.start(used)
        yield LabelDesk(settings=used, log=log, rows=list(rows))
    finally:
        log.close()
