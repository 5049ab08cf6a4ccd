"""The start page: the runs, newest first, each with what was found."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh import JrhError
from jrh.running import Summary, open_store, recall_findings
from jrh.values import Finding
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jrh_review.pages.rendering import page
from jrh_review.runs import written
from jrh_review.stored_runs import RunProgress, State, outline_of, progress_of, state_of

LISTED: Final = 50
"""Runs on one page."""
FINDINGS: Final = 3
"""Findings of each run that are in sight."""


@frozen(kw_only=True)
class Line:
    """One run."""

    name: str
    state: State
    outline: Summary | None = None
    findings: tuple[Finding, ...] = ()
    """The worst."""
    more: int = 0
    measured: bool = False
    progress: RunProgress | None = None
    """Of a run under way."""
    problem: str = ""
    """Why it cannot be read."""


def read(request: Request) -> Response:
    """Show the runs, a page of them at a time."""
    runs = request.app.state.runs.scan()
    names = list(runs)
    place = request.query_params.get("from", "0")
    start = int(place) if place.isascii() and place.isdigit() else 0
    shown = names[start : start + LISTED]
    lines = [_line(name, runs[name]) for name in shown]
    following = start + LISTED if start + LISTED < len(names) else 0
    return page(request, "start.html.j2", lines=lines, total=len(names), start=start, following=following)


def progress(request: Request) -> Response:
    """Return how far the runs are that have not ended, for the script that keeps the page current."""
    runs = request.app.state.runs
    name = request.path_params.get("run")
    wanted = {name: runs.path(name)} if name is not None else dict(list(runs.scan().items())[:LISTED])
    return JSONResponse({name: each for name, path in wanted.items() if (each := _progress(path)) is not None})


def _line(name: str, path: Path) -> Line:
    try:
        with open_store(path) as store:
            state, outline, found = state_of(store, path), outline_of(store), recall_findings(store)
            under_way = progress_of(store) if state.under_way else None
    except JrhError as error:
        return Line(name=name, state=State(word="not readable", kind="bad"), problem=str(error))
    told = [each for each in found.findings if each.judge] if found else []
    return Line(
        name=name,
        state=state,
        outline=outline,
        findings=tuple(told[:FINDINGS]),
        more=len(told[FINDINGS:]),
        measured=found is not None,
        progress=under_way,
    )


def _progress(path: Path) -> Mapping[str, Any] | None:
    try:
        with open_store(path) as store:
            state = state_of(store, path)
            if not state.under_way:
                return {"ended": True, "state": state.word}
            now = progress_of(store)
    except JrhError:
        return None
    return {
        "ended": False,
        "state": state.word,
        "done": now.done,
        "planned": now.planned,
        "failures": sum(line.attempts for line in now.faults),
        "calls": now.spent.calls,
        "paid": round(now.spent.paid, 4),
        "unpriced": now.spent.unpriced,
        "quiet": max(0, round(time.time() - written(path))),
    }


ROUTES = (
    Route("/", read, methods=["GET"]),
    Route("/progress.json", progress, methods=["GET"]),
    Route("/run/{run}/progress.json", progress, methods=["GET"]),
)
