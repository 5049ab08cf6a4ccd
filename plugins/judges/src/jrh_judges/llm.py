"""Judge with a chat model: prompt template, model behind the gateway, parser."""

from __future__ import annotations

from attrs import asdict, frozen
from jrh import BuildContext, ChatRequest, Judgement, Message, ModelClient, Question, Reply, Sampling, Verdict
from jrh.plugins import Parser

from jrh_judges.defences import Guard
from jrh_judges.options import LlmOptions
from jrh_judges.wording import Wording, criteria_together, own_criterion, part_about, schema_together, verdict_schema

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
