"""Read rationales: ask the suite's `rationale_model` which label each argues for; it never sees the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from attrs import field, frozen

from jrh.errors import RAISED
from jrh.hashing import content_id
from jrh.models.client import Client
from jrh.models.payer import GRADER, Payer, paid_by
from jrh.plugins.protocols import Argument, ChatRequest, RationaleReader
from jrh.running.building import Builder, identity, model_identity
from jrh.running.pool import for_each
from jrh.running.progress import Progress
from jrh.running.stages.judge import DETAIL, WORKERS
from jrh.store.records_table import Told
from jrh.store.run_store import Store
from jrh.store.spending_table import RATIONALES
from jrh.text.redact import error_line
from jrh.values.cases import Case, Polarity
from jrh.values.items import Task
from jrh.values.verdicts import ARGUES_FOR_NONE

_SLICE: Final = 1024
"""Rationales whose cases are in memory at once."""


@frozen(kw_only=True)
class RationaleQuestion:
    """One question to the model, for all trials for which it is the same."""

    request: ChatRequest
    argument: Argument
    task: str
    test: str
    """Of the first of these trials in plan order: the call is booked there."""
    trials: list[str] = field(factory=list)


async def read_rationales(builder: Builder, store: Store, progress: Progress) -> int:
    """Store which label every rationale of the plan argues for; return how many questions the model did not answer.

    Equal questions are asked once, and answered ones never again: the gateway keeps the replies. Without a
    `rationale_model`, what one has read before is forgotten.

    Raises:
        StopRun: the run ended early; what was read is stored, and the rest counts as unread.
    """
    store.flush()
    digest = _digest(builder, store)
    if store.records.argued_digest() == digest:
        return 0
    store.spending.forget_rationales()
    metric = builder.resolved.reading
    if metric is None:
        store.records.put_argued("", (), None)
        return 0
    reader, model = builder.reader(metric), builder.model(builder.resolved.suite.rationale_model or "")
    questions = _questions(builder, reader, store)
    progress.begin("rationales", len(questions))
    read: dict[str, str] = {}
    raised: list[str] = []
    answered = 0

    async def ask(question: RationaleQuestion) -> None:
        nonlocal answered
        payer = Payer(owner=RATIONALES, role=GRADER, name=metric.use.name, task=question.task, test=question.test)
        with paid_by(payer):
            reply = await model.ask(question.request, purpose="rationale")
        progress.advance()
        if reply.status.transient:
            return
        try:
            label = reader.read(reply, question.argument) if reply.ok else ""
        except RAISED as error:  # one question must not cost the others; it counts as unanswered
            raised.append(error_line(error))
            return
        answered += 1
        if label in question.argument.labels:
            read.update(dict.fromkeys(question.trials, label))

    try:
        await for_each(questions, ask, model.at_once if isinstance(model, Client) else WORKERS)
    finally:
        # Another digest makes the next run ask again; what was answered is not repeated.
        complete = answered == len(questions)
        store.records.put_argued(digest if complete else f"{digest}:{answered}", sorted(read.items()), ARGUES_FOR_NONE)
        progress.end()
    if raised:
        progress.say(f"Reading rationales, '{metric.entry.qualified}' raised {raised[0]}.")
    return len(questions) - answered


def open_questions(builder: Builder, store: Store) -> list[RationaleQuestion]:
    """Return the questions about stored rationales; none if all of them have been read."""
    metric = builder.resolved.reading
    if metric is None or store.records.argued_digest() == _digest(builder, store):
        return []
    return _questions(builder, builder.reader(metric), store)


def longest_question(case: Case, task: Task) -> Argument:
    """Return the longest question there can be about a verdict on a case, for an estimate."""
    # Three bytes a character, the most that common scripts need; the case's id makes every question another one.
    return _argument(case, task, f"{case.id} ".ljust(DETAIL, "\u6587"))


def _digest(builder: Builder, store: Store) -> str:
    """Return the id of everything that the answers depend on; empty if no model reads."""
    resolved = builder.resolved
    if resolved.reading is None:
        return ""
    model = resolved.models[resolved.suite.rationale_model or ""]
    return content_id(
        identity(resolved.reading, resolved),
        model_identity(model, resolved.suite.base),
        store.trials.digest(),
        [store.records.written()],
    )


def _questions(builder: Builder, reader: RationaleReader, store: Store) -> list[RationaleQuestion]:
    """Word the questions about the rationales of the plan, each question once."""
    tasks = {use.task.name: use.task for use in builder.resolved.suite.tasks}
    told = [each for each in store.records.told() if each.task in tasks]
    found: dict[tuple[object, ...], RationaleQuestion] = {}
    for start in range(0, len(told), _SLICE):
        some = told[start : start + _SLICE]
        cases = store.cases.by_id(list(dict.fromkeys(each.case_id for each in some)))
        _add(found, some, reader, cases, tasks)
    return list(found.values())


def _add(
    found: dict[tuple[object, ...], RationaleQuestion],
    told: Iterable[Told],
    reader: RationaleReader,
    cases: Mapping[str, Case],
    tasks: Mapping[str, Task],
) -> None:
    for each in told:
        if each.case_id not in cases:
            continue
        argument = _argument(cases[each.case_id], tasks[each.task], each.rationale)
        request = reader.request(argument)
        key = (each.task, argument.labels, request.messages)
        if key not in found:
            found[key] = RationaleQuestion(request=request, argument=argument, task=each.task, test=each.test)
        found[key].trials.append(each.trial_id)


def _argument(case: Case, task: Task, rationale: str) -> Argument:
    return Argument(
        rationale=rationale,
        task=case.presented_task or task,
        labels=tuple(case.label_map),
        inverted=case.condition.polarity is Polarity.INVERTED,
    )
