"""Two runs side by side, cell by cell: the measures that each of them stored."""

from __future__ import annotations

from attrs import frozen
from jrh import Measure
from jrh.running import Summary, open_store
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jrh_review.lenses import LENSES, Cell, Cells, cells_of, lens_of
from jrh_review.pages.rendering import page
from jrh_review.pages.run import cell_links
from jrh_review.stored_runs import outline_of


@frozen(kw_only=True)
class Pair:
    """One judge in one test, in both runs."""

    judge: str
    test: str
    first: Cell | None
    second: Cell | None


def read(request: Request) -> Response:
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
        lenses=[each for each in LENSES if any(measure.name == each.key for measure in mine)],
        pairs=_pairs(ours, theirs, cells_of(mine, lens), cells_of(yours, lens)) if lens else [],
        links=(cell_links(a), cell_links(b)),
        simulated=frozenset().union(*(outline.simulated for outline in (ours, theirs) if outline)),
    )


def _open(request: Request, name: str) -> tuple[dict[str, tuple[Measure, ...]], Summary | None]:
    path, measured = request.app.state.runs.path(name), request.app.state.measured
    with open_store(path) as store:
        outline = outline_of(store)
        names = [each.task.name for each in outline.tasks] if outline else []
        return {task: measured.measures(store, path, task) for task in names}, outline


def _pairs(ours: Summary | None, theirs: Summary | None, first: Cells, second: Cells) -> list[Pair]:
    """Return every cell that a run has, in the order of the first run."""
    judges = dict.fromkeys([*(ours.judges if ours else ()), *(theirs.judges if theirs else ())])
    tests = dict.fromkeys([*(ours.tests if ours else ()), *(theirs.tests if theirs else ())])
    places = ((judge, test) for judge in judges for test in tests)
    return [
        Pair(judge=judge, test=test, first=first.get((judge, test)), second=second.get((judge, test)))
        for judge, test in places
        if (judge, test) in first or (judge, test) in second
    ]


ROUTES = (Route("/compare", read, methods=["GET"]),)
