"""Plan, edit step by step with a running summary, verify, and plan again if that fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from attrs import Factory, asdict, define, frozen
from jrh import Draft, Item, Json, Scale, Skip, Task
from jrh.text import TranscriptMessage
from jrh_authoring import PROVIDER_ERROR, Unusable, json_text, object_schema, read_json, render_transcript, text_schema

from jrh_agentic.aims import Aim
from jrh_agentic.messages import Edit, Original, describe_edits, diff, shorten
from jrh_agentic.options import PipelineOptions
from jrh_agentic.replies import EDIT_SCHEMA, PLAN_SCHEMA, TEXT, Plan, Step, as_text, read_edit, read_plan, read_string
from jrh_agentic.requests import FAILED, NO_JSON, REFUSED, Journal, NoPlan, Prompt, Role, Roles, word_request

_EDITS_SHOWN: Final = 8_000
"""Characters of the edits made so far that a role is shown; the last ones stay."""


@define(kw_only=True)
class Run:
    """The state of one transcript on its way."""

    item: Item
    aim: Aim
    messages: list[TranscriptMessage]
    summary: str = ""
    journal: Journal = Factory(Journal)
    edits: list[Edit] = Factory(list)
    summaries: list[Json] = Factory(list)
    rounds: list[dict[str, Json]] = Factory(list)
    objections: list[str] = Factory(list)
    left_out: int = 0
    """Characters of the transcript that the planner was not shown."""

    def edit_history(self) -> str:
        """Return the edits made so far, the last ones where they are many."""
        shown = [f"message {edit.message}: {edit.what}\n{edit.diff}" for edit in self.edits]
        text = "\n\n".join(shown)
        return text if len(text) <= _EDITS_SHOWN else f"[earlier edits left out]\n{text[-_EDITS_SHOWN:]}"

    def details(self) -> dict[str, Json]:
        """Return everything that was done, for the provenance."""
        return {
            "by": "model",
            "wanted": self.aim.label,
            "rounds": list(self.rounds),
            **describe_edits(self.edits),
            "summaries": self.summaries,
            "calls": list(self.journal.calls),
            "costs": self.journal.costs(),
            "messages": len(self.messages),
            "left_out": self.left_out,
        }

    def skip(self, reason: str) -> Skip:
        """Return the skip for a transcript that cannot become a case."""
        return Skip(reason=reason, variant=self.aim.variant, details=self.details())


@frozen(kw_only=True)
class Verification:
    """Whether the edits are enough."""

    accepted: bool
    label: str | None
    """What the verifier answered; None where it only compared."""
    reason: str


def _schema(name: str, kind: Mapping[str, Json]) -> Mapping[str, Json]:
    return object_schema({"reason": TEXT, name: kind})


def label_schema(scale: Scale) -> Mapping[str, Json]:
    """Return the JSON that is asked for where the verifier judges."""
    return _schema("label", {"type": "string", "enum": list(scale.labels)})


SAME_SCHEMA: Final = _schema("same", {"type": "boolean"})
"""The JSON that is asked for where the verifier compares."""


def read_label(text: str, scale: Scale, wanted: str) -> Verification | Unusable:
    """Read which label the verifier gives; it accepts where that is the wanted one."""
    answer = read_json(text, keys=("label",))
    if answer is None:
        return NO_JSON
    written = answer["label"]
    # A whole number is what a model writes for the level of that name.
    text = str(written) if isinstance(written, (int, str)) and not isinstance(written, bool) else ""
    label = scale.match(text)
    if label is None:
        return Unusable("no label in the reply")
    return Verification(accepted=label == wanted, label=label, reason=read_string(answer.get("reason")))


def read_same(text: str) -> Verification | Unusable:
    """Read whether the edited messages say the same."""
    answer = read_json(text, keys=("same",))
    if answer is None:
        return NO_JSON
    if not isinstance(answer["same"], bool):
        return Unusable("no answer in the reply")
    return Verification(accepted=answer["same"], label=None, reason=read_string(answer.get("reason")))


T = TypeVar("T")
NOT_AGREED: Final = "the verifier did not agree"
_LONGEST_SUMMARY: Final = 4_000
_NEIGHBOUR: Final = 1_500
_SUMMARY_SCHEMA: Final = text_schema("summary")


@frozen(kw_only=True)
class Pipeline:
    """Edits one transcript towards one aim; the outcome depends on item, aim, options and replies alone."""

    task: Task
    roles: Roles
    options: PipelineOptions

    def most_calls(self) -> Mapping[str, int]:
        """Return the most calls to each model for one aim: every attempt, step and round is used."""
        plans = self.roles.attempts * self.options.max_rounds
        # Every edit is followed by an update of the summary, so the two roles are asked equally often; the summary is
        # also written once before the first plan.
        edits = plans * self.options.max_steps
        by_role = {Role.PLANNER: plans, Role.EDITOR: edits, Role.SUMMARIZER: self.roles.attempts + edits}
        if self.options.verify:
            by_role[Role.VERIFIER] = plans
        calls: Counter[str] = Counter()
        for role, most in by_role.items():
            calls[self.roles.clients[role].name] += most
        return calls

    async def edit(self, item: Item, original: Original, aim: Aim) -> Draft | Skip:
        """Return the edited transcript, or what kept it from becoming a case."""
        run = Run(item=item, aim=aim, messages=[*original.messages])
        shown = render_transcript(run.messages, limit=self.options.max_characters)
        reason = await self._summarise(run, Prompt.SUMMARIZER, {"transcript": shown.text}, "(there is no summary)")
        for _ in range(self.options.max_rounds):
            reason = reason or await self._round(run)
            if reason or run.rounds[-1].get("accepted"):
                break
        else:
            # No break: the verifier rejected every round.
            reason = NOT_AGREED
        # A later round may undo an earlier edit, and a case that equals its item tests nothing.
        if not reason and tuple(run.messages) == original.messages:
            reason = "the edits cancel each other out"
        if reason:
            return run.skip(reason)
        return Draft(
            variant=aim.variant,
            strength=float(len(run.edits)),
            fields=original.field(run.messages),
            expectation=aim.expectation,
            model=self.roles.clients[Role.EDITOR].fingerprint,
            details=run.details(),
        )

    async def _round(self, run: Run) -> str:
        """Plan, edit, verify once; return what ends the work without a case, empty where nothing does."""
        number = len(run.rounds)
        plan = await self._plan(run, number)
        if isinstance(plan, Unusable):
            if isinstance(plan, NoPlan) and plan.dropped:
                run.rounds.append({"dropped": list(plan.dropped), "accepted": False})
            return _of(Role.PLANNER, plan)
        left_out: list[Json] = []
        # Noted before the edits, so that a skip in the middle of a round still says what was planned.
        run.rounds.append({**plan.describe(), "not_made": left_out, "accepted": False, "verification": None})
        edits = 0
        for place, step in enumerate(plan.steps):
            outcome = await self._edit_message(run, plan, place)
            if isinstance(outcome, TranscriptMessage):
                reason = await self._apply(run, step, outcome)
                edits += 1
            # A refusal or a failed call ends the work; any other unusable edit costs only its step.
            elif outcome in (REFUSED, FAILED):
                reason = _of(Role.EDITOR, outcome)
            else:
                left_out.append({"message": step.message, "reason": outcome.reason})
                reason = ""
            if reason:
                return reason
        if edits:
            return await self._verify(run)
        # Earlier rounds made edits, but the verifier rejected them.
        return "no usable edit" if number == 0 else NOT_AGREED

    async def _plan(self, run: Run, number: int) -> Plan | Unusable:
        # After a rejection this is the edited transcript, and the planner also reads the objections.
        messages = tuple(run.messages)
        shown = render_transcript(messages, limit=self.options.max_characters)
        run.left_out = shown.left_out.characters
        variables = {
            "transcript": shown.text,
            "edits": run.edit_history(),
            "objections": "\n".join(run.objections),
            "max_steps": self.options.max_steps,
        }
        read = partial(read_plan, messages=messages, most=self.options.max_steps)
        return await self._ask(run, Role.PLANNER, Prompt.PLANNER, variables, read, PLAN_SCHEMA, run.aim.variant, number)

    async def _edit_message(self, run: Run, plan: Plan, place: int) -> TranscriptMessage | Unusable:
        step = plan.steps[place]
        at = step.message - 1
        message = run.messages[at]
        variables = {
            "plan": plan.to_text(place),
            "step": step.goal,
            "summary": run.summary,
            "edits": run.edit_history(),
            "before": _neighbours(run.messages, at - 2, at),
            "after": _neighbours(run.messages, at + 1, at + 2),
            "message": as_text(message, step.message),
            "number": step.message,
        }
        entry = self.task.rubric or self.task.instruction
        read = partial(read_edit, message=message, number=step.message, entry=entry)
        parts = run.aim.variant, len(run.rounds), place
        return await self._ask(run, Role.EDITOR, Prompt.EDITOR, variables, read, EDIT_SCHEMA, *parts)

    async def _apply(self, run: Run, step: Step, edited: TranscriptMessage) -> str:
        """Put the edited message into its place and bring the summary up to date, from the edit alone."""
        at = step.message - 1
        edit = Edit(was=step.message, message=step.message, what=step.goal, diff=diff(run.messages[at], edited))
        run.messages[at] = edited
        run.edits.append(edit)
        variables = {"summary": run.summary, "edit": f"message {step.message}\n{edit.diff}"}
        # Without a usable update the last summary stays, with a line that says what was edited since.
        otherwise = shorten(f"{run.summary}\nMessage {step.message} was edited since: {step.goal}", _LONGEST_SUMMARY)
        return await self._summarise(run, Prompt.UPDATE, variables, otherwise, len(run.edits))

    async def _verify(self, run: Run) -> str:
        if not self.options.verify:
            run.rounds[-1]["accepted"] = True
            return ""
        label = run.aim.label
        shown = render_transcript(run.messages, limit=self.options.max_characters)
        variables = {"transcript": shown.text, "edits": run.edit_history()}
        read: Callable[[str], Verification | Unusable] = read_same
        # Edits of style aim at no label, so the verifier compares messages instead of judging.
        prompt, schema = Prompt.SAME, SAME_SCHEMA
        if label is not None:
            read = partial(read_label, scale=self.task.scale, wanted=label)
            prompt, schema = Prompt.VERIFIER, label_schema(self.task.scale)
        parts = run.aim.variant, len(run.rounds)
        verification = await self._ask(run, Role.VERIFIER, prompt, variables, read, schema, *parts)
        if not isinstance(verification, Verification):
            return _of(Role.VERIFIER, verification)
        run.rounds[-1].update(accepted=verification.accepted, verification=asdict(verification))
        answered = f"it answers {verification.label}, because: " if verification.label is not None else ""
        run.objections.append(f"- {answered}{verification.reason}")
        return ""

    async def _ask(
        self,
        run: Run,
        role: Role,
        prompt: Prompt,
        variables: Mapping[str, object],
        read: Callable[[str], T | Unusable],
        schema: Mapping[str, Json],
        *parts: object,
    ) -> T | Unusable:
        """Ask a role about the transcript; `parts` tell the seeds of this request from those of others about it."""
        messages = word_request(self.task, prompt, run.aim, variables)
        return await self.roles.ask(role, messages, read, run.journal, run.item.id, *parts, schema=schema)

    async def _summarise(
        self, run: Run, prompt: Prompt, variables: Mapping[str, object], otherwise: str, *parts: object
    ) -> str:
        """Ask for the summary, or take the other text; return what ends the work, empty where nothing does."""
        # Keeps these seeds apart from those of other requests about the same transcript.
        parts = ("summary", *parts)
        summary = await self._ask(run, Role.SUMMARIZER, prompt, variables, _read_summary, _SUMMARY_SCHEMA, *parts)
        if summary == FAILED:
            return PROVIDER_ERROR
        usable = isinstance(summary, str)
        run.summary = summary if isinstance(summary, str) else otherwise
        run.summaries.append({"after": len(run.edits), "summary": run.summary, "kept": not usable})
        return ""


def _read_summary(text: str) -> str | Unusable:
    answer = read_json(text, keys=("summary",))
    if answer is None:
        return NO_JSON
    return read_string(answer["summary"], _LONGEST_SUMMARY) or Unusable("no summary in the reply")


def _of(role: Role, unusable: Unusable) -> str:
    """Return the reason of a skip: a refusal with its role, a provider's failure, or what was wrong with the reply."""
    if unusable == FAILED:
        return PROVIDER_ERROR
    return f"{role.value} refused" if unusable == REFUSED else f"{role.value}: {unusable.reason}"


def _neighbours(messages: Sequence[TranscriptMessage], start: int, end: int) -> str:
    return "\n\n".join(
        f"[{place + 1}] {message.role}\n{shorten(_message_text(message), _NEIGHBOUR)}"
        for place, message in enumerate(messages)
        if max(start, 0) <= place < end
    )


def _message_text(message: TranscriptMessage) -> str:
    return "\n".join(
        [message.content, *(f"calls {call.name} {json_text(call.arguments)}" for call in message.tool_calls)]
    )
