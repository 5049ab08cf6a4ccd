"""Choose the pairs of runs and judges to compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from pathlib import Path

from attrs import frozen
from jrh import JrhError, RecordTable, RunReport, open_report
from jrh.running import run_state

from jrh_measuring.comparing.results import SideName


@frozen(kw_only=True, eq=False)
class OpenRun:
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
    run: OpenRun

    @property
    def records(self) -> RecordTable:
        """Return the judge's records."""
        rows = self.run.report.records
        return rows.where(rows.equals("judge", self.name.judge)) if len(rows) else rows


def open_sides(arguments: Sequence[str], judges: Sequence[str], stack: ExitStack) -> list[tuple[Side, Side]]:
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
    places = [_read_argument(argument) for argument in arguments]
    runs: dict[Path, OpenRun] = {}
    for path, _ in places:
        # Opened once, however often it is named.
        if path.resolve() not in runs:
            runs[path.resolve()] = _open(path, stack)
    _check_judges(judges, runs.values())
    if all(judge is None for _, judge in places) and len(places) > 1:
        if len(runs) < len(places):
            raise JrhError("the same run is given twice; name two judges of it, such as RUN:mini RUN:large")
        return list(_by_judge([runs[path.resolve()] for path, _ in places], judges))
    return _against_first([(runs[path.resolve()], judge) for path, judge in places], judges)


def _read_argument(argument: str) -> tuple[Path, str | None]:
    """Return the run and, if it is named, one of its judges."""
    if Path(argument).is_dir():
        return Path(argument), None
    # Paths and names of judges may hold a colon: the first one that ends the path of a directory is taken.
    for place, character in enumerate(argument):
        if character == ":" and Path(argument[:place]).is_dir() and place + 1 < len(argument):
            return Path(argument[:place]), argument[place + 1 :]
    if Path(argument).is_file():
        raise JrhError(f"'{argument}' is a file; `jrh compare` takes directories of runs")
    raise JrhError(f"'{argument}' is neither a run directory nor RUN:JUDGE")


def _open(path: Path, stack: ExitStack) -> OpenRun:
    state = run_state(path)
    report = stack.enter_context(open_report(path))
    unfinished = ""
    # Imported verdicts have no end to wait for.
    if not state.imported:
        if state.ended is None:
            unfinished = "it has not ended, its process was killed, or it was merged and not run since"
        elif not state.ended.complete:
            unfinished = state.ended.message or "it was stopped"
    return OpenRun(path=str(path), report=report, unfinished=unfinished, imported=state.imported)


def _check_judges(judges: Iterable[str], runs: Iterable[OpenRun]) -> None:
    known = list(dict.fromkeys(judge for run in runs for judge in run.report.judges))
    for judge in judges:
        if judge not in known:
            raise _no_judge(judge, known, "no run has a")


def _no_judge(judge: str, known: Sequence[str], prefix: str) -> JrhError:
    close = get_close_matches(judge, known, n=1)
    hint = f"Did you mean '{close[0]}'? " if close else ""
    return JrhError(f"{prefix} judge '{judge}'\n{hint}Available: {', '.join(known) or 'none'}.")


def _by_judge(runs: Sequence[OpenRun], judges: Sequence[str]) -> Iterator[tuple[Side, Side]]:
    first = runs[0]
    for other in runs[1:]:
        first_judges, second_judges = (_select_judges(run, judges) for run in (first, other))
        # Judges are matched by name; a single judge on either side is meant even under another name.
        common = [judge for judge in first_judges if judge in second_judges]
        if common:
            yield from ((_side(first, judge), _side(other, judge)) for judge in common)
        elif len(first_judges) == len(second_judges) == 1:
            yield _side(first, first_judges[0]), _side(other, second_judges[0])
        else:
            raise JrhError(
                f"'{first.path}' and '{other.path}' have no judge in common: {', '.join(first_judges) or 'none'}; "
                f"{', '.join(second_judges) or 'none'}\nName the judges, such as {first.path}:JUDGE {other.path}:JUDGE."
            )


def _against_first(places: Sequence[tuple[OpenRun, str | None]], judges: Sequence[str]) -> list[tuple[Side, Side]]:
    sides: list[Side] = []
    for run, judge in places:
        if judge is not None and judge not in run.report.judges:
            raise _no_judge(judge, run.report.judges, f"'{run.path}' has no")
        names = [judge] if judge is not None else _select_judges(run, judges)
        sides += [_side(run, name) for name in names]
    labels = Counter(side.name.label for side in sides)
    for side in sides:
        if labels[side.name.label] > 1:
            raise JrhError(f"judge '{side.name.judge}' of '{side.run.path}' is given twice")
    if len(sides) == 1:
        raise JrhError(
            f"there is only one judge, '{sides[0].name.judge}' of '{sides[0].run.path}': nothing to compare it with; "
            "give another run"
        )
    if not sides:
        raise JrhError("the run has no judge to compare")
    return [(sides[0], side) for side in sides[1:]]


def _select_judges(run: OpenRun, judges: Sequence[str]) -> list[str]:
    """Return the selected judges of a run in the given order, by default all."""
    return [judge for judge in judges or run.report.judges if judge in run.report.judges]


def _side(run: OpenRun, judge: str) -> Side:
    name = SideName(
        # Shortened later to what tells the sides apart, once all are known.
        label=f"{run.path}:{judge}",
        run=run.path,
        suite=run.report.suite,
        judge=judge,
        simulated=judge in run.report.simulated,
        served=run.report.served.get(judge),
    )
    return Side(name=name, run=run)
