"""Label: one item a screen, blind, the keys of the labels, and the labels of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import median
from typing import Any, ClassVar, Final

from attrs import define, field
from jrh import JrhError
from jrh.text import visible_line, visible_text
from jrh_measuring import compare_questions
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from jrh_review.labelling import LabelDesk, LabelScreen, ScreenDecision
from jrh_review.pages.work import NotThereError, Work, work_routes
from jrh_review.person_labels import LabelAction, PersonLabel
from jrh_review.review_cases import PARTS

TEXT: Final = 200_000
"""Characters shown of a text: who judges an item must be able to see all of it."""
_RESERVED: Final = "jksu?"
_KEYS: Final = "123456789" + "0" + "abcdefghilmnopqrtvwxyz"
_LONGEST: Final = 3_600.0
"""Seconds that count of an item's time in sight: a lunch is none of it."""
_LAST: Final = 20
"""Labels from whose times the time left is estimated."""


@define(kw_only=True)
class Labelling(Work):
    """Items that people label on this server."""

    page: ClassVar[str] = "label"
    role: ClassVar[str] = "labeller"
    suite: str
    desk: LabelDesk
    _screens: dict[str, tuple[LabelScreen, ...]] = field(factory=dict, init=False, repr=False)

    def screens(self, name: str) -> tuple[LabelScreen, ...]:
        """Return what a person is shown."""
        if name not in self._screens:
            self._screens[name] = self.desk.screens(name)
        return self._screens[name]

    def screen(self, name: str, place: object) -> LabelScreen:
        """Return one screen of a person.

        Raises:
            NotThereError: there is none in this place.
        """
        screens = self.screens(name)
        # `isinstance` would let `true` pass as 1.
        if type(place) is not int or not 0 <= place < len(screens):
            raise NotThereError("There is no such item.")
        return screens[place]

    def states(self, name: str) -> list[str]:
        """Return what a person did on every screen."""
        labels = {label.key: label for label in self.desk.labels()}
        keys = ((name, screen.task.name, screen.item.id, screen.again) for screen in self.screens(name))
        return [state(labels.get(key)) for key in keys]

    def variables(self) -> Mapping[str, Any]:
        """Return the suite, and whether items come twice."""
        return {"suite": self.suite, "repeats": self.desk.settings.repeats}


def state(label: PersonLabel | None) -> str:
    """Return `label`, `skip`, or nothing."""
    return "" if label is None else label.action.value


def keys_of(labels: Sequence[str]) -> Mapping[str, str]:
    """Give every label a key: its own character if it is one, otherwise the next free digit or letter.

    The keys of the page itself are never given; labels beyond the keys have a button only.
    """
    wanted = {label: label.casefold() for label in labels if len(label) == 1 and label.casefold() in _KEYS}
    # Labels that differ in case only would share a key: both get another one.
    keys = {label: key for label, key in wanted.items() if list(wanted.values()).count(key) == 1}
    free = [key for key in _KEYS if key not in keys.values() and key not in _RESERVED]
    further = [label for label in labels if label not in keys]
    return {**keys, **dict(zip(further, free, strict=False))}


def screen_data(desk: LabelDesk, screen: LabelScreen, labeller: str) -> dict[str, Any]:
    """Return a screen: texts, question and choices. No id, gold label, metadata or other person's label is part of it.

    Everything but the labels that are sent back is made visible here.
    """
    task, case = screen.task, screen.case
    key = labeller, task.name, screen.item.id, screen.again
    chosen = next((row for row in desk.labels() if row.key == key), None)
    keys = keys_of(list(screen.label_map))
    return {
        "task": visible_line(task.name),
        "instruction": visible_text(task.instruction, TEXT),
        "rubric": visible_text(task.rubric, TEXT),
        "parts": [[name, text] for name, text in compare_questions(case, case, limit=TEXT, most=PARTS).context],
        "labels": [[label, visible_line(label), keys.get(label, "")] for label in screen.label_map],
        "own": screen.as_shown(chosen),
        "state": state(chosen),
        "version": desk.version(labeller, screen),
    }


def start(request: Request) -> Response:  # noqa: ARG001 - the signature is Starlette's
    """Go on to the page, which is the only one."""
    return RedirectResponse("/label", status_code=303)


def queue(request: Request, here: Labelling, name: str) -> Mapping[str, Any]:  # noqa: ARG001
    """Return what this person did on every screen, and how long one takes them."""
    times = [label for label in here.desk.labels() if label.labeller == name and label.seconds is not None]
    last = [label.seconds or 0.0 for label in sorted(times, key=lambda label: label.number)[-_LAST:]]
    return {"states": here.states(name), "seconds": median(last) if last else None}


def item(request: Request, here: Labelling, name: str) -> Mapping[str, Any]:
    """Return one screen."""
    place = request.query_params.get("place", "")
    known = place.isdecimal() and len(place) <= 9  # noqa: PLR2004 - more digits than any suite has items
    return screen_data(here.desk, here.screen(name, int(place) if known else None), name)


def save(here: Labelling, name: str, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """Save a label: the answer is given after it is on the disk."""
    version, label, seconds = (sent.get(key) for key in ("version", "label", "seconds"))
    action = next((candidate for candidate in LabelAction if candidate.value == sent.get("action")), None)
    screen = here.screen(name, sent.get("place"))
    if type(version) is not int or not isinstance(label, str | None) or action is None:
        raise JrhError("The label is malformed.")
    timed = float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else 0.0
    shown = round(min(timed, _LONGEST), 1) if isfinite(timed) and timed > 0 else None
    (row,) = here.desk.decide([ScreenDecision(name, screen, action, label or "", version, shown)])
    return {"saved": True, "version": row.number, "state": "" if action is LabelAction.UNDO else state(row)}


ROUTES = (Route("/", start, methods=["GET"]), *work_routes(Labelling, queue, ("item", item), save))
