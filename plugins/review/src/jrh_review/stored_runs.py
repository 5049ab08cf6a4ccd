"""What pages show of a stored run: its state, what it is about, how far it is, what was found, and its measures."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen
from jrh import Measure, open_report, open_run
from jrh.plugins import Role
from jrh.running import Summary, recall, state
from jrh.values import Importance, TablePart
from jrh_measuring import (
    RunFindings,
    cell_text,
    measures_by_role,
    read_findings,
    served_note,
)

from jrh_review.listed_cases import TABLE, CaseOrder
from jrh_review.runs import last_write

Store: TypeAlias = Any
"""The store of a run, as `jrh.running.open_store` opens it."""
QUIET: Final = 120.0
"""Seconds without a write after which a run without an end is more likely to have been killed than to be waiting."""
_BUDGET, _INTERRUPTED = 4, 130


@frozen(kw_only=True)
class State:
    """The state of a run."""

    word: str
    kind: str
    """`good`, `bad`, `open`: the colour."""
    why: str = ""
    under_way: bool = False


def run_state(store: Store, path: Path) -> State:
    """Return the state of a run, in a word or two."""
    known = state(store)
    if known.imported:
        return State(word="imported", kind="good")
    if known.ended is None:
        # A killed run leaves no trace of its end; only its silence tells it from one that waits for a model.
        quiet = time.time() - last_write(path)
        if quiet > QUIET:
            return State(
                word=f"under way, or killed: no write for {round(quiet / 60):,} min", kind="open", under_way=True
            )
        return State(word="under way", kind="open", under_way=True)
    if known.ended.exit_code == 0:
        return State(word="done", kind="good")
    words = {_BUDGET: "budget reached", _INTERRUPTED: "interrupted"}
    return State(word=words.get(known.ended.exit_code, "incomplete"), kind="bad", why=known.ended.message)


def run_outline(store: Store) -> Summary | None:
    """Return the tasks, judges and tests of a run; None before its plan is made."""
    # `recall` raises before there is a plan, and a run that has just begun is no error on a page.
    return recall(store) if store.meta("summary") is not None else None


def run_progress(store: Store) -> dict[str, float]:
    """Count trials, failed attempts, calls and dollars; no trial is planned until the plan is made."""
    spending = store.calls.totals()
    return {
        "done": store.trials.count_done(),
        "planned": store.trials.count(),
        "failures": sum(line.attempts for line in store.calls.faults()),
        "calls": spending.calls,
        "paid": round(spending.paid, 4),
        "unpriced": spending.unpriced,
    }


def case_list_id(store: Store) -> str:
    """Return an id that changes whenever the list of cases does; empty where there is none."""
    return store.table(TABLE).digest() or ""


@frozen(kw_only=True)
class Lens:
    """One measure that the heat map can show."""

    role: Role
    """Of the measures that it shows, whatever their names."""
    name: str
    meaning: str
    order: CaseOrder
    """How the cases of a cell are sorted: those that make it bad come first."""
    zero: float | None = None
    """The value of no effect, in the middle of the colours; None: the measures are shares."""

    @property
    def key(self) -> str:
        """Return what addresses call it."""
        return self.role.value

    def shows(self, measure: Measure) -> bool:
        """Tell whether a measure has the role."""
        return measure.name in measures_by_role().get(self.key, ())


LENSES: Final = (
    Lens(
        role=Role.EXPECTATION,
        name="As expected",
        meaning="verdicts that meet the test's expectation; in the reference, verdicts equal to the gold label",
        order=CaseOrder.EXPECTED,
    ),
    Lens(
        role=Role.AGREEMENT,
        name="Gold accuracy",
        meaning="verdicts equal to the gold label",
        order=CaseOrder.RIGHT,
    ),
    Lens(
        role=Role.SELF_AGREEMENT,
        name="Agreement with reference",
        meaning="verdicts equal to the same judge's verdict on the item in the reference condition",
        order=CaseOrder.MOVED,
    ),
    Lens(
        role=Role.CHANGE,
        name="Excess over noise floor",
        meaning="how much more verdicts differ from the reference condition than reruns differ from each other",
        order=CaseOrder.MOVED,
        zero=0.0,
    ),
    Lens(
        role=Role.ORDER,
        name="Position bias",
        meaning="items on which the judge picks the first place in every order, minus those with the last; 0: no bias",
        order=CaseOrder.MOVED,
        zero=0.0,
    ),
    Lens(role=Role.MISSING_SHARE, name="Missing verdicts", meaning="trials without a verdict", order=CaseOrder.PLAN),
)


_DIGITS: Final = 2


@frozen(kw_only=True)
class Overview:
    """What the report of a run shows first, and its pages."""

    tables: tuple[tuple[TablePart, tuple[tuple[str, ...], ...]], ...] = ()
    """Each table, with the texts of its rows: what a row is about, then its cells."""
    pages: tuple[Path, ...] = ()
    served: str = ""
    """Which models the judges were served."""


@define
class Measured:
    """Reads findings and measures as stored; an import has none, so they are computed once."""

    _computed: dict[tuple[Path, str], tuple[RunFindings, tuple[Measure, ...]]] = field(factory=dict, init=False)
    """Path and case list of an import -> findings, and measures of whole tests under a lens."""
    _overviews: dict[tuple[Path, float], Overview] = field(factory=dict, init=False)
    """Path and last write of a run -> what its report shows first."""
    _lock: Lock = field(factory=Lock, init=False)

    def overview(self, path: Path) -> Overview:
        """Return the tables that the report of a run shows first, such as which judge is good enough for what."""
        key = path, last_write(path)
        with self._lock:  # two tabs, one reading
            if key not in self._overviews:
                # Of one run at a time, as below: its records are read for that.
                self._overviews.clear()
                self._overviews[key] = _overview(path)
            return self._overviews[key]

    def findings(self, store: Store, path: Path) -> RunFindings | None:
        """Return the findings; None where the run has not come to them."""
        return read_findings(store) or (self._compute(store, path)[0] if state(store).imported else None)

    def measures(self, store: Store, path: Path, task: str) -> tuple[Measure, ...]:
        """Return the measures of whole tests of a task that a lens shows."""
        # A run stores its measures; computing them again here could differ from its report.
        if read_findings(store) is None and state(store).imported:
            return tuple(measure for measure in self._compute(store, path)[1] if measure.task == task)
        # By role, as the names of measures are those of whichever plugins are installed.
        roles = measures_by_role()
        names = sorted({name for lens in LENSES for name in roles.get(lens.key, ())})
        stored: tuple[Measure, ...] = store.measures.wholes(task, names)
        return stored

    def _compute(self, store: Store, path: Path) -> tuple[RunFindings, tuple[Measure, ...]]:
        key = path, case_list_id(store)
        with self._lock:  # two tabs, one computation
            if key not in self._computed:
                # One import at a time: measures of several large ones would fill the memory of a page server.
                self._computed.clear()
                with open_report(path, measure=True) as report:
                    wholes = (measure for measure in report.measures if not measure.cell)
                    measures = tuple(measure for measure in wholes if available_lenses([measure]))
                    findings = RunFindings(findings=report.findings, family=report.family)
                self._computed[key] = findings, measures
            return self._computed[key]


def _overview(path: Path) -> Overview:
    result = open_run(path)
    report = result.report
    assert report is not None  # the run has findings
    first = (section for section in report.sections if section.importance is Importance.FIRST)
    tables = [part for section in first for part in section.parts if isinstance(part, TablePart)]
    return Overview(
        tables=tuple(
            (
                part,
                tuple((*row.heads, *(cell_text(report, cell, _DIGITS) for cell in row.cells)) for row in part.rows),
            )
            for part in tables
        ),
        pages=tuple(file for file in result.files if file.suffix == ".html"),
        served=served_note(report.served, report.judges),
    )


Cells: TypeAlias = Mapping[tuple[str, str], Measure]
"""(judge, test) -> its measure."""


def available_lenses(measures: Sequence[Measure]) -> list[Lens]:
    """Return the lenses that show anything."""
    return [lens for lens in LENSES if any(map(lens.shows, measures))]


def choose_lens(key: str, measures: Sequence[Measure]) -> Lens | None:
    """Return the lens of that name, or the first that shows anything; None where none does."""
    lenses = available_lenses(measures)
    return next((lens for lens in lenses if lens.key == key), lenses[0] if lenses else None)


def heat_cells(measures: Iterable[Measure], lens: Lens) -> Cells:
    """Return the cells of a heat map: of the first measure with the role, where several have it."""
    shown = list(filter(lens.shows, measures))
    return {(measure.judge, measure.test): measure for measure in shown if measure.name == shown[0].name}
