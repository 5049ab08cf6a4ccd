"""The texts a model writes: asked for so often at most until one can be used."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

from attrs import frozen
from jrh import (
    BuildContext,
    ChatRequest,
    Draft,
    Item,
    Json,
    Message,
    ModelClient,
    ModelName,
    Same,
    Sampling,
    Skip,
    Task,
    Validator,
    content_id,
    render,
    variables_of,
)

from jrh_verbosity.checks import build_checks, rejection, texts_of
from jrh_verbosity.length import breach, ratio, words
from jrh_verbosity.options import By, Variant, VerbosityOptions
from jrh_verbosity.replies import PROVIDER_ERROR, Unusable, usable_text

_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@frozen(kw_only=True)
class Written:
    """What came of asking for one text."""

    text: str | None
    reason: str
    """Why there is none."""
    details: Mapping[str, Json]


@frozen(kw_only=True)
class ModelVerbosity:
    """Has the chosen texts of an item rewritten; a variant of which one text cannot be had is skipped."""

    client: ModelClient
    task: Task
    prompts: Mapping[Variant, str]
    options: VerbosityOptions
    fields: tuple[str, ...]
    checks: Mapping[str, Validator]
    seed: Callable[..., int]

    @classmethod
    def build(
        cls, model: ModelName, options: VerbosityOptions, fields: tuple[str, ...], context: BuildContext
    ) -> ModelVerbosity:
        """Find model and checks and read the prompts; raise `JrhError` where one cannot be used."""
        own = {Variant.SHORT: options.short_prompt, Variant.LONG: options.long_prompt}
        prompts = {variant: _packaged(variant) if text is None else text.content for variant, text in own.items()}
        for prompt in prompts.values():
            variables_of(prompt)
        return cls(
            client=context.model(model),
            task=context.task,
            prompts=prompts,
            options=options,
            fields=fields,
            checks=build_checks(options.checks, context),
            seed=context.seed,
        )

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft, or a skip with the reason of the last attempt, per variant in the order of the options."""
        texts = texts_of(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        return await gather(*(self._variant(item, texts, variant) for variant in self.options.variants))

    async def _variant(self, item: Item, texts: Mapping[str, str], variant: Variant) -> Draft | Skip:
        asked = (self._write(item, name, text, variant) for name, text in texts.items())
        written = dict(zip(texts, await gather(*asked), strict=True))
        details: Mapping[str, Json] = {
            "by": By.MODEL.value,
            "model": self.client.fingerprint,
            "temperature": self.options.temperature,
            "fields": {name: one.details for name, one in written.items()},
        }
        for one in written.values():
            if one.text is None:
                return Skip(reason=one.reason, variant=variant.value, details=details)
        return Draft(
            variant=variant.value,
            fields={name: one.text for name, one in written.items()},
            expectation=Same(),
            model=self.client.fingerprint,
            details=details,
        )

    async def _write(self, item: Item, name: str, original: str, variant: Variant) -> Written:
        rejected: list[str] = []
        for attempt in range(self.options.attempts):
            seed = self.seed(item.id, variant.value, name, attempt)
            request = self._request(item, original, variant, seed)
            reply = await self.client.ask(request, repeat=attempt, purpose="generate")
            text = usable_text(reply, original, self.task)
            if isinstance(text, str):
                text = await self._checked(item, name, text, variant)
            if isinstance(text, str):
                details = {"attempts": attempt + 1, "seed": seed, "status": reply.status.value, "rejected": rejected}
                return Written(text=text, reason="", details=details | {"length_ratio": ratio(original, text)})
            rejected.append(text.reason)
            if text.reason == PROVIDER_ERROR:  # the gateway has already tried again
                break
        return Written(text=None, reason=rejected[-1], details={"attempts": len(rejected), "rejected": rejected})

    async def _checked(self, item: Item, name: str, text: str, variant: Variant) -> str | Unusable:
        achieved = ratio(str(item.fields[name]), text)
        reason = breach(achieved, variant, self.options.bounds(By.MODEL, variant))
        reason = reason or await rejection(self.checks, item, Draft(variant=variant.value, fields={name: text}))
        return Unusable(reason) if reason else text

    def _request(self, item: Item, original: str, variant: Variant, seed: int) -> ChatRequest:
        request = item.fields.get("request") or ""
        low, high = self.options.bounds(By.MODEL, variant)
        count = words(original)
        variables = {
            "text": original,
            "request": request,
            "task": self.task,
            "words": count,
            "low": round(low * count),
            "high": round(high * count),
            # No text holds its own hash: nothing inside can close the tags.
            "mark": content_id(original, request)[:8],
        }
        return ChatRequest(
            messages=(Message(role="user", content=render(self.prompts[variant], variables)),),
            sampling=Sampling(temperature=self.options.temperature, seed=seed),
            json_schema=_SCHEMA,
        )


@lru_cache
def _packaged(variant: Variant) -> str:
    prompt = files("jrh_verbosity").joinpath("prompts", f"{variant.value}.j2").read_text(encoding="utf-8")
    return prompt.removesuffix("\n")
