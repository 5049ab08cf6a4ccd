"""A run: what was found, then the heat map of one task at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import frozen
from jrh.running import Summary, open_store
from jrh.values import Finding
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jrh_review.addresses import Address
from jrh_review.filters import View
from jrh_review.lenses import LENSES, Lens, cells_of, lens_of
from jrh_review.listed_cases import CaseFilter
from jrh_review.pages.rendering import page
from jrh_review.stored_runs import case_list_id, outline_of, progress_of, state_of


@frozen(kw_only=True)
class Told:
    """What was found about one judge, or about the data."""

    judge: str
    """Empty: the data and the tests."""
    findings: tuple[Finding, ...]


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
        told=_told(outline, found.findings) if outline and found else None,
        family=found.family if found else None,
        task=task,
        lens=lens,
        lenses=[each for each in LENSES if any(measure.name == each.key for measure in measures)],
        cells=cells,
        flags=_flags(outline, sorted({flag for cell in cells.values() for flag in cell.flags})),
        tests=[test for test in outline.tests if any(test == each for _, each in cells)] if outline else [],
        listed=listed,
        cases=cell_links(name),
        view=View(run=name),
    )


def chosen_task(outline: Summary | None, wanted: str) -> str:
    """Return the task that is asked for, or the first."""
    names = [each.task.name for each in outline.tasks] if outline else []
    return wanted if wanted in names else (names[0] if names else "")


def _told(outline: Summary, findings: tuple[Finding, ...]) -> tuple[Told, ...]:
    """Sort findings by judge, in the suite's order; those about the data come last."""
    return tuple(
        Told(judge=judge, findings=tuple(each for each in findings if each.judge == judge))
        for judge in (*outline.judges, "")
        if judge or any(not each.judge for each in findings)
    )


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


ROUTES = (Route("/run/{run}", read, methods=["GET"]),)
