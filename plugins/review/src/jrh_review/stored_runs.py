"""What pages show of a stored run: how it stands, what it is about, how far it is, what was found, and its measures."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen
from jrh import Measure, open_run
from jrh.plugins import Role
from jrh.running import Summary, recall, state
from jrh.values import FaultLine
from jrh_measuring import (
    SIMULATED,
    RunFindings,
    format_bounds,
    format_counts,
    format_estimate,
    format_interval,
    is_estimable,
    measures_by_role,
    recorded_findings,
)

from jrh_review.listed_cases import TABLE, CaseOrder
from jrh_review.runs import written

Store: TypeAlias = Any
"""The store of a run, as `jrh.running.open_store` opens it."""
QUIET: Final = 120.0
"""Seconds without a write after which a run without an end is more likely to have been killed than to be waiting."""
_BUDGET, _INTERRUPTED = 4, 130
_SHADES: Final = 9
"""Colours of a scale; the style sheet has as many."""
_DIGITS: Final = 2


@frozen(kw_only=True)
class State:
    """How a run stands."""

    word: str
    kind: str
    """`good`, `bad`, `open`: the colour."""
    why: str = ""
    under_way: bool = False


def state_of(store: Store, path: Path) -> State:
    """Return how a run stands, in a word or two."""
    known = state(store)
    if known.imported:
        return State(word="imported", kind="good")
    if known.ended is None:
        quiet = time.time() - written(path)
        if quiet > QUIET:
            return State(
                word=f"under way, or killed: no write for {round(quiet / 60):,} min", kind="open", under_way=True
            )
        return State(word="under way", kind="open", under_way=True)
    if known.ended.exit_code == 0:
        return State(word="done", kind="good")
    words = {_BUDGET: "budget reached", _INTERRUPTED: "interrupted"}
    return State(word=words.get(known.ended.exit_code, "incomplete"), kind="bad", why=known.ended.message)


def outline_of(store: Store) -> Summary | None:
    """Return the tasks, judges and tests of a run; None before its plan is made."""
    return recall(store) if store.meta("summary") is not None else None


@frozen(kw_only=True)
class RunProgress:
    """How far a run has progressed."""

    planned: int
    """Trials of the plan; 0 until it is made."""
    done: int
    """Trials with a record."""
    spent: Any
    """All calls of the run directory: `paid`, `calls`, `unpriced`."""
    faults: tuple[FaultLine, ...]
    """Failed attempts by model and kind."""


def progress_of(store: Store) -> RunProgress:
    """Count what is done."""
    return RunProgress(
        planned=store.trials.count(),
        done=store.trials.count_done(),
        spent=store.calls.totals(),
        faults=store.calls.faults(),
    )


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
    middle: float = 0.0
    """Added to the estimate before it is coloured: 0.5 puts a difference of 0 in the middle of the scale."""

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
        middle=0.5,
    ),
    Lens(
        role=Role.ORDER,
        name="Position bias",
        meaning="items on which the judge picks the first place in every order, minus those with the last; 0: no bias",
        order=CaseOrder.MOVED,
        middle=0.5,
    ),
    Lens(role=Role.MISSING_SHARE, name="Missing verdicts", meaning="trials without a verdict", order=CaseOrder.PLAN),
)


@frozen(kw_only=True)
class _Computed:
    findings: RunFindings
    measures: tuple[Measure, ...]
    """Of whole tests, under a lens."""


@define
class Measured:
    """Reads findings and measures as stored; an import has none, so they are computed once."""

    _kept: dict[tuple[Path, str], _Computed] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def findings(self, store: Store, path: Path) -> RunFindings | None:
        """Return the findings; None where the run has not come to them."""
        return recorded_findings(store) or (self._computed(store, path).findings if state(store).imported else None)

    def measures(self, store: Store, path: Path, task: str) -> tuple[Measure, ...]:
        """Return the measures of whole tests of a task that a lens shows."""
        if recorded_findings(store) is None and state(store).imported:
            return tuple(each for each in self._computed(store, path).measures if each.task == task)
        roles = measures_by_role()
        names = sorted({name for lens in LENSES for name in roles.get(lens.key, ())})
        stored: tuple[Measure, ...] = store.measures.wholes(task, names)
        return stored

    def _computed(self, store: Store, path: Path) -> _Computed:
        key = path, case_list_id(store)
        with self._lock:  # two tabs, one computation
            if key not in self._kept:
                self._kept.clear()
                with open_run(path, measure=True) as report:
                    shown = [each for each in report.measures if not each.cell and lenses_of([each])]
                    found = RunFindings(findings=report.findings, family=report.family)
                self._kept[key] = _Computed(findings=found, measures=tuple(shown))
            return self._kept[key]


Cells: TypeAlias = Mapping[tuple[str, str], Mapping[str, Any]]
"""(judge, test) -> a measure as a table shows it."""


def lenses_of(measures: Iterable[Measure]) -> list[Lens]:
    """Return the lenses that show anything."""
    there = tuple(measures)
    return [lens for lens in LENSES if any(lens.shows(measure) for measure in there)]


def lens_of(key: str, measures: Iterable[Measure]) -> Lens | None:
    """Return the lens of that name, or the first that shows anything; None where none does."""
    there = lenses_of(measures)
    return next((lens for lens in there if lens.key == key), there[0] if there else None)


def cells_of(measures: Iterable[Measure], lens: Lens) -> Cells:
    """Return the cells of a heat map: of the first measure with the role, where several have it."""
    shown = [measure for measure in measures if lens.shows(measure)]
    return {(measure.judge, measure.test): _cell(measure, lens) for measure in shown if measure.name == shown[0].name}


def _cell(measure: Measure, lens: Lens) -> Mapping[str, Any]:
    return {
        "estimate": format_estimate(measure, _DIGITS),
        "interval": format_interval(measure, _DIGITS),
        "items": measure.n_items,
        "missing": format_counts(measure.missing),
        "bounds": format_bounds(measure, _DIGITS) if measure.missing else "",
        "flags": [flag for flag in measure.flags if flag != SIMULATED],
        "shade": _shade(measure, lens),
    }


def _shade(measure: Measure, lens: Lens) -> str:
    if measure.estimate is None or not is_estimable(measure):
        return "none"
    step = min(max(int((measure.estimate + lens.middle) * _SHADES), 0), _SHADES - 1)
    return f"{'d' if lens.middle else 's'}{step}"
