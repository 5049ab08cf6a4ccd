"""Label: one item a screen, blind, and the labels of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from statistics import median
from typing import Any, Final
from urllib.parse import parse_qs

from jrh import JrhError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from jrh_review.label_screens import Labelling, labelling, shown_screen, state
from jrh_review.labelling import StaleLabelError
from jrh_review.pages.rendering import page
from jrh_review.person_labels import LabelAction

_NO_NAME: Final = "Choose who you are first: open the page Label."
_LONGEST: Final = 3_600.0
"""Seconds that count of an item's time in sight: a lunch is none of it."""
_LAST: Final = 20
"""Labels from whose times the time left is estimated."""


def start(request: Request) -> Response:  # noqa: ARG001 - the signature is Starlette's
    """Go on to the page, which is the only one."""
    return RedirectResponse("/label", status_code=303)


def read(request: Request) -> Response:
    """Show the screen that the script fills, or ask who labels here."""
    here = labelling(request)
    name = here.people.name(request)
    if not name:
        return page(request, "labeller.html.j2", suite=here.suite, names=here.people.names)
    return page(request, "label.html.j2", suite=here.suite, labeller=name, repeats=here.desk.settings.repeats)


async def choose(request: Request) -> Response:
    """Note who labels in this browser."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    if not labelling(request).people.choose(request, form.get("labeller", [""])[0]):
        return _json({"message": "This browser already labels under another name, or the name is unknown."}, 409)
    return RedirectResponse("/label", status_code=303)


def queue(request: Request) -> Response:
    """Return what this person did on every screen, and how long one takes them."""
    here = labelling(request)
    name = here.people.name(request)
    if not name:
        return _json({"message": _NO_NAME}, 403)
    return _json({"states": here.states(name), "seconds": _pace(here, name)})


def item(request: Request) -> Response:
    """Return one screen."""
    here = labelling(request)
    name = here.people.name(request)
    if not name:
        return _json({"message": _NO_NAME}, 403)
    screens, place = here.screens(name), request.query_params.get("place", "")
    if not place.isdecimal() or len(place) > 9 or int(place) >= len(screens):  # noqa: PLR2004
        return _json({"message": "There is no such item."}, 404)
    return _json(shown_screen(here.desk, screens[int(place)], name))


async def decide(request: Request) -> Response:
    """Save a label: the answer is given after it is on the disk."""
    here = labelling(request)
    name = here.people.name(request)
    if not name:
        return _json({"message": _NO_NAME}, 403)
    try:
        sent = json.loads(await request.body())
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        return _json({"message": "A label is sent as JSON."}, 400)
    return await run_in_threadpool(_decide, here, name, sent)


def _decide(here: Labelling, name: str, sent: Mapping[str, Any]) -> Response:
    place, version, label, seconds = (sent.get(key) for key in ("place", "version", "label", "seconds"))
    action = next((each for each in LabelAction if each.value == sent.get("action")), None)
    screens = here.screens(name)
    if type(place) is not int or not 0 <= place < len(screens):
        return _json({"message": "There is no such item."}, 404)
    known = type(version) is int and (label is None or isinstance(label, str)) and action is not None
    if not known or action is None or not isinstance(version, int):
        return _json({"message": "The label is malformed."}, 400)
    timed = isinstance(seconds, int | float) and not isinstance(seconds, bool) and isfinite(seconds) and seconds > 0
    shown = round(min(float(seconds), _LONGEST), 1) if timed and seconds is not None else None
    try:
        row = here.desk.decide(name, screens[place], action, label=label or "", version=version, seconds=shown)
    except StaleLabelError as error:
        return _json({"message": str(error)}, 409)
    except JrhError as error:
        return _json({"message": str(error)}, 400)
    return _json({"saved": True, "version": row.number, "state": "" if action is LabelAction.UNDO else state(row)})


def _pace(here: Labelling, name: str) -> float | None:
    times = [each for each in here.desk.labels() if each.labeller == name and each.seconds is not None]
    last = sorted(times, key=lambda each: each.number)[-_LAST:]
    return median(each.seconds or 0.0 for each in last) if last else None


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    """Answer in ASCII, which holds any text, lone surrogates too."""
    return Response(json.dumps(value), status_code=status, media_type="application/json")


ROUTES = (
    Route("/", start, methods=["GET"]),
    Route("/label", read, methods=["GET"]),
    Route("/label/who", choose, methods=["POST"]),
    Route("/label/queue.json", queue, methods=["GET"]),
    Route("/label/item.json", item, methods=["GET"]),
    Route("/label/decide", decide, methods=["POST"]),
)
