"""Everything a run found, gathered from its store for a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import product

from attrs import evolve

import jrh
from jrh.document.convert import from_text
from jrh.models.ledger import PREFLIGHT, ROLES
from jrh.running.stages.drafts import PLUGIN_ERROR
from jrh.running.stages.stored import StoredEvidence, decision_notes
from jrh.running.stages.summary import IMPORTED, PLAN_NOTES, Summary
from jrh.store.cases_table import KEPT, REJECTED, SKIPPED
from jrh.store.run_store import Store
from jrh.text.display import count_noun
from jrh.values.report import Attrition, CostLine, RunReport, SpendLine, spending_of
from jrh.values.verdicts import Status


def gather(store: Store, summary: Summary, records: jrh.RecordTable) -> RunReport:
    """Gather what the store says of a run, before declared stages add what they have made of it."""
    # All from the store, so that a report needs no suite and can be made while another process runs it.
    planned = store.trials.count()
    attrition_lines = tuple(_attrition(store, summary))
    failed = (*_notes_on_plugin_errors(attrition_lines), *_notes_on_bills(store))
    return RunReport(
        suite=summary.suite,
        run_id=summary.run_id,
        version=summary.version,
        seed=summary.seed,
        level=summary.level,
        tasks=summary.tasks,
        judges=summary.judges,
        simulated=frozenset(summary.simulated),
        tests=summary.tests,
        measures=(),
        attrition=attrition_lines,
        costs=tuple(_costs(records, summary)),
        spending=_spending(store, summary, records),
        faults=store.calls.faults(),
        components=summary.components,
        planned=planned,
        missing_records=planned - len(records),
        still_planning=store.trials.grows(),
        notes=(
            *summary.notes,
            *from_text(tuple[str, ...], store.meta(PLAN_NOTES) or "[]"),
            *decision_notes(store),
            *_notes_on_cut_transcripts(records, summary),
            *_notes_on_settings(store),
            *_notes_on_conditions(records),
            *failed,
        ),
        warnings=failed,
        records=records,
        evidence=StoredEvidence(store=store),
        flags={flag.name: flag for flag in summary.flags},
    )


def _notes_on_plugin_errors(attrition_lines: Iterable[Attrition]) -> Iterable[str]:
    """Say of which tests a plugin raised, so that cases are missing."""
    for line in attrition_lines:
        for reason, count in {**line.skipped, **line.rejected}.items():
            if PLUGIN_ERROR in reason:
                missing = count_noun(count, "draft is", "drafts are")
                yield f"test '{line.test}' on '{line.task}': a plugin raised and {missing} missing ({reason})"


def _notes_on_bills(store: Store) -> Iterable[str]:
    """Say which models billed more than their price and their longest reply allow."""
    for line in store.calls.models_over_price():
        yield (
            f"model '{line.model}' billed ${line.cost:.4f} for {count_noun(line.calls, 'call')} that could cost "
            f"${line.worst:.4f} at most, by its price and `max_tokens`: check its `price`; a budget in dollars "
            f"reserves up to {line.factor:.3g} times as much"
        )


def _notes_on_settings(store: Store) -> Iterable[str]:
    """Say which settings are not available, and for how many replies of whom."""
    lines = [line for line in store.spending.sources() if line.not_settable]
    for model, settings in dict.fromkeys((line.model, line.not_settable) for line in lines):
        of = [line for line in lines if (line.model, line.not_settable) == (model, settings)]
        users = dict.fromkeys(PREFLIGHT if line.role == PREFLIGHT else f"{line.role} {line.name}" for line in of)
        tests = dict.fromkeys(line.test for line in of if line.test)
        where = f" in {', '.join(tests)}" if tests else ""
        replies = count_noun(sum(line.replies for line in of), "reply", "replies")
        yield (
            f"{settings}: not available for model '{model}', which refuses it; {replies} "
            f"({', '.join(users)}{where}) came {'with that value instead' if '<' in settings else 'without it'}"
        )


def _notes_on_conditions(records: jrh.RecordTable) -> Iterable[str]:
    """Say which conditions a judge's model does not have: their questions have no verdict."""
    refused = records.where(records.equals("status", Status.NOT_AVAILABLE.value))
    for (judge, test, output), rows in sorted(refused.split("judge", "test", "output"), key=lambda part: part[0]):
        yield (
            f"{output or 'a setting'}: not available for judge '{judge}', whose model refuses it; "
            f"{count_noun(len(rows), 'question')} of test '{test}' without a verdict"
        )


def _attrition(store: Store, summary: Summary) -> Iterable[Attrition]:
    items = {task.task.name: task.items for task in summary.tasks}
    for test in summary.tests_of_tasks:
        yield evolve(
            attrition(store, test.task, test.test, items[test.task]),
            applies=test.applies,
            # Nothing has to be made for a task that the test does not apply to.
            made=not test.applies or store.cases.digest(test.task, test.test) is not None,
            allow_empty=test.allow_empty,
            own_of=test.own_of,
        )


def _costs(records: jrh.RecordTable, summary: Summary) -> Iterable[CostLine]:
    """Add up the costs of records by judge, task and test."""
    import numpy as np  # not above, as a run imports this module before its first call

    parts = dict(records.split("judge", "task", "test"))
    # In the order of the suite, whereas `split` yields places as they first appear in the records.
    for place in product(summary.judges, (line.task.name for line in summary.tasks), summary.tests):
        if (rows := parts.get(place)) is not None:
            settled = ~rows.failure_mask()  # a question that will be asked again cost nothing yet
            cost, prompt, completion = map(rows.number, ("cost", "prompt_tokens", "completion_tokens"))
            judge, task, test = place
            yield CostLine(
                judge=judge,
                task=task,
                test=test,
                trials=len(rows),
                cost=round(float(np.nansum(cost)), 12),  # the order of addition must not change the result
                unknown=int(np.count_nonzero(np.isnan(cost) & settled)),
                prompt_tokens=int(np.nansum(prompt)),
                completion_tokens=int(np.nansum(completion)),
                tokens_unknown=int(np.count_nonzero(np.isnan(prompt + completion) & settled)),
            )


def _spending(store: Store, summary: Summary, records: jrh.RecordTable) -> tuple[SpendLine, ...]:
    """Return what the replies the run rests on cost, in the order of the suite; of an import, what its log says."""
    if store.meta(IMPORTED) is not None:
        return tuple(spending_of(line) for line in _costs(records, summary))
    models = {used.name for used in summary.components if used.role == "model"}
    tasks, tests = [task.task.name for task in summary.tasks], list(summary.tests)

    # The directory may hold replies for tests that the suite has no more.
    def in_suite(line: SpendLine) -> bool:
        return line.model in models if line.role == PREFLIGHT else line.task in tasks and line.test in tests

    def place(line: SpendLine) -> tuple[object, ...]:
        # Writers, graders and validators are no judges: within their role, task and test decide.
        judge = summary.judges.index(line.name) if line.name in summary.judges else -1
        if line.role == PREFLIGHT:
            return ROLES.index(line.role), line.model
        return ROLES.index(line.role), judge, tasks.index(line.task), tests.index(line.test), line.name, line.model

    return tuple(sorted(filter(in_suite, store.spending.lines()), key=place))


def _notes_on_cut_transcripts(records: jrh.RecordTable, summary: Summary) -> Iterable[str]:
    """Say of every judge how many questions it was shown only a part of."""
    for judge in summary.judges:
        left_out = records.where(records.equals("judge", judge)).number("left_out")
        if len(shortened := left_out[left_out > 0]):
            yield (
                f"judge '{judge}' saw only part of the transcript in {len(shortened)} of {len(left_out)} questions "
                f"because of its length limit; at most {int(shortened.max()):,} characters were left out"
            )


def attrition(store: Store, task: str, test: str, items: int) -> Attrition:
    """Count what became of one test's drafts."""
    reasons: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for line in store.cases.count_drafts(task, test):
        reasons[line.state][line.reason] = line.drafts
    case_count = sum(reasons[KEPT].values())
    return Attrition(
        task=task,
        test=test,
        items=items,
        drafted=case_count + sum(reasons[REJECTED].values()),
        kept=case_count,
        rejected=reasons[REJECTED],
        skipped=reasons[SKIPPED],
    )
