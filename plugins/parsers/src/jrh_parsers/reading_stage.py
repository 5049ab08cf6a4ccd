"""The stage that asks the suite's `rationale_model` what each rationale argues for; it never sees the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from attrs import field, frozen
from jrh import Case, ChatRequest, Polarity, Task, content_id
from jrh.plugins import Stage, StageOutcome, StageQuestion
from jrh.running import StageWork, for_each, stage_identity
from jrh.text import count_noun
from jrh.values import ARGUES_FOR_NONE

from jrh_parsers.options import METRIC, RationaleOptions
from jrh_parsers.rationale import Argument, rationale_request, read_label

NAME: Final = "rationales"
_SLICE: Final = 1024
"""Rationales whose cases are in memory at once."""
_LONGEST: Final = 2000
"""Characters of a rationale that a record keeps."""
_WORKERS: Final = 64


@frozen(kw_only=True)
class Question:
    """One question to the model, for all trials for which it is the same."""

    request: ChatRequest
    argument: Argument
    task: str
    test: str
    """Of the first of these trials in plan order: the call is booked there."""
    trials: list[str] = field(factory=list)


class ReadRationales(Stage):
    """Stores which label every rationale of the plan argues for.

    Equal questions are asked once, and answered ones never again: the gateway keeps the replies. Without the key in the
    suite, what a model has read before is forgotten.
    """

    def __init__(self, options: RationaleOptions | None) -> None:
        """Take the key of the suite; None where it has none."""
        self._options = options

    def applies(self, work: StageWork) -> bool:
        """Return whether a model reads, or has read."""
        return self._options is not None or bool(work.store.records.rationales_digest())

    async def run(self, work: StageWork) -> StageOutcome:
        """Ask about what is not read; if the run ends early, what was read is stored, and the rest counts as unread."""
        store, digest = work.store, self._digest(stage_identity(work.builder.resolved, NAME), work.store)
        if store.records.rationales_digest() == digest:
            return StageOutcome()
        store.spending.forget_stage(NAME)
        if self._options is None:
            store.records.put_argued("", (), None)
            return StageOutcome()
        questions = self._questions(work.tasks, store)
        model: Any = work.builder.model(self._options.model) if questions else None
        work.progress.begin(NAME, len(questions))
        read: dict[str, str] = {}
        answered = 0

        async def ask(question: Question) -> None:
            nonlocal answered
            with work.book_calls(NAME, name=METRIC, task=question.task, test=question.test):
                reply = await model.ask(question.request, purpose="rationale")
            work.progress.advance()
            # Not answered: another run may get a reply, so nothing is stored about it.
            if reply.status.transient:
                return
            answered += 1
            label = read_label(reply, question.argument) if reply.ok else ""
            if label in question.argument.labels:
                read.update(dict.fromkeys(question.trials, label))

        try:
            await for_each(questions, ask, getattr(model, "at_once", _WORKERS))
        finally:
            # Another digest makes the next run ask again; what was answered is not repeated.
            complete = answered == len(questions)
            made_of = digest if complete else f"{digest}:{answered}"
            store.records.put_argued(made_of, sorted(read.items()), ARGUES_FOR_NONE)
            work.progress.end()
        unread = count_noun(len(questions) - answered, "question")
        note = f"`rationale_model` did not answer {unread} about rationales; the same command asks again"
        return StageOutcome(complete=complete, notes=() if complete else (note,))

    def questions(
        self, builder: Any, store: Any, cases: Mapping[tuple[str, str], Case], unjudged: Mapping[tuple[str, str], int]
    ) -> Iterator[StageQuestion]:
        """Yield the questions about stored rationales that are not read, and the longest about one to come."""
        if self._options is None:
            return
        tasks = {use.task.name: use.task for use in builder.resolved.suite.tasks}
        asking = partial(StageQuestion, model=self._options.model, name=METRIC)
        identity = stage_identity(builder.resolved, NAME)
        if store is not None and store.records.rationales_digest() != self._digest(identity, store):
            for known in self._questions(tasks, store):
                yield asking(request=known.request, task=known.task, test=known.test)
        for (task, test), case in cases.items():
            # The estimate of calls to come needs a text: the longest, so that the plan does not promise too little.
            if unjudged[task, test]:
                # Three bytes a character, the most that common scripts need; a case's id makes a question another one.
                argument = _argument(case, tasks[task], f"{case.id} ".ljust(_LONGEST, "\u6587"))
                request, most = rationale_request(argument), unjudged[task, test]
                yield asking(request=request, task=task, test=test, most=most)

    def _digest(self, identity: object, store: Any) -> str:
        """Return the id of everything that the answers depend on; empty if no model reads."""
        if self._options is None:
            return ""
        return content_id(identity, store.trials.digest(), [store.records.write_state()])

    def _questions(self, tasks: Mapping[str, Task], store: Any) -> list[Question]:
        """Word the questions about the rationales of the plan, each question once."""
        rationales = [row for row in store.records.rationales() if row.task in tasks]
        questions: dict[tuple[object, ...], Question] = {}
        for start in range(0, len(rationales), _SLICE):
            part = rationales[start : start + _SLICE]
            cases = store.cases.by_id(list(dict.fromkeys(row.case_id for row in part)))
            for row in (row for row in part if row.case_id in cases):
                argument = _argument(cases[row.case_id], tasks[row.task], row.rationale)
                request = rationale_request(argument)
                # By the question as worded: equal rationales of several judges are asked about once.
                key = (row.task, argument.labels, request.messages)
                if key not in questions:
                    questions[key] = Question(request=request, argument=argument, task=row.task, test=row.test)
                questions[key].trials.append(row.trial_id)
        return list(questions.values())


def _argument(case: Case, task: Task, rationale: str) -> Argument:
    return Argument(
        rationale=rationale,
        task=case.presented_task or task,
        labels=tuple(case.label_map),
        inverted=case.condition.polarity is Polarity.INVERTED,
    )
