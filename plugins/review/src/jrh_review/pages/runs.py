"""The start page with the runs; a run with its findings and heat maps; and two runs side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh import JrhError, Measure
from jrh.running import Summary, open_store
from jrh.values import Finding
from jrh_measuring import recorded_findings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jrh_review.addresses import Address, View
from jrh_review.listed_cases import CaseFilter
from jrh_review.pages.rendering import page
from jrh_review.runs import written
from jrh_review.stored_runs import (
    Cells,
    Lens,
    RunProgress,
    State,
    case_list_id,
    cells_of,
    lens_of,
    lenses_of,
    outline_of,
    progress_of,
    state_of,
)


def read(request: Request) -> Response:
    """Show a run."""
    name = request.path_params["run"]
    path = request.app.state.runs.path(name)
    measured = request.app.state.measured
    with open_store(path) as store:
        state, outline = state_of(store, path), outline_of(store)
        found = measured.findings(store, path) if outline else None
        task = chosen_task(outline, request.query_params.get("task", ""))
        measures = measured.measures(store, path, task) if found else ()
        listed = bool(case_list_id(store))
        progress = progress_of(store) if state.under_way else None
    lens = lens_of(request.query_params.get("lens", ""), measures)
    cells = cells_of(measures, lens) if lens else {}
    return page(
        request,
        "run.html.j2",
        run=name,
        state=state,
        outline=outline,
        progress=progress,
        told=_by_judge(outline, found.findings) if outline and found else None,
        family=found.family if found else None,
        task=task,
        lens=lens,
        lenses=lenses_of(measures),
        cells=cells,
        flags=_flags(outline, sorted({flag for cell in cells.values() for flag in cell["flags"]})),
        tests=[test for test in outline.tests if any(test == each for _, each in cells)] if outline else [],
        listed=listed,
        cases=cell_links(name),
        view=View(run=name),
    )


def chosen_task(outline: Summary | None, wanted: str) -> str:
    """Return the task that is asked for, or the first."""
    names = [each.task.name for each in outline.tasks] if outline else []
    return wanted if wanted in names else (names[0] if names else "")


def _by_judge(outline: Summary, findings: tuple[Finding, ...]) -> dict[str, list[Finding]]:
    """Sort findings by judge, in the suite's order; those about the data, under an empty name, come last."""
    found = {judge: [each for each in findings if each.judge == judge] for judge in (*outline.judges, "")}
    return {judge: own for judge, own in found.items() if judge or own}


def _flags(outline: Summary | None, names: Iterable[str]) -> dict[str, str]:
    """Return what flags mean, by name; empty where the run declares none of that name."""
    known = {flag.name: flag.meaning for flag in outline.flags} if outline else {}
    return {name: known.get(name, "") for name in names}


def cell_links(run: str) -> Callable[..., Address]:
    """Return a function that makes the address of a cell's cases, those that make it bad first."""

    def link(*, task: str, judge: str, test: str, lens: Lens | None = None) -> Address:
        view = View(run=run, wanted=CaseFilter(task=task, judge=judge, test=test))
        return (view.sorted_by(lens.order) if lens else view).address()

    return link


def compare(request: Request) -> Response:
    """Show two runs, or the choice of them."""
    asked = request.query_params
    names = list(request.app.state.runs.scan())
    a, b = asked.get("a", ""), asked.get("b", "")
    if a not in names or b not in names:
        unknown = [name for name in (a, b) if name and name not in names]
        return page(
            request, "choose.html.j2", names=names, a=a, b=b or (names[1] if len(names) > 1 else ""), unknown=unknown
        )
    (one, ours), (other, theirs) = (_open(request, name) for name in (a, b))
    tasks = [name for name in one if name in other]
    task = asked.get("task", "") if asked.get("task", "") in tasks else (tasks[0] if tasks else "")
    mine, yours = one.get(task, ()), other.get(task, ())
    lens = lens_of(asked.get("lens", ""), mine)
    return page(
        request,
        "compare.html.j2",
        a=a,
        b=b,
        tasks=tasks,
        task=task,
        lens=lens,
        lenses=lenses_of(mine),
        pairs=_pairs(ours, theirs, cells_of(mine, lens), cells_of(yours, lens)) if lens else {},
        links=(cell_links(a), cell_links(b)),
        simulated=frozenset().union(*(outline.simulated for outline in (ours, theirs) if outline)),
    )


def _open(request: Request, name: str) -> tuple[dict[str, tuple[Measure, ...]], Summary | None]:
    path, measured = request.app.state.runs.path(name), request.app.state.measured
    with open_store(path) as store:
        outline = outline_of(store)
        names = [each.task.name for each in outline.tasks] if outline else []
        return {task: measured.measures(store, path, task) for task in names}, outline


def _pairs(
    ours: Summary | None, theirs: Summary | None, first: Cells, second: Cells
) -> dict[tuple[str, str], tuple[Mapping[str, Any] | None, ...]]:
    """Return every cell that a run has, by judge and test, in the order of the first run."""
    known = [outline for outline in (ours, theirs) if outline]
    judges = dict.fromkeys(judge for outline in known for judge in outline.judges)
    tests = dict.fromkeys(test for outline in known for test in outline.tests)
    places = ((judge, test) for judge in judges for test in tests)
    return {place: (first.get(place), second.get(place)) for place in places if place in first or place in second}


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


def read_runs(request: Request) -> Response:
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
            state, outline, found = state_of(store, path), outline_of(store), recorded_findings(store)
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
    Route("/run/{run}", read, methods=["GET"]),
    Route("/compare", compare, methods=["GET"]),
    Route("/", read_runs, methods=["GET"]),
    Route("/progress.json", progress, methods=["GET"]),
    Route("/run/{run}/progress.json", progress, methods=["GET"]),
)
