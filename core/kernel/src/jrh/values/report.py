"""What a reporter is handed: everything a run found, nothing that differs between equal runs.

Wall-clock times, cache hits and what an interruption cost are not here; they stand in the run's ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import Factory, frozen

from jrh.values.evidence import Evidence, NoEvidence
from jrh.values.records import RecordTable
from jrh.values.types import Interval, Json, Measure, Task


@frozen(kw_only=True)
class Agreement:
    """How far the voters of one validator agree on all drafts of a test that it saw, accepted or not."""

    validator: str
    """The suite's name for it."""
    estimate: float | None
    """Krippendorff's alpha for nominal votes: 1 is agreement throughout, 0 what chance alone gives; None where it is
    not defined."""
    interval: Interval | None
    """Drafts of one item are one cluster; None where there is none."""
    drafts: int
    """Drafts that were voted on."""
    comparable: int
    """Of these, the ones with two votes or more; the estimate rests on them."""
    voters: int
    missing: int
    """Votes that were not cast: refusals, failures, replies that could not be read."""
    flags: tuple[str, ...] = ()
    """Why there is no estimate. `empty`: no draft has two votes; `degenerate`: all votes are the same."""


@frozen(kw_only=True)
class Attrition:
    """What became of one test's drafts."""

    task: str
    test: str
    items: int
    """Items the perturber was given."""
    drafted: int
    kept: int
    rejected: Mapping[str, int] = Factory(dict)
    """`validator: reason` -> drafts."""
    skipped: Mapping[str, int] = Factory(dict)
    """Reason -> items or variants the perturber could not treat."""
    agreement: tuple[Agreement, ...] = ()
    """One for each validator that reported votes, in the order in which they were asked."""


@frozen(kw_only=True)
class CostLine:
    """What the replies of one judge in one test cost."""

    judge: str
    task: str
    test: str
    trials: int
    cost: float
    """US dollars of the replies whose price is known."""
    unknown: int
    """Replies whose price is not known; the cost is a lower bound where this is not 0."""
    prompt_tokens: int
    completion_tokens: int
    tokens_unknown: int
    """Replies without a token count."""


@frozen(kw_only=True)
class FaultLine:
    """Failed attempts of one model, by kind."""

    model: str
    kind: str
    attempts: int
    """Attempts that failed in this way."""
    final: int
    """Of these, the ones that were the last attempt of their call: it has no verdict because of them."""


@frozen(kw_only=True)
class ComponentUsed:
    """One component of the run, enough to repeat it."""

    role: str
    """`data source`, `perturber`, `validator`, `judge`, `parser`, `metric`, `model`."""
    name: str
    """The suite's name for it."""
    component: str
    """Qualified name, `distribution/name`."""
    version: str
    options: Mapping[str, Json]
    """Every option, defaults included; secrets are never options."""
    simulated: bool = False


@frozen(kw_only=True)
class TaskSummary:
    """One task of the run."""

    task: Task
    items: int
    labelled: int
    """Items with a gold label."""
    gold: Mapping[str, int]
    """Gold label -> items."""


@frozen(kw_only=True)
class RunReport:
    """Everything a run found."""

    BESIDE: ClassVar = ("records", "evidence")
    """The fields that no document holds: they stay in the run's store."""
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
    """The judges whose answers are made up."""
    tests: tuple[str, ...]
    """`reference` first, then in the suite's order."""
    measures: tuple[Measure, ...]
    attrition: tuple[Attrition, ...]
    costs: tuple[CostLine, ...]
    faults: tuple[FaultLine, ...]
    components: tuple[ComponentUsed, ...]
    planned: int
    """Trials of the plan."""
    missing_records: int
    """Trials of the plan that were never answered."""
    notes: tuple[str, ...]
    """Findings of the run itself, one sentence each."""
    records: RecordTable
    evidence: Evidence = NoEvidence()
    """The cases and replies behind the records, read on demand; only while the report is being written."""
