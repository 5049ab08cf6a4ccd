"""The paraphrase a model writes: asked for so often at most until one can be used."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Callable, Sequence

from attrs import frozen
from jrh import BuildContext, Draft, Item, Message, ModelName, Skip, Task, render
from jrh.authoring import Checks, Generated, TextWriter, WrittenBy, length_ratio, texts_of
from jrh.text import packaged_template, tag_mark, variables_of

from jrh_paraphrase.options import ParaphraseOptions


@frozen(kw_only=True)
class ModelParaphrase:
    """Has every judged text of an item rewritten; an item of which one text cannot be had is skipped."""

    writer: TextWriter
    task: Task
    prompt: str
    bounds: tuple[float, float]
    """Of the words of the new text per word of the old one."""
    checks: Checks
    seed: Callable[..., int]

    @classmethod
    def build(cls, model: ModelName, options: ParaphraseOptions, context: BuildContext) -> ModelParaphrase:
        """Find model and checks and read the prompt; raise `JrhError` where one cannot be used."""
        own = options.prompt
        prompt = packaged_template("jrh_paraphrase", "paraphrase") if own is None else own.content
        variables_of(prompt)
        task = context.task
        return cls(
            writer=TextWriter(
                client=context.model(model),
                temperature=options.temperature,
                attempts=options.attempts,
                shown=(task.rubric, task.instruction),
            ),
            task=task,
            prompt=prompt,
            bounds=options.length_ratio,
            checks=Checks.of(options.checks, context),
            seed=context.seed,
        )

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft, or one skip with the reason of the last attempt."""
        texts = texts_of(item, self.task.mode.judged_fields)
        if isinstance(texts, Skip):
            return [texts]
        written = await gather(*(self._write(item, *pair) for pair in texts.items()))
        return [self.writer.outcome(dict(zip(texts, written, strict=True)), variant=WrittenBy.MODEL.value)]

    async def _write(self, item: Item, name: str, original: str) -> Generated:
        request = item.fields.get("request") or ""
        mark = tag_mark(original, request)
        variables = {"text": original, "request": request, "task": self.task, "mark": mark}

        async def rejection(text: str) -> str:
            low, high = self.bounds
            ratio = length_ratio(original, text)
            if not low <= ratio <= high:
                return "shorter than allowed" if ratio < low else "longer than allowed"
            return await self.checks.rejection(item, Draft(fields={name: text}))

        return await self.writer.write(
            [Message(role="user", content=render(self.prompt, variables))],
            original,
            seed=lambda attempt: self.seed(item.id, name, attempt),
            rejection=rejection,
        )
