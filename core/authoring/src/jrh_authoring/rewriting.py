"""Perturb items by having a model rewrite their texts, for tests that keep the meaning and change the wording."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol

from attrs import Factory, frozen
from jrh import BuildContext, Draft, Item, JrhError, Json, Message, ModelName, Skip, Task, ValidatorName
from jrh.plugins import Validator

from jrh_authoring.generation import Generated, TextWriter
from jrh_authoring.templates import render, tag_mark, template_variables
from jrh_authoring.wording import length_ratio, word_count


def item_texts(item: Item, fields: Sequence[str]) -> dict[str, str] | Skip:
    """Return the texts of these fields of an item, or a skip with the reason."""
    texts: dict[str, str] = {}
    for name in fields:
        text = item.fields.get(name)
        if not isinstance(text, str):
            return Skip(reason=f"field '{name}' is not text")
        if not text.strip():
            return Skip(reason=f"field '{name}' is empty")
        texts[name] = text
    return texts


@frozen
class Checks:
    """Run validators on every new text before it becomes a draft, so that the perturber can try again."""

    validators: Mapping[str, Validator]

    @classmethod
    def of(cls, names: Sequence[ValidatorName], context: BuildContext) -> Checks:
        """Look up the validators.

        Raises:
            JrhError: one does not exist, or needs all drafts at once.
        """
        validators: dict[str, Validator] = {}
        for name in names:
            validator: object = context.validator(name)
            # A validator over the whole set sees no draft before all are made, so it cannot send one back.
            if not isinstance(validator, Validator):
                raise JrhError(
                    f"'{name}' needs all drafts at once, so it cannot be used under `checks`; move it to `validate`"
                )
            validators[name] = validator
        return cls(validators)

    async def rejection(self, item: Item, draft: Draft) -> str:
        """Return the reason of the first validator that rejects the draft; empty if all accept it."""
        for validator in self.validators.values():
            validation = await validator.validate(item, draft)
            if not validation.accepted:
                return validation.reason or "rejected by a check"
        return ""

    async def check_draft(self, item: Item, draft: Draft) -> Draft | Skip:
        """Return the draft, or a skip with the reason of its rejection."""
        reason = await self.rejection(item, draft)
        return Skip(reason=reason, variant=draft.variant, details=draft.details) if reason else draft

    async def check_drafts(self, item: Item, outcomes: Iterable[Draft | Skip], *, alike: str) -> list[Draft | Skip]:
        """Check every draft of one variant, and skip drafts with the same texts as an earlier one.

        Args:
            item: the item of the drafts.
            outcomes: drafts and skips in order, such as one per strength.
            alike: reason for skipping a draft with the same texts.
        """
        checked: list[Draft | Skip] = []
        texts: list[Mapping[str, Json]] = []
        for outcome in outcomes:
            if isinstance(outcome, Skip):
                checked.append(outcome)
            # Two strengths may lead to the same text; asking the judge twice would only look like more data.
            elif outcome.fields in texts:
                checked.append(Skip(reason=alike, variant=outcome.variant))
            else:
                texts.append(outcome.fields)
                checked.append(await self.check_draft(item, outcome))
        return checked


@frozen(kw_only=True)
class Rewriting:
    """One way to rewrite a text: the prompt, and the allowed length of the result."""

    variant: str
    """Variant name of the drafts."""
    prompt: str
    """Jinja2 template; variables: text, request, task, words, low, high, mark."""
    bounds: tuple[float, float]
    """Minimum and maximum ratio of words to words of the old text."""
    breach: Callable[[float], str] = Factory(lambda self: partial(_breach, self.bounds), takes_self=True)
    """Maps a length ratio to how it violates the bounds; empty if it does not."""
    seed_parts: tuple[str, ...] = ()
    """Parts that distinguish its seeds from those of other ways of the same test."""
    details: Mapping[str, Json] = Factory(dict)
    """Further provenance of the drafts."""


def _breach(bounds: tuple[float, float], ratio: float) -> str:
    low, high = bounds
    return "shorter than allowed" if ratio < low else "longer than allowed" if ratio > high else ""


class WritingOptions(Protocol):
    """The options that every test has in which a model writes; `model` is apart, as rules write without one."""

    @property
    def temperature(self) -> float | None:
        """Return the sampling temperature; None: the suite's for the model."""

    @property
    def attempts(self) -> int:
        """Return how often a text is asked for at most."""

    @property
    def checks(self) -> tuple[ValidatorName, ...]:
        """Return the validators that every text has to pass."""


@frozen(kw_only=True)
class RewritingPerturber:
    """Have the texts of an item rewritten in one or more ways; skip a way if one of its texts is not usable."""

    writer: TextWriter
    task: Task
    fields: tuple[str, ...]
    ways: tuple[Rewriting, ...]
    checks: Checks
    seed: Callable[..., int]

    @classmethod
    def of(
        cls,
        ways: Sequence[Rewriting],
        context: BuildContext,
        options: WritingOptions,
        *,
        model: ModelName,
        fields: tuple[str, ...],
    ) -> RewritingPerturber:
        """Look up the model and the checks, and parse the prompts.

        Args:
            ways: in the order of the drafts.
            context: of the test.
            options: of the test.
            model: the model of the suite that writes.
            fields: the fields whose texts are rewritten.

        Raises:
            JrhError: model, a check or a prompt cannot be used.
        """
        # Before the first call: a mistake in the third prompt must not show after two have been paid for.
        for way in ways:
            template_variables(way.prompt)
        task = context.task
        return cls(
            writer=TextWriter(
                client=context.model(model),
                temperature=options.temperature,
                attempts=options.attempts,
                # A model sometimes returns the rubric in place of the text.
                shown=(task.rubric, task.instruction),
            ),
            task=task,
            fields=fields,
            ways=tuple(ways),
            checks=Checks.of(options.checks, context),
            seed=context.seed,
        )

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft per way, in order, or a skip with the reason of the last attempt."""
        texts = item_texts(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        return await gather(*(self._rewrite(item, texts, way) for way in self.ways))

    async def _rewrite(self, item: Item, texts: Mapping[str, str], way: Rewriting) -> Draft | Skip:
        written = await gather(*(self._write(item, name, text, way) for name, text in texts.items()))
        return self.writer.outcome(dict(zip(texts, written, strict=True)), variant=way.variant, details=way.details)

    async def _write(self, item: Item, name: str, original: str, way: Rewriting) -> Generated:
        async def rejection(text: str) -> str:
            # The length first: it costs nothing, and validators may ask a model.
            broken = way.breach(length_ratio(original, text))
            return broken or await self.checks.rejection(item, Draft(variant=way.variant, fields={name: text}))

        return await self.writer.write(
            [Message(role="user", content=self._prompt(item, original, way))],
            original,
            seed=lambda attempt: self.seed(item.id, *way.seed_parts, name, attempt),
            rejection=rejection,
        )

    def _prompt(self, item: Item, original: str, way: Rewriting) -> str:
        request = item.fields.get("request") or ""
        low, high = way.bounds
        count = word_count(original)
        variables = {
            "text": original,
            "request": request,
            "task": self.task,
            "words": count,
            "low": round(low * count),
            "high": round(high * count),
            # The tags around the text end in this mark, so that the text cannot close them.
            "mark": tag_mark(original, request),
        }
        return render(way.prompt, variables)
