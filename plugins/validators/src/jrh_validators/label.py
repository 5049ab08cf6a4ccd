"""Ask a model to apply the task's rubric to the draft."""

from __future__ import annotations

import json
from asyncio import gather
from collections.abc import Mapping, Sequence

from attrs import frozen
from jrh import (
    BuildContext,
    Changes,
    ChatRequest,
    Draft,
    Equals,
    Expectation,
    Item,
    Json,
    Message,
    ModelClient,
    NotAbove,
    Reply,
    Same,
    Scale,
    Status,
    Task,
    Text,
    Validation,
)
from jrh.plugins import Parser
from jrh_authoring import Answer, ask_until_read, load_template, object_schema, render, tag_mark, template_variables

from jrh_validators.drafts import reject_undecided
from jrh_validators.options import LabelOptions


@frozen(kw_only=True)
class LlmLabel:
    """Accepts a draft if the label that a model reaches is the expected one.

    `Equals(label)` requires that label. The other expectations compare with the label that the same model gives to the
    unchanged item, so a model that is stricter than the gold labels does not reject more drafts. Without an
    expectation, any label is accepted.
    """

    client: ModelClient
    parser: Parser
    task: Task
    prompt: Text | None
    attempts: int

    @classmethod
    def build(cls, options: LabelOptions, context: BuildContext) -> LlmLabel:
        """Find model and parser and check the template.

        Raises:
            JrhError: The model or parser does not exist, or the template is invalid.
        """
        if options.prompt is not None:
            template_variables(options.prompt.content)
        return cls(
            client=context.model(options.model),
            parser=context.parser(options.parser),
            task=context.task,
            prompt=options.prompt,
            attempts=options.attempts,
        )

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Compare the draft's label with the expected one; the result includes the label either way."""
        questions = [self._answer(draft.task or self.task, {**item.fields, **draft.fields})]
        # The unchanged item is asked about only where the comparison needs it: it costs a call.
        if draft.expectation is not None and not isinstance(draft.expectation, Equals):
            questions.append(self._answer(self.task, item.fields))
        answers = await gather(*questions)
        for answer in answers:
            if answer.value is None:
                return reject_undecided(answer.reason, answer.details)
        label_map = draft.label_map if draft.label_map is not None else self.task.scale.identity_map()
        # A reworded template may use its labels the other way round; compared is what they mean.
        return _decision(label_map[answers[0].value or ""], draft.expectation, answers, self.task.scale)

    async def _answer(self, task: Task, fields: Mapping[str, Json]) -> Answer[str]:
        def read(reply: Reply) -> str | None:
            verdict = self.parser.parse(reply, task.scale)
            return verdict.presented if verdict.status is Status.OK else None

        return await ask_until_read(self.client, self._request(task, fields), read, self.attempts)

    def _request(self, task: Task, fields: Mapping[str, Json]) -> ChatRequest:
        # Structures as JSON: a template shows every field as text.
        shown = {name: _field_text(value) for name, value in fields.items()}
        # A text cannot contain its own hash, so nothing inside can close the tags.
        builtins = {"task": task, "labels": task.scale.labels, "fields": shown, "mark": tag_mark(shown)}
        source = load_template("jrh_validators", "label") if self.prompt is None else self.prompt.content
        return ChatRequest(
            messages=(Message(role="user", content=render(source, {**shown, **builtins})),),
            # The suite's own prompt may ask for any form, which the parser reads.
            json_schema=_schema(task.scale) if self.prompt is None else None,
        )


def _decision(
    reached: str, expectation: Expectation | None, answers: Sequence[Answer[str]], scale: Scale
) -> Validation:
    if expectation is None:
        return Validation(accepted=True, label=reached, details=answers[0].details)
    wanted = expectation.label if isinstance(expectation, Equals) else answers[-1].value or ""
    accepted = _meets(reached, expectation, wanted, scale)
    return Validation(
        accepted=accepted,
        # 1 for the wanted label, 0 for the furthest one.
        score=1 - scale.distance(reached, wanted) / max(1, len(scale.labels) - 1 if scale.ordered else 1),
        reason="" if accepted else "reached another label than expected",
        label=reached,
        details={**answers[0].details, "compared_with": wanted},
    )


def _meets(reached: str, expectation: Expectation, wanted: str, scale: Scale) -> bool:
    if isinstance(expectation, Same | Equals):
        return reached == wanted
    if isinstance(expectation, Changes):
        return reached != wanted
    above = scale.rank(reached) - scale.rank(wanted)
    return above <= 0 if isinstance(expectation, NotAbove) else above >= 0


def _field_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _schema(scale: Scale) -> Mapping[str, Json]:
    labels: list[Json] = [*scale.labels]
    return object_schema({"rationale": {"type": "string"}, "verdict": {"type": "string", "enum": labels}})
