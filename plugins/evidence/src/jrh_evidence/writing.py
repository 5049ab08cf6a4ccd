"""Have a model write the evidence for an item."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from attrs import frozen
from jrh import BuildContext, Item, JrhError, Json, Message, ModelName
from jrh_authoring import TextWriter

from jrh_evidence.planting import TWICE, Body, Impossible

_SHOWN: Final = 8_000
"""Characters of the judged text that the model sees."""
_LONGEST: Final = 800
_REFUSED: Final = "longer than 800 characters"
_PROMPT: Final = """\
We test whether a grader notices a decisive passage, wherever it stands in a long text. The grader's task is:
{instruction}
Its rubric: {rubric}
It answers with one of: {labels}.

The request: {request}
The text that is graded begins so: {text}

Write one to three sentences that could stand anywhere in this text and that alone decide the verdict: with them in the
text, the right answer is {label}. They fit what the text is about, say a fact or show a violation, and do not speak of
the grader, the verdict or the rubric.

Answer with one JSON object and nothing else: {{"text": "<the sentences>"}}"""


@frozen(kw_only=True)
class EvidenceWriter:
    """Ask a model for the decisive sentences of an item, once for each item."""

    writer: TextWriter
    label: str
    context: BuildContext

    @classmethod
    def build(cls, model: ModelName, label: str, attempts: int, context: BuildContext) -> EvidenceWriter:
        """Resolve the model.

        Raises:
            JrhError: there is no label that the evidence is to imply, or no such model.
        """
        task = context.task
        if label not in task.scale.labels:
            raise JrhError("evidence: `model` needs a label to write evidence for; set `implies`")
        shown = (task.rubric, task.instruction)
        writer = TextWriter(client=context.model(model), temperature=None, attempts=attempts, shown=shown)
        return cls(writer=writer, label=label, context=context)

    async def write(self, item: Item, body: Body) -> tuple[str, dict[str, Json]]:
        """Return the evidence and how it came about.

        Raises:
            Impossible: no attempt gave a usable text.
        """
        text = "\n\n".join(body.texts())[:_SHOWN]

        async def rejection(found: str) -> str:
            return _REFUSED if len(found) > _LONGEST else TWICE if found.strip() in text else ""

        made = await self.writer.write((self._message(item, text),), text, seed=self._seed(item), rejection=rejection)
        if made.written is None:
            raise Impossible(made.reason)
        return " ".join(made.written.text.split()), {**made.details, "evidence": made.written.text}

    def _seed(self, item: Item) -> Callable[[int], int]:
        return lambda attempt: self.context.seed("evidence", item.id, attempt)

    def _message(self, item: Item, text: str) -> Message:
        task = self.context.task
        request = item.fields.get("request")
        prompt = _PROMPT.format(
            instruction=task.instruction or "judge the text",
            rubric=task.rubric or "none",
            labels=", ".join(task.scale.labels),
            request=json.dumps(request, ensure_ascii=False)[:_SHOWN],
            text=json.dumps(text, ensure_ascii=False),
            label=json.dumps(self.label, ensure_ascii=False),
        )
        return Message(role="user", content=prompt)
