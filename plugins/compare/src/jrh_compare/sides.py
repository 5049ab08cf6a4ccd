"""Choose the pairs of runs and judges to compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from pathlib import Path

from attrs import frozen
from jrh import JrhError, RecordTable, RunReport, open_run
from jrh.running import run_state

from jrh_compare.results import SideName


@frozen(kw_only=True, eq=False)
class Opened:
    """A run that is open for reading."""

    path: str
    """As given by the user."""
    report: RunReport
    unfinished: str
    """Why it is not finished; empty if it is."""
    imported: bool
    """Whether the verdicts were imported, so that their origin is not recorded."""


@frozen(kw_only=True, eq=False)
class Side:
    """One judge of one run."""

    name: SideName
    run: Opened

    @property
    def records(self) -> RecordTable:
        """Return the judge's records."""
        rows = self.run.report.records
        return rows.where(rows.equals("judge", self.name.judge)) if len(rows) else rows


@frozen(kw_only=True)
class Asked:
    """One argument: a run and, if named, one of its judges."""

    path: Path
    judge: str | None


def opened_sides(arguments: Sequence[str], judges: Sequence[str], stack: ExitStack) -> list[tuple[Side, Side]]:
    """Open the runs and return the pairs to compare: the first side against each of the others.

    Whole runs are compared judge by judge, where the names are equal. Where a judge is named with a run (`RUN:JUDGE`),
    or there is one run, every side is compared with the first one.

    Args:
        arguments: `RUN` or `RUN:JUDGE`.
        judges: only these judges.
        stack: closes the runs.

    Raises:
        JrhError: An argument is not a run, a judge does not exist, or there is nothing to compare.
    """
    asked = [_asked(argument) for argument in arguments]
    runs: dict[Path, Opened] = {}
    for each in asked:
        if each.path.resolve() not in runs:
            runs[each.path.resolve()] = _opened(each.path, stack)
    _check_judges(judges, runs.values())
    whole = all(each.judge is None for each in asked)
    if whole and len(asked) > 1:
        if len(runs) < len(asked):
            raise JrhError("the same run is given twice; name two judges of it, such as RUN:mini RUN:large")
        return list(_by_judge([runs[each.path.resolve()] for each in asked], judges))
    return _against_first([(runs[each.path.resolve()], each.judge) for each in asked], judges)


def _asked(argument: str) -> Asked:
    if Path(argument).is_dir():
        return Asked(path=Path(argument), judge=None)
    for place, character in enumerate(argument):
        if character == ":" and Path(argument[:place]).is_dir() and place + 1 < len(argument):
            return Asked(path=Path(argument[:place]), judge=argument[place + 1 :])
    if Path(argument).is_file():
        raise JrhError(f"'{argument}' is a file; `jrh compare` takes directories of runs")
    raise JrhError(f"'{argument}' is neither a run directory nor RUN:JUDGE")


def _opened(path: Path, stack: ExitStack) -> Opened:
    state = run_state(path)
    report = stack.enter_context(open_run(path))
    unfinished = ""
    if not state.imported:
        if state.ended is None:
            unfinished = "it has not ended, or its process was killed"
        elif not state.ended.complete:
            unfinished = state.ended.message or "it was stopped"
    return Opened(path=str(path), report=report, unfinished=unfinished, imported=state.imported)


def _check_judges(judges: Iterable[str], runs: Iterable[Opened]) -> None:
    known = list(dict.fromkeys(judge for run in runs for judge in run.report.judges))
    for judge in judges:
        if judge not in known:
            raise _no_judge(judge, known, "no run has a")


def _no_judge(judge: str, known: Sequence[str], prefix: str) -> JrhError:
    close = get_close_matches(judge, known, n=1)
    hint = f"Did you mean '{close[0]}'? " if close else ""
    return JrhError(f"{prefix} judge '{judge}'\n{hint}Available: {', '.join(known) or 'none'}.")


def _by_judge(runs: Sequence[Opened], judges: Sequence[str]) -> Iterator[tuple[Side, Side]]:
    first = runs[0]
    for other in runs[1:]:
        mine, theirs = (_wanted(run, judges) for run in (first, other))
        common = [judge for judge in mine if judge in theirs]
        if common:
            yield from ((_side(first, judge), _side(other, judge)) for judge in common)
        elif len(mine) == len(theirs) == 1:
            yield _side(first, mine[0]), _side(other, theirs[0])
        else:
            raise JrhError(
                f"'{first.path}' and '{other.path}' have no judge in common: {', '.join(mine) or 'none'}; "
                f"{', '.join(theirs) or 'none'}\nName the judges, such as {first.path}:JUDGE {other.path}:JUDGE."
            )


def _against_first(asked: Sequence[tuple[Opened, str | None]], judges: Sequence[str]) -> list[tuple[Side, Side]]:
    sides: list[Side] = []
    for run, judge in asked:
        if judge is not None and judge not in run.report.judges:
            raise _no_judge(judge, run.report.judges, f"'{run.path}' has no")
        names = [judge] if judge is not None else _wanted(run, judges)
        sides += [_side(run, name) for name in names]
    seen: set[tuple[int, str]] = set()
    for side in sides:
        key = (id(side.run), side.name.judge)
        if key in seen:
            raise JrhError(f"judge '{side.name.judge}' of '{side.run.path}' is given twice")
        seen.add(key)
    if len(sides) == 1:
        raise JrhError(
            f"there is only one judge, '{sides[0].name.judge}' of '{sides[0].run.path}': nothing to compare it with; "
            "give another run"
        )
    if not sides:
        raise JrhError("the run has no judge to compare")
    return [(sides[0], side) for side in sides[1:]]


def _wanted(run: Opened, judges: Sequence[str]) -> list[str]:
    """Return the selected judges of a run in the given order, by default all."""
    return [judge for judge in judges or run.report.judges if judge in run.report.judges]


def _side(run: Opened, judge: str) -> Side:
    name = SideName(
        label=f"{run.path}:{judge}",
        run=run.path,
        suite=run.report.suite,
        judge=judge,
        simulated=judge in run.report.simulated,
    )
    return Side(name=name, run=run)
