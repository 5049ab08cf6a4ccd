"""Judge with a chat model: prompt template, answer format, model behind the gateway, parser."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from attrs import asdict, evolve, frozen
from jrh import (
    BuildContext,
    ChatRequest,
    JrhError,
    Json,
    Judgement,
    Message,
    Mode,
    ModelClient,
    Question,
    Reply,
    Sampling,
    Scale,
    ScaleKind,
    Status,
    Task,
    Verdict,
)
from jrh.plugins import Parser
from jrh.values import criteria_of_call
from jrh_authoring import json_text, load_template, object_schema, read_json, render, template_variables

from jrh_judges.defences import Defences, Guard, characters_left_out, mark_for, template_fields, text_of
from jrh_judges.options import LlmOptions


def criteria_together(question: Question) -> tuple[str, ...]:
    """Return the ids of the criteria that the question asks in one call, in the order shown; empty for a single one."""
    return tuple(criteria_of_call(question.fields)) if question.task.criteria is not None else ()


def own_criterion(question: Question) -> str:
    """Return the id of the criterion that the verdict is about."""
    criterion = question.fields.get("criterion")
    return str(criterion["id"]) if isinstance(criterion, Mapping) else ""


def format_together(ids: Sequence[str], scale: Scale, *, rationale: bool) -> str:
    """Return the line of the prompt that asks for one object with a verdict under the id of every criterion."""
    choices = ", ".join(json.dumps(label, ensure_ascii=False) for label in scale.labels)
    value = f"<one of {choices}>"
    if rationale:
        value = f'{{"rationale": "<your reasons, at most three sentences>", "verdict": {value}}}'
    keys = ", ".join(json.dumps(name, ensure_ascii=False) for name in ids)
    return (
        "Answer with one JSON object and nothing else. Its keys are the ids of the criteria, each exactly once: "
        f"{keys}. Each value is the verdict on that criterion: {value}"
    )


def schema_together(ids: Sequence[str], scale: Scale, verdict: Mapping[str, Json] | None) -> Mapping[str, Json]:
    """Return the JSON schema of that object; `verdict` is the schema of a verdict with its rationale, None without."""
    item_schema: Json = dict(verdict) if verdict is not None else {"type": "string", "enum": list(scale.labels)}
    return object_schema(dict.fromkeys(ids, item_schema))


def part_about(reply: Reply, own: str, ids: Sequence[str]) -> Reply | Verdict:
    """Return the part of a reply that is about one criterion, or why there is none.

    A reply that drops the criterion has no verdict on it: `unparsable`. One that names a criterion which was not asked
    answers another list, and which verdict is whose is unknown: `off_scale` for every criterion of the call.
    """
    parsed = read_json(reply.text)
    if parsed is None:
        return Verdict(status=Status.UNPARSABLE, detail="the reply has no JSON object with the criteria as keys")
    invented = [name for name in parsed if name not in ids]
    if invented:
        detail = f"the reply has a verdict on '{invented[0][:80]}', which is not a criterion of the call"
        return Verdict(status=Status.OFF_SCALE, detail=detail)
    # A verdict that another criterion got says nothing about this one.
    value = parsed.get(own)
    if value is None:
        return Verdict(status=Status.UNPARSABLE, detail=f"the reply has no verdict on criterion '{own[:80]}'")
    return evolve(reply, text=value if isinstance(value, str) else json_text(value), token_probabilities=())


RESPONSES: Final = "responses"
"""Template variable of a comparison: every response with its `label`, `field` and `text`, in the order shown."""
TOOL: Final = "reply"
"""Name of the tool that a model is to call with its verdict."""
OWN_VARIABLES: Final = ("task", "labels", "answer_format", "mark")
"""Template variables besides the item's fields; they hide item fields of the same name."""


@lru_cache(maxsize=256)
def answer_format(scale: Scale, *, as_json: bool, rationale: bool, by_tool: bool = False) -> str:
    """Return the line of the prompt that explains how to answer on the scale."""
    if as_json:
        reasons = '"rationale": "<your reasons, at most three sentences>", ' if rationale else ""
        choices = ", ".join(json.dumps(label, ensure_ascii=False) for label in scale.labels)
        if by_tool:
            return f'Answer by calling the tool `{TOOL}` with {{{reasons}"verdict": <one of {choices}>}}'
        return f'Answer with one JSON object and nothing else: {{{reasons}"verdict": <one of {choices}>}}'
    listed = ", ".join(scale.labels)
    if scale.kind is ScaleKind.ORDINAL:
        return f"Answer with exactly one of these levels, listed from lowest to highest, and nothing else: {listed}."
    if scale.kind is ScaleKind.PAIRWISE:
        meant = ", ".join(f"{option} for response {option}" for option in scale.options)
        tie = f", {scale.tie} for neither" if scale.tie else ""
        return f"Answer with exactly one of these labels and nothing else: {meant}{tie}."
    return f"Answer with exactly one of these labels and nothing else: {listed}."


@lru_cache(maxsize=256)
def verdict_schema(scale: Scale, *, rationale: bool) -> Mapping[str, Json]:
    """Return the JSON schema of a verdict on the scale; the rationale precedes the verdict."""
    properties: dict[str, Json] = {"rationale": {"type": "string"}} if rationale else {}
    # Behind the rationale: a model that writes its reasons first can use them for the verdict.
    properties["verdict"] = {"type": "string", "enum": list(scale.labels)}
    return object_schema(properties)


@frozen(kw_only=True)
class Asked:
    """A rendered question."""

    messages: tuple[Message, ...]
    left_out: int = 0
    """Characters of transcripts that did not fit their length budget."""


@frozen(kw_only=True)
class Wording:
    """The templates of one judge for one mode, checked."""

    user: str
    system: str
    as_json: bool
    rationale: bool
    by_tool: bool = False
    """Whether the verdict is to be given as the arguments of a tool."""
    transcript_limit: int | None = None
    """Longest transcript in characters."""
    defences: Defences = Defences()

    def in_mode(self, output: str) -> Wording:
        """Return the wording that asks for an output mode; the empty text for the judge's own."""
        return evolve(self, as_json=output != "text", by_tool=output == "tool-call") if output else self

    @classmethod
    def of(cls, options: LlmOptions, context: BuildContext) -> Wording:
        """Load the suite's templates or the built-in ones.

        Raises:
            JrhError: A template is invalid or does not show what is judged.
        """
        task, template, system = context.task, options.template, options.system
        user = template.content if template is not None else load_template("jrh_judges", task.mode.value)
        around = system.content if system is not None else load_template("jrh_judges", "system")
        source = template.source if template is not None and template.source else "template"
        _check_shows(user, task, source)
        template_variables(around)
        defences = Defences.of(options.defences, context.seed)
        defences.check(user, source)
        return cls(
            user=user,
            system=around,
            as_json=options.rationale or options.json_schema,
            rationale=options.rationale,
            transcript_limit=options.transcript_limit,
            defences=defences,
        )

    def build_request(self, question: Question) -> Asked:
        """Return the messages of a question; a prompt in the question takes precedence over the judge's own.

        Raises:
            JrhError: A template uses an unknown variable or an operation that the sandbox forbids, or the transcript is
                a list but not of messages.
        """
        prompt = question.prompt
        user, system = (self.user, self.system) if prompt is None else (prompt.user, prompt.system)
        variables, sign = self._variables(question, marked=_uses_mark(user) or _uses_mark(system))
        material, instruction = self.defences.around(
            _render(user, variables),
            _render(system, variables) if system.strip() else "",
            task=question.task,
            line=str(variables["answer_format"]),
            mark=str(variables["mark"]),
            sign=sign,
        )
        messages = [Message(role="user", content=material)]
        if system.strip() or instruction:
            messages.insert(0, Message(role="system", content=instruction))
        return Asked(messages=tuple(messages), left_out=characters_left_out(variables))

    def material(self, question: Question) -> tuple[str, ...]:
        """Return the judged texts as the judge sees them, without what its defences change."""
        variables = template_fields(question.fields, self.transcript_limit)
        return tuple(text_of(variables.get(name, "")) for name in question.task.judged_fields)

    def _variables(self, question: Question, *, marked: bool) -> tuple[dict[str, object], str]:
        task = question.task
        # Datamarking comes first, as the mark must be in none of the texts as they are shown.
        variables, sign = self.defences.disguise(template_fields(question.fields, self.transcript_limit), task)
        mark = ""
        if marked:
            mark = self.defences.mark(mark_for(variables.values()), variables.values())
        together = criteria_together(question)
        if together:
            line = format_together(together, task.scale, rationale=self.rationale)
        else:
            line = answer_format(task.scale, as_json=self.as_json, rationale=self.rationale, by_tool=self.by_tool)
        builtins = {"task": task, "labels": task.scale.labels, "answer_format": line, "mark": mark}
        # The built-in names last: a field of the item called `labels` must not change the scale that is shown.
        return {**variables, **builtins, **_responses(task, variables)}, sign


@lru_cache(maxsize=512)
def _uses_mark(source: str) -> bool:
    return "mark" in source and "mark" in template_variables(source)


def _responses(task: Task, variables: Mapping[str, object]) -> dict[str, object]:
    """Return the variable of a comparison: the label, the field and the text of every response, in the order shown."""
    if task.mode is not Mode.PAIRWISE:
        return {}
    names = zip(task.scale.options, task.judged_fields, strict=True)
    return {RESPONSES: tuple({"label": label, "field": name, "text": variables.get(name, "")} for label, name in names)}


def _check_shows(template: str, task: Task, source: str) -> None:
    used = template_variables(template)
    compares = task.mode is Mode.PAIRWISE
    # The loop over all responses shows every one of them, whatever they are called.
    if compares and RESPONSES in used:
        return
    mode, unseen = task.mode, [name for name in task.judged_fields if name not in used]
    if unseen:
        known = ", ".join((*OWN_VARIABLES, *((RESPONSES,) if compares else ()), "request", *task.judged_fields))
        raise JrhError(
            f"{source}: the template does not show {' and '.join(unseen)}, which a {mode.value} judge must see; "
            f"write {{{{ {unseen[0]} }}}}. It uses: {', '.join(sorted(used)) or 'no variable'}. Available: {known}, "
            "and the item's other fields."
        )


def _render(source: str, variables: Mapping[str, object]) -> str:
    try:
        return render(source, variables)
    except JrhError as error:
        raise JrhError(f"{error}; variables are {', '.join(sorted(variables))}") from error


_UNSET = Sampling()
_BOUND = ("json-schema", "tool-call")
"""Output modes that are bound to a schema."""


@frozen(kw_only=True)
class LlmJudge:
    """Asks a chat model one question at a time."""

    client: ModelClient
    parser: Parser
    wording: Wording
    sampling: Sampling
    """The judge's own sampling settings; those of the question take precedence."""
    json_schema: bool
    top_logprobs: int
    guard: Guard | None = None
    """The second judge, which looks first; None without that defence."""

    @classmethod
    def build(cls, options: LlmOptions, context: BuildContext) -> LlmJudge:
        """Resolve model and parser and check the templates.

        Raises:
            JrhError: The model or parser does not exist, or a template is unusable.
        """
        return cls(
            client=context.model(options.model),
            parser=context.parser(options.parser),
            wording=Wording.of(options, context),
            sampling=Sampling(
                temperature=options.temperature,
                max_tokens=options.max_tokens,
                reasoning_effort=options.reasoning_effort,
            ),
            json_schema=options.json_schema,
            top_logprobs=options.top_logprobs,
            guard=None if options.guard is None else Guard(client=context.model(options.guard), seed=context.seed),
        )

    async def judge(self, question: Question) -> Judgement:
        """Ask the model; an unusable reply becomes a verdict with its status and is not parsed."""
        if self.guard is not None:
            objection = await self.guard.objection(question, self.wording.material(question))
            # The judge is not asked then: its verdict could already be the attacker's.
            if objection is not None:
                return objection
        prompt = self.wording.in_mode(question.output).build_request(question)
        request = self._request(question, prompt.messages)
        reply = await self.client.ask(request, repeat=question.occasion, purpose="judge")
        together = criteria_together(question)
        criterion = own_criterion(question)
        share = (together.index(criterion), len(together)) if criterion in together else (0, 1)
        verdict = self._verdict(question, reply, criterion, together)
        return Judgement(verdict=verdict, reply=reply, left_out=prompt.left_out, share=share)

    def _verdict(self, question: Question, reply: Reply, own: str, together: tuple[str, ...]) -> Verdict:
        # A failed call keeps its own status; parsing an empty text would turn it into `unparsable`.
        if not reply.ok:
            return Verdict(status=reply.status, detail=reply.detail)
        part = part_about(reply, own, together) if together else reply
        return part if isinstance(part, Verdict) else self.parser.parse(part, question.task.scale)

    def _request(self, question: Question, messages: tuple[Message, ...]) -> ChatRequest:
        # A condition that varies the output decides over the judge's own option.
        bound = question.output in _BOUND if question.output else self.json_schema
        rationale, together = self.wording.rationale, criteria_together(question)
        schema = verdict_schema(question.task.scale, rationale=rationale) if bound else None
        if together and schema is not None:
            schema = schema_together(together, question.task.scale, schema if rationale else None)
        return ChatRequest(
            messages=messages,
            sampling=_over(question.sampling, self.sampling),
            json_schema=schema,
            top_logprobs=self.top_logprobs,
            output=question.output,
            needed=_required_parameters(question),
        )


def _required_parameters(question: Question) -> tuple[str, ...]:
    """Return what the condition varies and the verdict would not be about if the model were asked without it."""
    varied = [name for name in ("reasoning_effort", "max_tokens") if getattr(question.sampling, name) is not None]
    return (*(("output",) if question.output else ()), *varied)


def _over(asked: Sampling, own: Sampling) -> Sampling:
    """Fill the settings that the question leaves open with the judge's own."""
    if asked == _UNSET:
        return own
    return Sampling(**{**asdict(own), **{name: value for name, value in asdict(asked).items() if value is not None}})
