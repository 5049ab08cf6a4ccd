"""What a reporter is handed: everything a run found, nothing that differs between equal runs.

Wall-clock times, cache hits and what an interruption cost are not here; they are in the run's ledger.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from attrs import Factory, evolve, frozen

import jrh
from jrh.values.finding import ClaimFamily, Finding
from jrh.values.items import Task
from jrh.values.json_values import Json
from jrh.values.measures import Flag, Interval, Measure
from jrh.values.sections import Section
from jrh.values.verdicts import Evidence, NoEvidence


@frozen(kw_only=True)
class Agreement:
    """How well the voters of one validator agree, over all drafts of a test that it saw, accepted or rejected."""

    validator: str
    """The suite's name for it."""
    estimate: float | None
    """Krippendorff's alpha for nominal votes: 1 is perfect agreement, 0 is chance level; None if undefined."""
    interval: Interval | None
    """Clustered by item; None if there is none."""
    drafts: int
    """Number of drafts with votes."""
    comparable: int
    """Number of drafts with at least two votes; the estimate uses only these."""
    voters: int
    missing: int
    """Missing votes: refusals, failures, unreadable replies."""
    flags: tuple[str, ...] = ()
    """Why there is no estimate. `empty`: no draft has two votes; `degenerate`: all votes are the same."""


@frozen(kw_only=True)
class Attrition:
    """Counts of one test's drafts, from items to cases."""

    task: str
    test: str
    items: int
    """Number of items of the task."""
    drafted: int
    kept: int
    """Number of drafts that became cases."""
    rejected: Mapping[str, int] = Factory(dict)
    """`validator: reason` -> number of drafts."""
    skipped: Mapping[str, int] = Factory(dict)
    """Reason -> number of items or variants that the perturber skipped."""
    agreement: tuple[Agreement, ...] = ()
    """One per validator that reported votes, in the order in which they ran."""
    applies: bool = True
    """False if the test is not for tasks of this mode, so that the perturber never saw the items."""
    made: bool = True
    """False if the run stopped before it drafted this test."""
    allow_empty: bool = False
    """True if the suite accepts that the test makes no cases."""
    own_of: tuple[str, ...] = ()
    """The tasks whose own list has the test; empty if it serves all. Another task's test of that name is another test.
    """


@frozen(kw_only=True)
class CostLine:
    """Cost of one judge's replies in one test."""

    judge: str
    task: str
    test: str
    trials: int
    cost: float
    """US dollars, for the replies of known price."""
    unknown: int
    """Number of replies of unknown price; if not 0, the cost is a lower bound."""
    prompt_tokens: int
    completion_tokens: int
    tokens_unknown: int
    """Number of replies without a token count."""


@frozen(kw_only=True)
class SpendLine:
    """Cost of the replies that one component got from one model, each reply counted once in the whole run.

    A reply that several components share, because they asked the same, is counted where it is first used: perturbers
    and validators before judges, judges in plan order.
    """

    role: str
    """`writer`, `grader` (a perturber's own check), `validator`, `judge` or `preflight`."""
    name: str
    """The suite's name of the component."""
    model: str
    """The suite's name of the model; empty for a judge that states its cost itself."""
    task: str
    test: str
    replies: int
    cost: float
    """US dollars, for the replies of known price; a cached reply counts at the price originally paid."""
    unknown: int
    """Number of replies of unknown price."""
    prompt_tokens: int
    completion_tokens: int
    tokens_unknown: int
    """Number of replies without a token count."""
    cached_tokens: int = 0
    """Tokens of prompts that providers said they had cached."""
    saved: float = 0.0
    """US dollars that these were cheaper by, where the price of cached tokens is known."""


@frozen(kw_only=True)
class FaultLine:
    """Failed attempts of one model, by kind."""

    model: str
    kind: str
    attempts: int
    """Number of attempts that failed in this way."""
    final: int
    """Number of these that were the last attempt of their call, which therefore has no verdict."""


@frozen(kw_only=True)
class ComponentUsed:
    """One component of the run, in enough detail to repeat it."""

    role: str
    """`data source`, `perturber`, `validator`, `judge`, `parser`, `metric`, `model`."""
    name: str
    """The suite's name for it."""
    component: str
    """Qualified name, `distribution/name`."""
    version: str
    options: Mapping[str, Json]
    """All options, including defaults; secrets are never options."""
    simulated: bool = False
    digest: str = ""
    """Digest of its source; empty for an installed release, which the version identifies."""


@frozen(kw_only=True)
class TaskSummary:
    """One task of the run."""

    task: Task
    items: int
    labelled: int
    """Number of items with a gold label."""
    gold: Mapping[str, int]
    """Gold label -> number of items."""
    gold_sources: Mapping[str, int] = Factory(dict)
    """Where the gold labels come from (`people`, `model:NAME`, ...) -> number of items."""


@frozen(kw_only=True)
class RunReport:
    """All results of a run."""

    NOT_IN_RESULTS: ClassVar = ("records", "evidence", "flags")
    """Fields that are not part of the results document; they stay in the run's store."""
    suite: str
    run_id: str
    version: str
    """Version of jrh."""
    seed: int
    level: float
    """Coverage of the intervals."""
    tasks: tuple[TaskSummary, ...]
    judges: tuple[str, ...]
    """In the suite's order."""
    simulated: frozenset[str]
    """Judges that make up their answers."""
    tests: tuple[str, ...]
    """`reference` first, then in the suite's order."""
    measures: tuple[Measure, ...]
    attrition: tuple[Attrition, ...] = ()
    costs: tuple[CostLine, ...] = ()
    """What each judge's verdicts cost, for its price; replies that judges share count for each."""
    faults: tuple[FaultLine, ...] = ()
    components: tuple[ComponentUsed, ...] = ()
    planned: int
    """Number of planned trials."""
    missing_records: int
    """Number of planned trials without a record."""
    notes: tuple[str, ...] = ()
    """What happened in the run itself, one sentence each."""
    warnings: tuple[str, ...] = ()
    """Those of the notes that say what failed or cannot be checked; the shortest output shows them, too."""
    stages: Mapping[str, Json] = Factory(dict)
    """What declared stages found, by the name of the stage; those with nothing to say are left out."""
    findings: tuple[Finding, ...] = ()
    """What the measures say, in sentences: by judge in the suite's order, those about data and tests first, the worst
    first."""
    family: ClaimFamily | None = None
    """The tests behind the findings that claim a difference, and the error rate of all together; None before findings.
    """
    still_planning: bool = False
    """Whether trials are still to be planned: the run is going on, or stopped before all cases were made."""
    served: Mapping[str, tuple[str, ...]] = Factory(dict)
    """Judge that asked a model -> the models that its provider says it served; empty: the provider states none."""
    spending: tuple[SpendLine, ...] = ()
    """What all replies of the run cost: judges, writers, graders, validators, preflight. The sum is the run's cost."""
    sections: tuple[Section, ...] = ()
    """What plugins show of their measures, the most important first; empty where the report was opened to be read."""
    records: jrh.RecordTable
    evidence: Evidence = NoEvidence()
    """The cases and replies behind the records, read on demand; only while the report is being written."""

    flags: Mapping[str, Flag] = Factory(dict)
    """The flags that were declared when the run was made, by name; a flag that is missing here says nothing."""

    def add_notes(self, notes: Iterable[str]) -> RunReport:
        """Return the report with further notes, each of them a warning."""
        added = tuple(notes)
        return evolve(self, notes=(*self.notes, *added), warnings=(*self.warnings, *added))

    @property
    def incomplete(self) -> bool:
        """Whether trials have no record, or are still to be planned."""
        # Both: a run that was killed while it made cases has a record for every trial planned so far, and reports once
        # called such a run complete.
        return self.missing_records > 0 or self.still_planning

    @property
    def totals(self) -> str:
        """How much of the plan has been answered, in one sentence."""
        if not self.planned and not self.still_planning:
            return "No trials were planned."
        if self.incomplete:
            counted = f"{self.planned - self.missing_records:,} of {self.planned:,} planned trials have a record"
            more = ", and not all cases are made" if self.still_planning else ""
            return f"INCOMPLETE: {counted}{more}; run the suite again to continue."
        return f"All {self.planned:,} planned trials have a record."


_COUNTS: Final = ("unknown", "prompt_tokens", "completion_tokens", "tokens_unknown")


def total_spending(lines: Iterable[SpendLine]) -> SpendLine:
    """Add up spending, as a line about no component: the only sum of costs that an output may call the run's."""
    # `lines` may be an iterator, and every count below goes through it.
    some = tuple(lines)
    counts = {name: sum(getattr(line, name) for line in some) for name in ("replies", *_COUNTS, "cached_tokens")}
    # Exact and then rounded, so that the order of the lines cannot change the sum.
    cost, saved = (round(math.fsum(getattr(line, name) for line in some), 12) for name in ("cost", "saved"))
    return SpendLine(role="", name="", model="", task="", test="", cost=cost, saved=saved, **counts)


def spending_of(line: CostLine) -> SpendLine:
    """Return the cost of a judge's verdicts as spending, where nothing is known of the calls, as in a log."""
    # No model: a log names the judge of a verdict, and not what the judge asked.
    counts = {name: getattr(line, name) for name in ("task", "test", "cost", *_COUNTS)}
    return SpendLine(role="judge", name=line.judge, model="", replies=line.trials, **counts)
