"""Check a run against its rules: decisions, missing verdicts, exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import Factory, frozen
from jrh import REFERENCE, MetricContext, RunReport
from jrh.running import RunState
from jrh.values import Finding, Severity

from jrh_measuring import Cell, GateRule, Look, abstentions_by_design, cells_of, count_missing_by_status, read_trials
from jrh_measuring.gating.deciding import Decision, Outcome
from jrh_measuring.gating.rule_limits import LimitTable, Measured
from jrh_measuring.gating.selecting import decisions, places, unique

HOLDS: Final = 0
FAILS: Final = 1
INCOMPLETE: Final = 3
BUDGET_REACHED: Final = 4
UNDECIDED: Final = 5
INTERRUPTED: Final = 130
_STOPPED: Final = (BUDGET_REACHED, INTERRUPTED)


@frozen(kw_only=True)
class Terms:
    """The requirements on a run."""

    rules: tuple[GateRule, ...] = ()
    allow_missing: float = 0.0
    """The largest allowed share of trials without a verdict, per judge and test."""
    undecided: int = UNDECIDED
    """Exit code if a rule is undecided."""


@frozen(kw_only=True)
class Answered:
    """Trials with and without a verdict, for one judge in one test."""

    judge: str
    task: str
    test: str
    trials: int
    missing: Mapping[str, int]
    """Trials without a verdict by status; without abstentions where nothing is expected."""

    @property
    def share(self) -> float:
        """Return the share without a verdict."""
        return sum(self.missing.values()) / self.trials


@frozen(kw_only=True)
class Checked:
    """The findings of the gate."""

    suite: str
    run_id: str = ""
    """Empty if the run has nothing to report."""
    level: float | None = None
    """Coverage of the intervals."""
    judges: tuple[str, ...] = ()
    simulated: frozenset[str] = frozenset()
    served: Mapping[str, tuple[str, ...]] = Factory(dict)
    terms: Terms
    unfinished: str
    """Why the run is not finished; empty if it is."""
    ended: int
    """Exit code for how the run ended; 0 if it finished."""
    answered: tuple[Answered, ...] = ()
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()
    """The findings of the run."""
    look: Look = Look()
    """Which look at the data this was."""

    @property
    def error(self) -> float | None:
        """Return the error rate that a rule has in this look, for holding and for failing; None without a report."""
        return None if self.level is None else (1 - self.level) / 2 * self.look.share

    @property
    def rules(self) -> Mapping[str, Outcome]:
        """Return the outcome of every rule: it holds if it holds at all places, and fails if it fails at one."""
        outcomes_of: dict[str, list[Outcome]] = {}
        for decision in self.decisions:
            outcomes_of.setdefault(decision.rule.text, []).append(decision.outcome)
        # One failure decides, however many other places hold.
        worst_first = (Outcome.FAILS, Outcome.UNDECIDED, Outcome.HOLDS)
        return {text: min(outcomes_of, key=worst_first.index) for text, outcomes_of in outcomes_of.items()}

    @property
    def relevant_findings(self) -> tuple[Finding, ...]:
        """Return the findings, warnings or worse, about a judge, task and test that a rule was decided for.

        A finding about the reference condition or about the data touches every test of its task.
        """
        places = {(decision.place.judge, decision.place.task, decision.place.test) for decision in self.decisions}
        places |= {("", task, test) for _, task, test in places}  # a finding about the data concerns every judge
        tasks = {(judge, task) for judge, task, _ in places}
        return tuple(
            finding
            for finding in self.findings
            if finding.severity.rank <= Severity.WARNING.rank
            and (finding.judge, finding.task) in tasks
            and (
                not set(finding.tests) - {REFERENCE}
                or any((finding.judge, finding.task, test) in places for test in finding.tests)
            )
        )

    @property
    def silent(self) -> tuple[Answered, ...]:
        """Return the judges and tests with more missing verdicts than allowed."""
        return tuple(answered for answered in self.answered if answered.share > self.terms.allow_missing)

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """Return how many decisions had which outcome."""
        counts = Counter(decision.outcome for decision in self.decisions)
        return {outcome: counts[outcome] for outcome in Outcome}

    @property
    def exit_code(self) -> int:
        """Return the exit code of the first that applies: rule fails, run not finished, verdicts missing, undecided."""
        # What fails on less data has failed: every look has its share of the error rate.
        if self.counts[Outcome.FAILS]:
            return FAILS
        if self.ended:
            return self.ended
        if self.silent:
            return INCOMPLETE
        return self.terms.undecided if self.counts[Outcome.UNDECIDED] else HOLDS


def check(
    state: RunState,
    report: RunReport | None,
    terms: Terms,
    look: Look = Look(),  # noqa: B008 - without state
    measured: Measured = lambda rates: dict.fromkeys(rates, ()),
) -> Checked:
    """Check a run against the terms; `report` is None if the run has nothing to report yet.

    Args:
        state: how the run ended.
        report: its measures.
        terms: the requirements.
        look: which look at the data this is.
        measured: computes the measures with one-sided limits.

    Raises:
        JrhError: A rule names something that the run does not have.
    """
    ended, unfinished = _end(state, report)
    if report is None:
        return Checked(suite=state.suite, terms=terms, unfinished=unfinished, ended=ended)
    limits = LimitTable.of(report.level, look, (places(rule, report) for rule in unique(terms.rules)), measured)
    return Checked(
        suite=report.suite,
        run_id=report.run_id,
        level=report.level,
        judges=report.judges,
        simulated=report.simulated,
        served=report.served,
        terms=terms,
        unfinished=unfinished,
        ended=ended,
        answered=tuple(_count_verdicts(report)),
        decisions=decisions(terms.rules, report, limits, complete=not ended),
        findings=report.findings,
        look=look,
    )


def _end(state: RunState, report: RunReport | None) -> tuple[int, str]:
    """Return the exit code for how the run ended, and why it is not finished."""
    if not state.imported:
        if state.ended is None:
            return INCOMPLETE, "the run has not ended: it is still running, was killed, or was merged and not run"
        if not state.ended.complete:
            # The run may have ended with that of a rule that failed, at an earlier look.
            why = state.ended.exit_code if state.ended.exit_code in _STOPPED else INCOMPLETE
            return why, state.ended.message or "the run was stopped"
    if report is None:
        # Imported verdicts have no end of their own; that there are any is enough.
        return INCOMPLETE, "the run has nothing to report yet"
    if report.missing_records or not len(report.records):
        return INCOMPLETE, f"{report.missing_records} of {report.planned} trials were not run"
    return 0, ""


def _count_verdicts(report: RunReport) -> Iterator[Answered]:
    context = MetricContext(tasks={summary.task.name: summary.task for summary in report.tasks})
    trials = read_trials(report.records, context)
    order = (report.judges, tuple(context.tasks), report.tests)

    def place(cell: Cell) -> tuple[int, ...]:
        named = zip(order, (cell.judge, cell.task, cell.test), strict=True)
        # A record that somebody else wrote may name a judge or test that the run does not have.
        return tuple(names.index(name) if name in names else len(names) for names, name in named)

    # An abstention is a verdict where nothing is expected; elsewhere it is a missing one.
    designed = abstentions_by_design(trials)
    for cell in sorted(cells_of(trials), key=place):
        missing = count_missing_by_status(trials, cell.rows[~designed[cell.rows]])
        yield Answered(judge=cell.judge, task=cell.task, test=cell.test, trials=len(cell.rows), missing=missing)
