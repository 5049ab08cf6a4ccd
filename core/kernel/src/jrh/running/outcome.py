"""How a run is asked for, how it ends, and what it gives."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from attrs import Factory, define, evolve, field, frozen

import jrh
from jrh.document.positions import did_you_mean
from jrh.errors import JrhError, StopReason, StopRun
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import StageOutcome
from jrh.store.calls_table import Spent
from jrh.suite.definition import Suite
from jrh.suite.overrides import JudgeArgument
from jrh.suite.resolved import ResolvedSuite, Shard
from jrh.text.display import clean_text, count_noun
from jrh.values.finding import Finding
from jrh.values.items import Task
from jrh.values.measures import Measure
from jrh.values.report import Attrition, RunReport
from jrh.values.verdicts import NoEvidence, Status


@define
class Stopper:
    """Stops a run after the calls in flight; may be called from any thread, also before the run has started."""

    _stop: Callable[[], object] | None = field(default=None, init=False)
    _called: bool = field(default=False, init=False)

    def attach(self, stop: Callable[[], object]) -> None:
        """Name what stops the run."""
        self._stop = stop
        # It was called before there was anything to stop.
        if self._called:
            stop()

    def __call__(self) -> None:
        """Stop it."""
        # Set before `_stop` is read, as `attach` sets `_stop` before it reads this: whichever of two threads is later
        # sees what the other has done, so that no call is lost.
        self._called = True
        if self._stop is not None:
            with suppress(RuntimeError):  # the run has ended meanwhile, and its event loop is closed
                self._stop()


NO_CASES: Final = "no cases"
_REASONS: Final = 3
"""Reasons that are named; the others are counted."""


@frozen(kw_only=True)
class EmptyTest:
    """A test, as the suite has it, without a case in any task it is meant for."""

    test: str
    tasks: tuple[str, ...]
    in_task_list: bool
    """The tasks list it themselves: a test of this name may have cases of other tasks."""
    why: str
    """Such as `no cases: 30 of 30 drafts rejected: exact-rules: a number changed`."""
    allowed: bool
    """The suite accepts that (`allow_empty: true`)."""


def why_no_cases(line: Attrition) -> str:
    """Say why a test made no case for a task; empty if it made some, or if the run stopped before it was drafted."""
    # A run that stopped early says nothing about a test that it had not drafted yet.
    if line.kept or not line.made:
        return ""
    if not line.applies:
        return f"{NO_CASES}: the test does not apply to this task"
    return _why(line.drafted, line.rejected, line.skipped)


def empty_tests(attrition: Iterable[Attrition]) -> tuple[EmptyTest, ...]:
    """Return the tests without a case in any task, in order.

    A task whose mode the test does not support does not count. A test that still has to be drafted is not empty.
    A test in a task's own list is meant for that task only, whatever other tasks call theirs.
    """
    # Keyed by the tasks that list the test, too: two tasks may have different tests of one name.
    lines_of_tests: dict[tuple[str, tuple[str, ...]], list[Attrition]] = {}
    for line in attrition:
        if line.applies:
            lines_of_tests.setdefault((line.test, line.own_of), []).append(line)
    return tuple(_empty(lines) for lines in lines_of_tests.values() if all(map(why_no_cases, lines)))


def list_reasons(counts: Mapping[str, int]) -> str:
    """Name the commonest reasons with their counts, and count the others."""
    # Equal counts by name: otherwise the sentence would depend on the order in which drafts were made.
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    # A single further reason takes no more room than the sentence that would count it.
    shown = len(ordered) if len(ordered) == _REASONS + 1 else _REASONS
    named = [f"{reason} ({count:,})" for reason, count in ordered[:shown]]
    further = ordered[shown:]
    if further:
        named.append(f"{count_noun(len(further), 'other reason')} ({sum(count for _, count in further):,})")
    return ", ".join(named)


def _empty(lines: list[Attrition]) -> EmptyTest:
    rejected, skipped = Counter[str](), Counter[str]()
    for line in lines:
        rejected.update(line.rejected)
        skipped.update(line.skipped)
    return EmptyTest(
        test=lines[0].test,
        tasks=tuple(line.task for line in lines),
        in_task_list=bool(lines[0].own_of),
        why=_why(sum(line.drafted for line in lines), rejected, skipped),
        allowed=all(line.allow_empty for line in lines),
    )


def _reasons(counts: Mapping[str, int]) -> str:
    """List the reasons; a single one without its count, which the sentence has named."""
    return next(iter(counts)) if len(counts) == 1 else list_reasons(counts)


def _why(drafted: int, rejected: Mapping[str, int], skipped: Mapping[str, int]) -> str:
    parts = []
    if drafted:
        parts.append(f"{sum(rejected.values()):,} of {count_noun(drafted, 'draft')} rejected: {_reasons(rejected)}")
    if skipped:
        parts.append(f"{sum(skipped.values()):,} skipped: {_reasons(skipped)}")
    return f"{NO_CASES}: {'; '.join(parts) or 'the perturber returned no draft'}"


DONE: Final = 0
FAILED: Final = 1
INCOMPLETE: Final = 3
BUDGET_REACHED: Final = 4
# 128 plus the number of SIGINT, as shells report it.
INTERRUPTED: Final = 130
"""Exit codes of a run; 2 is an error in the suite or in how jrh was called."""
ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run in good order: Ctrl-C, a service manager or batch system, a closed terminal."""
_REASON: Final = 160
_CELLS: Final = 5
"""Cells of a measure that a message names."""


@frozen(kw_only=True)
class Settings:
    """How a suite is run; everything that is not in the suite."""

    run_dir: Path | None = None
    """None: `runs/<suite name>` under the current directory."""
    plugins: Sequence[str] = ()
    """As `load_plugins` takes them."""
    overrides: tuple[str, ...] = ()
    """`key=value`, as with `--set`."""
    judges: tuple[JudgeArgument, ...] = ()
    """Judges to keep, by name, and judges to add, as callables or entries."""
    tests: tuple[str, ...] = ()
    limit: int | None = None
    shard: Shard | None = None
    """The part of the items that is run; None: all of them."""
    use_cache: bool = True
    preflight: bool = False
    """Ask every model once before the first stage."""
    signals: tuple[signal.Signals, ...] = ()
    """Signals that end the run in good order; only in the main thread."""
    stopper: Stopper | None = field(default=None, eq=False)
    """Ends the run in good order from another thread."""
    # Not compared: data frames compare cell by cell, and the result has no truth value.
    data: object = field(default=None, eq=False, repr=False)
    """Rows from Python in place of the suite's data."""
    wait: bool = True
    """Wait for people's decisions where the suite asks for a review, and for batches of calls."""
    executor: str = ""
    """Where units are worked on; empty or `local`: in this process."""
    full: bool = False
    """Print all tables, not the findings in brief."""
    quiet: bool = False
    """Show no progress; of the Python API."""


@frozen(kw_only=True)
class RunRequest:
    """A run that was asked for."""

    resolved: ResolvedSuite
    loaded: Loaded
    settings: Settings
    run_dir: Path

    @property
    def suite(self) -> Suite:
        """Return the suite."""
        return self.resolved.suite

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the tasks by name, in the order of the suite."""
        return {use.task.name: use.task for use in self.suite.tasks}

    @property
    def run_id(self) -> str:
        """Return the id of the run: that of its suite."""
        return self.suite.run_id


@frozen(kw_only=True, repr=False)
class RunResult:
    """What a run gave."""

    exit_code: int
    """0 done, 1 a stage found a failure, 3 incomplete, 4 budget reached, 130 interrupted."""
    message: str
    """Why the run is not done; empty where it is."""
    run_dir: Path
    report: RunReport | None
    """None where the run stopped before there was anything to report."""
    spent: Spent
    unknown_calls: int
    """Calls that were in flight when an earlier process was killed; costed at the worst case."""
    terminal: str = ""
    """The report for the terminal."""
    files: tuple[Path, ...] = ()
    """The reports written."""
    problems: tuple[str, ...] = ()
    """Reporters that failed."""
    cell: Callable[[], str] | None = field(default=None, eq=False)
    """Makes what a notebook shows, as HTML; None where nothing is installed for it."""
    may_continue: bool = True
    """The same command would ask again what is not done; what is done is a finding, also where it is no verdict."""

    @property
    def records(self) -> jrh.RecordTable:
        """Return the records of the plan, in plan order."""
        return self.report.records if self.report else jrh.RecordTable({}, {})

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Return the measures."""
        return self.report.measures if self.report else ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what the measures say, in sentences."""
        return self.report.findings if self.report else ()

    def measure(
        self,
        name: str,
        *,
        judge: str | None = None,
        task: str | None = None,
        test: str | None = None,
        cell: Mapping[str, str] = MappingProxyType({}),
    ) -> Measure:
        """Return the one measure of a name.

        Args:
            name: such as `as-expected` or `flip-rate`.
            judge: only needed where several judges have the measure.
            task: as `judge`.
            test: as `judge`.
            cell: further factor levels, such as `{"variant": "typos"}`; the whole test by default.

        Raises:
            JrhError: there is none, or there are several; the message says what to name.
        """
        wanted = {"judge": judge, "task": task, "test": test}
        named = [measure for measure in self.measures if measure.name == name]
        if not named:
            hint = did_you_mean(name, {measure.name for measure in self.measures})
            raise JrhError(f"there is no measure '{name}'\n{hint}".rstrip())
        selected = {key: value for key, value in wanted.items() if value is not None}
        in_cell = (measure for measure in named if dict(measure.cell) == dict(cell))
        matches = [m for m in in_cell if all(getattr(m, key) == value for key, value in selected.items())]
        if len(matches) == 1:
            return matches[0]
        # Where several match, what tells them apart; where none does, all there is.
        known = {key: sorted({getattr(measure, key) for measure in matches or named}) for key in wanted}
        listed = "; ".join(
            f"{key}: {', '.join(values)}" for key, values in known.items() if len(values) > 1 or not matches
        )
        if matches:
            raise JrhError(f"{len(matches)} measures are named '{name}'; choose one by {listed}")
        cells = sorted({", ".join(f"{key}={value}" for key, value in measure.cell.items()) for measure in named} - {""})
        more = f"; cell: {'; '.join(cells[:_CELLS])}" if cells else ""
        raise JrhError(f"no measure '{name}' matches these arguments. Available: {listed}{more}")

    def __repr__(self) -> str:
        """Return one line: suite, size, how it ended."""
        if self.report is None:
            return f"<RunResult: {clean_text(self.message)}; {self.run_dir}>"
        # A table without rows may have no columns either.
        ok = int(self.records.equals("status", Status.OK.value).sum()) if len(self.records) else 0
        parts = (
            count_noun(len(self.report.judges), "judge"),
            count_noun(len(self.report.tests), "test"),
            f"{ok:,} of {self.report.planned:,} verdicts",
            count_noun(len(self.findings), "finding"),
            f"not done: {clean_text(self.message, _REASON)}" if self.exit_code else "done",
        )
        return f"<RunResult {clean_text(self.report.suite)}: {', '.join(parts)}; {self.run_dir}>"

    def _repr_html_(self) -> str:
        """Return the findings and the heat map for a notebook."""
        from html import escape

        shown = self.cell() if self.cell is not None and self.report is not None else ""
        return shown or f"<pre>{escape(self.terminal or repr(self))}</pre>"


@frozen(kw_only=True)
class Ended:
    """How a run ended, as its store remembers it."""

    exit_code: int = DONE
    """0 done, 1 a stage found a failure, 3 incomplete, 4 budget reached, 130 interrupted."""
    message: str = ""
    """Why it is not done; empty where it is."""
    complete: bool = True
    """It came to its end: every case is made, and every planned trial has a record, if not a verdict."""


@frozen(kw_only=True)
class Written:
    """What the reporters made."""

    terminal: str = ""
    files: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """What is not as it was in the run, such as the code of a component; one sentence each, without its period."""
    incomplete: str = ""
    """How much of the plan has been answered, where it is not all."""


def result_of(
    ended: Ended, report: RunReport | None, written: Written, run_dir: Path, spent: Spent, unknown_calls: int = 0
) -> RunResult:
    """Return the result of a run that ended, now or earlier."""
    return RunResult(
        exit_code=ended.exit_code,
        message=ended.message,
        run_dir=run_dir,
        # The store closes before the caller could read it.
        report=None if report is None else evolve(report, evidence=NoEvidence()),
        spent=spent,
        unknown_calls=unknown_calls,
        terminal=written.terminal,
        files=written.files,
        problems=written.problems,
        # Running the same suite again would ask something.
        may_continue=not ended.complete or report is None or bool(report.records.failure_mask().any()),
    )


@frozen(kw_only=True)
class RunState:
    """What a run directory says without its records being read."""

    suite: str
    sections: Mapping[str, Any] = Factory(dict)
    """Key -> options of the sections that declared stages had in the suite when it was run last."""
    ended: Ended | None = None
    """None where the run still goes on, or its process was killed."""
    imported: bool = False
    """The records come from elsewhere: there is no run to end."""


def how_it_ended(
    stop: StopRun | None,
    report: RunReport | None,
    unfinished: Sequence[str] = (),
    outcomes: Sequence[StageOutcome] = (),
) -> Ended:
    """Return the exit code of a run, and why it is not done.

    `unfinished` names the tests whose drafts are not all made, because a provider failed or a plugin raised; `outcomes`
    are those of declared stages.
    """
    left = [outcome for outcome in outcomes if not outcome.complete]
    if stop is not None:
        # A script tells a reached budget from an interrupt and from failed calls by the exit code.
        codes = {StopReason.BUDGET: BUDGET_REACHED, StopReason.INTERRUPTED: INTERRUPTED}
        exit_code, message = codes.get(stop.reason, INCOMPLETE), stop.message
    else:
        notes = [note for outcome in left for note in (*outcome.notes, "a stage is not done")]
        notes += [outcome.unchecked for outcome in outcomes]
        message = _explain_incomplete(report, unfinished) or next(filter(None, notes), "")
        failed = "; ".join(outcome.failed for outcome in outcomes if outcome.failed)
        # What failed is certain, whatever is missing.
        exit_code = FAILED if failed else INCOMPLETE if message else DONE
        message = "; ".join(part for part in (failed, message) if part)
    answered = report is not None and not report.missing_records
    # Complete is about trials, not verdicts: a refusal is an answer, and is not asked again.
    complete = stop is None and answered and not (unfinished or left)
    return Ended(exit_code=exit_code, message=message, complete=complete)


def _explain_incomplete(report: RunReport | None, unfinished: Sequence[str]) -> str:
    """Say what a run that was not stopped lacks; empty where it is done."""
    if report is None or report.missing_records:
        return f"{report.missing_records if report else 0} trials have no record"
    if unfinished:
        return f"drafts are missing because a model call failed or a plugin raised an error: {', '.join(unfinished)}"
    failed = report.records.where(report.records.failure_mask())
    if failed:
        return f"{len(failed)} of {len(report.records)} trials failed and have no verdict{_commonest_reason(failed)}"
    return _without_cases(report) or _silent(report)


def _without_cases(report: RunReport) -> str:
    """Say which tests made no case; empty where every test made one, or the suite allows it."""
    # A test that measured nothing would otherwise look like one that found nothing.
    empty = [test for test in empty_tests(report.attrition) if not test.allowed]
    sentences = "; ".join(f"test '{test.test}'{_of_tasks(test)} made {clean_text(test.why, _REASON)}" for test in empty)
    return f"{sentences} (to accept this, set `allow_empty: true` on the test)" if sentences else ""


def _of_tasks(test: EmptyTest) -> str:
    """Name the tasks of a test of their own: the name alone may be that of another task's test."""
    tasks = ", ".join(f"'{task}'" for task in test.tasks)
    return f" on task {tasks}" if test.in_task_list else ""


def _silent(report: RunReport) -> str:
    """Say which judges gave no verdict at all; empty where every judge gave one."""
    silent = [
        f"{judge} ({', '.join(f'{count} {status}' for status, count in Counter(rows.counts('status')).most_common())})"
        for (judge,), rows in report.records.split("judge")
        if not rows.equals("status", "ok").any()
    ]
    return f"no verdict from {', '.join(silent)}; these count as findings and are not asked again" if silent else ""


def _commonest_reason(failed: jrh.RecordTable) -> str:
    """Say why most of the trials failed that say why; empty where none does."""
    reasons = [(-count, reason) for reason, count in failed.counts("detail").items() if reason]
    if not reasons:
        return ""
    count, reason = min(reasons)
    return f", {-count} of them because: {clean_text(reason, _REASON)}"
