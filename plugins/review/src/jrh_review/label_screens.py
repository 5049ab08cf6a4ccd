"""The screens of one labeller as a page shows them, and the keys of the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import define, field
from jrh import Case
from jrh.text import visible_line, visible_text
from jrh_measuring import compare_questions
from starlette.requests import Request

from jrh_review.labelling import LabelDesk, LabelScreen
from jrh_review.people import People
from jrh_review.person_labels import LabelAction, PersonLabel

TEXT: Final = 200_000
"""Characters shown of a text: who judges an item must be able to see all of it."""
PARTS: Final = 40
_RESERVED: Final = "jksu?"
_KEYS: Final = "123456789" + "0" + "abcdefghilmnopqrtvwxyz"


@define
class Labelling:
    """Items that people label on this server."""

    suite: str
    desk: LabelDesk
    people: People
    _screens: dict[str, tuple[LabelScreen, ...]] = field(factory=dict, init=False, repr=False)

    def screens(self, name: str) -> tuple[LabelScreen, ...]:
        """Return what a person is shown."""
        if name not in self._screens:
            self._screens[name] = self.desk.screens(name)
        return self._screens[name]

    def states(self, name: str) -> list[str]:
        """Return what a person did on every screen."""
        own = {each.key: each for each in self.desk.labels()}
        keys = ((name, each.task.name, each.item.id, each.again) for each in self.screens(name))
        return [state(own.get(key)) for key in keys]


def labelling(request: Request) -> Labelling:
    """Return what is labelled here."""
    found: Labelling = request.app.state.labelling
    return found


def state(label: PersonLabel | None) -> str:
    """Return `label`, `skip`, or nothing."""
    return "" if label is None else label.action.value


def keys_of(labels: Sequence[str]) -> Mapping[str, str]:
    """Give every label a key: its own character if it is one, otherwise the next free digit or letter.

    The keys of the page itself are never given; labels beyond the keys have a button only.
    """
    own = {label: label.casefold() for label in labels if len(label) == 1 and label.casefold() in _KEYS}
    given = {label: key for label, key in own.items() if list(own.values()).count(key) == 1}
    free = [key for key in _KEYS if key not in given.values() and key not in _RESERVED]
    rest = [label for label in labels if label not in given]
    return {**given, **dict(zip(rest, free, strict=False))}


def as_case(screen: LabelScreen) -> Case:
    """Return the question of a screen, without what names its item."""
    fields, label_map = dict(screen.fields), dict(screen.label_map)
    return Case(id="", task=screen.task.name, test="", item_id="", fields=fields, expectation=None, label_map=label_map)


def shown_screen(desk: LabelDesk, screen: LabelScreen, labeller: str) -> dict[str, Any]:
    """Return a screen: texts, question and choices. No id, gold label, metadata or other person's label is part of it.

    Everything but the labels that are sent back is made visible here.
    """
    task, case = screen.task, as_case(screen)
    key = labeller, task.name, screen.item.id, screen.again
    own = next((each for each in desk.labels() if each.key == key), None)
    chosen = ""
    if own is not None and own.action is LabelAction.LABEL:
        chosen = next((shown for shown, meant in screen.label_map.items() if meant == own.label), "")
    given = keys_of(list(screen.label_map))
    return {
        "task": visible_line(task.name),
        "instruction": visible_text(task.instruction, TEXT),
        "rubric": visible_text(task.rubric, TEXT),
        "parts": [[name, text] for name, text in compare_questions(case, case, limit=TEXT, most=PARTS).context],
        "labels": [[label, visible_line(label), given.get(label, "")] for label in screen.label_map],
        "own": chosen,
        "state": state(own),
        "version": desk.version(labeller, screen),
    }
