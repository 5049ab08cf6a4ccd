"""The texts a model writes: asked for so often at most until one can be used."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen
from jrh import BuildContext, Draft, Item, Message, ModelName, Skip, Task, render
from jrh.authoring import Checks, Generated, TextWriter, WrittenBy, length_ratio, texts_of, word_count
from jrh.text import packaged_template, tag_mark, variables_of

from jrh_verbosity.length import breach
from jrh_verbosity.options import Variant, VerbosityOptions


@frozen(kw_only=True)
class ModelVerbosity:
    """Has the chosen texts of an item rewritten; a variant of which one text cannot be had is skipped."""

    writer: TextWriter
    task: Task
    prompts: Mapping[Variant, str]
    options: VerbosityOptions
    fields: tuple[str, ...]
    checks: Checks
    seed: Callable[..., int]

    @classmethod
    def build(
        cls, model: ModelName, options: VerbosityOptions, fields: tuple[str, ...], context: BuildContext
    ) -> ModelVerbosity:
        """Find model and checks and read the prompts; raise `JrhError` where one cannot be used."""
        own = {Variant.SHORT: options.short_prompt, Variant.LONG: options.long_prompt}
        prompts = {
            variant: packaged_template("jrh_verbosity", variant.value) if text is None else text.content
            for variant, text in own.items()
        }
        for prompt in prompts.values():
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
            prompts=prompts,
            options=options,
            fields=fields,
            checks=Checks.of(options.checks, context),
            seed=context.seed,
        )

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft, or a skip with the reason of the last attempt, per variant in the order of the options."""
        texts = texts_of(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        return await gather(*(self._variant(item, texts, variant) for variant in self.options.variants))

    async def _variant(self, item: Item, texts: Mapping[str, str], variant: Variant) -> Draft | Skip:
        written = await gather(*(self._write(item, name, text, variant) for name, text in texts.items()))
        return self.writer.outcome(
            dict(zip(texts, written, strict=True)), variant=variant.value, details={"by": WrittenBy.MODEL.value}
        )

    async def _write(self, item: Item, name: str, original: str, variant: Variant) -> Generated:
        bounds = self.options.bounds(WrittenBy.MODEL, variant)

        async def rejection(text: str) -> str:
            broken = breach(length_ratio(original, text), variant, bounds)
            return broken or await self.checks.rejection(item, Draft(variant=variant.value, fields={name: text}))

        return await self.writer.write(
            [Message(role="user", content=self._prompt(item, original, variant))],
            original,
            seed=lambda attempt: self.seed(item.id, variant.value, name, attempt),
            rejection=rejection,
        )

    def _prompt(self, item: Item, original: str, variant: Variant) -> str:
        request = item.fields.get("request") or ""
        low, high = self.options.bounds(WrittenBy.MODEL, variant)
        count = word_count(original)
        variables = {
            "text": original,
            "request": request,
            "task": self.task,
            "words": count,
            "low": round(low * count),
            "high": round(high * count),
            "mark": tag_mark(original, request),
        }
        return render(self.prompts[variant], variables)
