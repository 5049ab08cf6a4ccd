"""The start page with the runs; a run with its findings and heat maps; and two runs side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jrh import JrhError, Measure
from jrh.running import Summary, open_store
from jrh.values import Finding
from jrh_measuring import read_findings, shown_flags
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from jrh_review.addresses import Address, View
from jrh_review.listed_cases import CaseFilter
from jrh_review.pages.rendering import page
from jrh_review.runs import last_write
from jrh_review.stored_runs import (
    Cells,
    Lens,
    Overview,
    State,
    available_lenses,
    case_list_id,
    choose_lens,
    heat_cells,
    run_outline,
    run_progress,
    run_state,
)


def read(request: Request) -> Response:
    """Show a run."""
    name = request.path_params["run"]
    path = request.app.state.runs.path(name)
    measured = request.app.state.measured
    with open_store(path) as store:
        state, outline = run_state(store, path), run_outline(store)
        findings = measured.findings(store, path) if outline else None
        task = choose_task(_task_names(outline), request.query_params.get("task", ""))
        measures = measured.measures(store, path, task) if findings else ()
        listed = bool(case_list_id(store))
        progress = run_progress(store) if state.under_way else None
    overview = measured.overview(path) if findings else Overview()
    lens = choose_lens(request.query_params.get("lens", ""), measures)
    cells = heat_cells(measures, lens) if lens else {}
    flags = sorted({flag for measure in cells.values() for flag in shown_flags(measure)})
    meanings = {flag.name: flag.meaning for flag in outline.flags} if outline else {}
    return page(
        request, "run.html.j2", run=name, state=state, outline=outline, progress=progress,
        findings=_by_judge(outline, findings.findings) if outline and findings else None,
        family=findings.family if findings else None, overview=overview, task=task, lens=lens,
        lenses=available_lenses(measures), cells=cells, flags={flag: meanings.get(flag, "") for flag in flags},
        tests=[test for test in outline.tests if any(test == key[1] for key in cells)] if outline else [],
        listed=listed, cases=cell_links(name), view=View(run=name),
    )  # fmt: skip


def read_page(request: Request) -> Response:
    """Show a page that the run's report is, without the rights of the workbench."""
    path = request.app.state.runs.path(request.path_params["run"])
    pages = {page.name: page for page in request.app.state.measured.overview(path).pages}
    wanted = pages.get(request.path_params["page"])
    if wanted is None:
        raise HTTPException(404, "This run has no such page.")
    # Anything may have written the file: in a sandbox its scripts can neither read nor send anything from here.
    # Read whole: the middleware hands on what it is given, and no file.
    return HTMLResponse(wanted.read_bytes(), headers={"content-security-policy": "sandbox allow-scripts allow-popups"})


def _task_names(outline: Summary | None) -> list[str]:
    return [summary.task.name for summary in outline.tasks] if outline else []


def choose_task(names: Sequence[str], wanted: str) -> str:
    """Return the task that is asked for, or the first."""
    return wanted if wanted in names else (names[0] if names else "")


def _by_judge(outline: Summary, findings: tuple[Finding, ...]) -> dict[str, list[Finding]]:
    """Sort findings by judge, in the suite's order; those about the data, under an empty name, come last."""
    groups = {judge: [finding for finding in findings if finding.judge == judge] for judge in (*outline.judges, "")}
    return {judge: group for judge, group in groups.items() if judge or group}


def cell_links(run: str) -> Callable[..., Address]:
    """Return a function that makes the address of a cell's cases, those that make it bad first."""

    def link(*, task: str, judge: str, test: str, lens: Lens | None = None) -> Address:
        view = View(run=run, wanted=CaseFilter(task=task, judge=judge, test=test))
        return (view.in_order(lens.order) if lens else view).address()

    return link


def compare(request: Request) -> Response:
    """Show two runs, or the choice of them."""
    query = request.query_params
    names = list(request.app.state.runs.scan())
    a, b = query.get("a", ""), query.get("b", "")
    if a not in names or b not in names:
        unknown = [name for name in (a, b) if name and name not in names]
        return page(
            request, "choose.html.j2", names=names, a=a, b=b or (names[1] if len(names) > 1 else ""), unknown=unknown
        )
    (measures_a, outline_a), (measures_b, outline_b) = (_open(request, name) for name in (a, b))
    tasks = [name for name in measures_a if name in measures_b]
    task = choose_task(tasks, query.get("task", ""))
    of_a, of_b = measures_a.get(task, ()), measures_b.get(task, ())
    lens = choose_lens(query.get("lens", ""), of_a)
    outlines = [outline for outline in (outline_a, outline_b) if outline]
    return page(
        request, "compare.html.j2", a=a, b=b, tasks=tasks, task=task, lens=lens, lenses=available_lenses(of_a),
        pairs=_pairs(outlines, heat_cells(of_a, lens), heat_cells(of_b, lens)) if lens else {},
        links=(cell_links(a), cell_links(b)), simulated=frozenset().union(*(outline.simulated for outline in outlines)),
    )  # fmt: skip


def _open(request: Request, name: str) -> tuple[dict[str, tuple[Measure, ...]], Summary | None]:
    path, measured = request.app.state.runs.path(name), request.app.state.measured
    with open_store(path) as store:
        outline = run_outline(store)
        return {task: measured.measures(store, path, task) for task in _task_names(outline)}, outline


def _pairs(
    outlines: Iterable[Summary], first: Cells, second: Cells
) -> dict[tuple[str, str], tuple[Measure | None, Measure | None]]:
    """Return every cell that a run has, by judge and test, in the order of the first run."""
    judges = dict.fromkeys(judge for outline in outlines for judge in outline.judges)
    tests = dict.fromkeys(test for outline in outlines for test in outline.tests)
    places = ((judge, test) for judge in judges for test in tests)
    return {place: (first.get(place), second.get(place)) for place in places if place in first or place in second}


LISTED: Final = 50
"""Runs on one page."""


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
    # The start page polls, so only the runs that it lists are opened.
    wanted = {name: runs.path(name)} if name is not None else dict(list(runs.scan().items())[:LISTED])
    states = {name: _progress(path) for name, path in wanted.items()}
    return JSONResponse({name: state for name, state in states.items() if state is not None})


def _line(name: str, path: Path) -> dict[str, Any]:
    """Return what the list shows of a run; a run that cannot be read has its problem instead."""
    try:
        with open_store(path) as store:
            state, recorded = run_state(store, path), read_findings(store)
            shown = {"outline": run_outline(store), "progress": run_progress(store) if state.under_way else None}
    except JrhError as error:
        return {"name": name, "state": State(word="not readable", kind="bad"), "problem": str(error)}
    findings = [finding for finding in recorded.findings if finding.judge] if recorded else []
    return {**shown, "name": name, "state": state, "findings": findings, "measured": recorded is not None}


def _progress(path: Path) -> Mapping[str, Any] | None:
    try:
        with open_store(path) as store:
            state = run_state(store, path)
            if not state.under_way:
                return {"ended": True, "state": state.word}
            progress = run_progress(store)
    except JrhError:
        return None
    return {"ended": False, "state": state.word, **progress, "quiet": max(0, round(time.time() - last_write(path)))}


ROUTES = (
    Route("/run/{run}", read, methods=["GET"]),
    Route("/run/{run}/report/{page}", read_page, methods=["GET"]),
    Route("/compare", compare, methods=["GET"]),
    Route("/", read_runs, methods=["GET"]),
    Route("/progress.json", progress, methods=["GET"]),
    Route("/run/{run}/progress.json", progress, methods=["GET"]),
)
