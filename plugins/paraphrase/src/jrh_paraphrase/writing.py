"""The paraphrase a model writes: asked for so often at most until one can be used."""

from __future__ import annotations

import re
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

from jrh_paraphrase.checks import build_checks, rejection, texts_of
from jrh_paraphrase.options import By, ParaphraseOptions
from jrh_paraphrase.replies import PROVIDER_ERROR, Unusable, usable_text

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
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
class ModelParaphrase:
    """Has every judged text of an item rewritten; an item of which one text cannot be had is skipped."""

    client: ModelClient
    task: Task
    prompt: str
    options: ParaphraseOptions
    checks: Mapping[str, Validator]
    seed: Callable[..., int]

    @classmethod
    def build(cls, model: ModelName, options: ParaphraseOptions, context: BuildContext) -> ModelParaphrase:
        """Find model and checks and read the prompt; raise `JrhError` where one cannot be used."""
        prompt = _packaged() if options.prompt is None else options.prompt.content
        variables_of(prompt)
        return cls(
            client=context.model(model),
            task=context.task,
            prompt=prompt,
            options=options,
            checks=build_checks(options.checks, context),
            seed=context.seed,
        )

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft, or one skip with the reason of the last attempt."""
        texts = texts_of(item, self.task.mode.judged_fields)
        if isinstance(texts, Skip):
            return [texts]
        written = dict(zip(texts, await gather(*(self._write(item, *pair) for pair in texts.items())), strict=True))
        details: Mapping[str, Json] = {
            "model": self.client.fingerprint,
            "temperature": self.options.temperature,
            "fields": {name: one.details for name, one in written.items()},
        }
        for one in written.values():
            if one.text is None:
                return [Skip(reason=one.reason, variant=By.MODEL.value, details=details)]
        fields = {name: one.text for name, one in written.items()}
        return [
            Draft(
                variant=By.MODEL.value,
                fields=fields,
                expectation=Same(),
                model=self.client.fingerprint,
                details=details,
            )
        ]

    async def _write(self, item: Item, name: str, original: str) -> Written:
        rejected: list[str] = []
        for attempt in range(self.options.attempts):
            seed = self.seed(item.id, name, attempt)
            reply = await self.client.ask(self._request(item, original, seed), repeat=attempt, purpose="generate")
            text = usable_text(reply, original, self.task)
            if isinstance(text, str):
                text = await self._checked(item, name, original, text)
            if isinstance(text, str):
                details = {"attempts": attempt + 1, "seed": seed, "status": reply.status.value, "rejected": rejected}
                return Written(text=text, reason="", details=details | {"length_ratio": _ratio(original, text)})
            rejected.append(text.reason)
            if text.reason == PROVIDER_ERROR:  # the gateway has already tried again
                break
        return Written(text=None, reason=rejected[-1], details={"attempts": len(rejected), "rejected": rejected})

    async def _checked(self, item: Item, name: str, original: str, text: str) -> str | Unusable:
        low, high = self.options.length_ratio
        ratio = _ratio(original, text)
        if not low <= ratio <= high:
            return Unusable("shorter than allowed" if ratio < low else "longer than allowed")
        reason = await rejection(self.checks, item, Draft(fields={name: text}))
        return Unusable(reason) if reason else text

    def _request(self, item: Item, original: str, seed: int) -> ChatRequest:
        request = item.fields.get("request") or ""
        # No text holds its own hash: nothing inside can close the tags.
        mark = content_id(original, request)[:8]
        variables = {"text": original, "request": request, "task": self.task, "mark": mark}
        return ChatRequest(
            messages=(Message(role="user", content=render(self.prompt, variables)),),
            sampling=Sampling(temperature=self.options.temperature, seed=seed),
            json_schema=_SCHEMA,
        )


def _ratio(original: str, text: str) -> float:
    """Return the words of a text per word of the original; a text without words counts as one."""
    before, after = (sum(1 for _ in _WORD.finditer(each)) for each in (original, text))
    return round(max(after, 1) / max(before, 1), 4)


@lru_cache
def _packaged() -> str:
    prompt = files("jrh_paraphrase").joinpath("prompts", "paraphrase.j2").read_text(encoding="utf-8")
    return prompt.removesuffix("\n")
