"""Plant errors by rules or by a model: one draft per kind and number of errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count as natural_numbers
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, JrhError, Json, Message, Skip, Task, Text
from jrh.plugins import Perturber
from jrh_authoring import (
    TextWriter,
    WrittenBy,
    apply_edits,
    check_template,
    load_template,
    object_schema,
    render,
    required_model,
)

from jrh_label_flip.aims import Aim, Aims
from jrh_label_flip.options import BY_RULES, Error, LabelFlipOptions
from jrh_label_flip.passages import Passage, choose, describe_edits, words
from jrh_label_flip.rules import RULES

DESCRIPTIONS: Final[Mapping[Error, str]] = {
    Error.FLIP: "Change what it says so that the judge's answer has to be another one.",
    Error.NEGATION: "Negate a statement, or take the negation of one away",
    Error.ANTONYM: "Replace a word by its opposite, so that a statement becomes false",
    Error.NUMBER: "Replace a number by a wrong one",
    Error.CALCULATION: "Make a mistake in a calculation, and keep the wrong result in what follows from it",
    Error.UNIT: "Give a quantity a wrong unit",
    Error.DATE: "Replace a date, a year or a time by a wrong one",
    Error.ENTITY: "Replace the name of a person, place or thing by a wrong one of the same kind",
    Error.OPPOSITE_FACT: "State the opposite of a fact",
    Error.CONSISTENCY: "Let the response contradict something it says itself",
    Error.REMOVED_FACT: "Leave out a fact that a complete response needs",
    Error.SEQUENCE: "Put steps or events into a wrong order",
    Error.SPELLING: "Misspell a word",
    Error.GRAMMAR: "Make a mistake of grammar",
    Error.ASSUMPTION: "Let the response rest on a wrong assumption",
    Error.CONTEXTUAL: "Bring in something that does not belong to the request",
    Error.COMPREHENSIVENESS: "Replace something specific that a complete response needs by something vague",
    Error.DO_LESS: "Do less than the request asks for",
    Error.DO_MORE: "Do more than the request asks for, where that makes the response worse",
    Error.IGNORED_FORMAT: "Break a rule of format or length that the request sets",
}
"""Instruction to the model for each kind of error."""

SCHEMA: Final = object_schema(
    {"response": {"type": "string"}, "changes": {"type": "array", "items": {"type": "string"}}}
)
VARIABLES: Final = words("task request response other target error description count mark")
_TAG: Final = re.compile(r"<\s*/?\s*(?:request|response|other)(?![a-z])", re.IGNORECASE)


@frozen(kw_only=True)
class Wording:
    """The template of the request to the model, checked."""

    user: str
    system: str

    @classmethod
    def of(cls, prompt: Text | None) -> Wording:
        """Take the suite's template or the package's.

        Raises:
            JrhError: the template is not valid, uses an unknown name, or does not show the response.
        """
        user = prompt.content if prompt else load_template("jrh_label_flip", "rewrite")
        check_template("label-flip: the prompt template", user, known=VARIABLES, needed="response")
        return cls(user=user, system=load_template("jrh_label_flip", "system"))

    def messages(self, task: Task, item: Item, aim: Aim, error: Error, count: int) -> tuple[Message, ...]:
        """Return the messages for one item; text of the item is never read as a template."""
        texts = {
            "request": str(item.fields.get("request", "")),
            "response": str(item.fields[aim.field]),
            "other": str(item.fields.get(aim.other, "")) if aim.other else "",
        }
        content = render(
            self.user,
            {
                **texts,
                "task": task,
                "target": aim.wanted,
                "error": error.value,
                "count": count,
                "description": instruction(error, count),
                "mark": _mark(texts.values()),
            },
        )
        return (Message(role="system", content=self.system), Message(role="user", content=content))


def instruction(error: Error, count: int) -> str:
    """Say what the model has to do: the error, and how many of it."""
    if error is Error.FLIP:
        return DESCRIPTIONS[error]
    return (
        f"{DESCRIPTIONS[error]}. Plant {'exactly one error' if count == 1 else f'exactly {count} errors'} of this kind."
    )


def _mark(texts: Collection[str]) -> str:
    """Return what is appended to the tags so that no text can close them; empty where none tries."""
    # Most texts hold no such tag; without a mark the prompt is the same for all of them.
    if not any(_TAG.search(text) for text in texts):
        return ""
    return next(mark for mark in (f"-{n}" for n in natural_numbers(1)) if not any(mark in text for text in texts))


@frozen(kw_only=True)
class ModelPerturber:
    """Lets a model rewrite the response; a failed rewrite becomes a skip, never a case."""

    task: Task
    aims: Aims
    errors: tuple[Error, ...]
    counts: tuple[int, ...]
    writer: TextWriter
    wording: Wording
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft or a skip per kind and number of errors, in the order of the options."""
        outcomes: list[Draft | Skip] = []
        for error in self.errors:
            aim = self._aim(item, error)
            if isinstance(aim, Skip):
                outcomes.append(aim)
                continue
            # A flip does not consist of countable errors.
            counts = self.counts if error is not Error.FLIP else (1,)
            outcomes.extend([await self._rewritten(item, aim, error, count) for count in counts])
        return outcomes

    def _aim(self, item: Item, error: Error) -> Aim | Skip:
        aim = self.aims.aim(item, error)
        if isinstance(aim, Skip):
            return Skip(reason=aim.reason, variant=error.value)
        for name in filter(None, (aim.field, aim.other)):
            text = item.fields.get(name)
            if not isinstance(text, str) or not text.strip():
                return Skip(reason=f"field '{name}' is empty or not text", variant=error.value)
        return aim

    async def _rewritten(self, item: Item, aim: Aim, error: Error, count: int) -> Draft | Skip:
        generated = await self.writer.write(
            self.wording.messages(self.task, item, aim, error, count),
            str(item.fields[aim.field]),
            seed=lambda attempt: self.seed(item.id, error.value, count, attempt),
            # A model that copies the other response has made no error in this one.
            shown=(str(item.fields.get(aim.other or "", "")),),
        )
        tried: list[Json] = [
            {"seed": attempt.seed, "status": attempt.status.value, "rejected": attempt.rejected}
            for attempt in generated.attempts
        ]
        details: dict[str, Json] = {
            "by": "model",
            "field": aim.field,
            "wanted": aim.wanted,
            "temperature": self.writer.temperature,
            "attempts": tried,
        }
        if generated.written is None:
            return Skip(reason=generated.reason, variant=error.value, details=details)
        return Draft(
            variant=error.value,
            # Errors of a flip are not counted, so that it has no strength to plot.
            strength=0.0 if error is Error.FLIP else float(count),
            fields={aim.field: generated.written.text},
            expectation=aim.expectation,
            model=self.writer.client.fingerprint,
            details={**details, "changes": _texts(generated.written.said.get("changes"))},
        )


def _texts(value: Json) -> list[Json]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, (list, tuple)) else []


@frozen(kw_only=True)
class RulePerturber:
    """Plants errors by rules; skips an item in which no edit is clearly an error."""

    aims: Aims
    errors: tuple[Error, ...]
    counts: tuple[int, ...]
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft per kind and number of errors, in the order of the options; deterministic given the seed."""
        outcomes = [outcome for error in self.errors for outcome in self._outcomes(item, error)]
        reasons = {outcome.reason if isinstance(outcome, Skip) else "" for outcome in outcomes}
        # A reason that rules out every error is reported once.
        return outcomes if len(reasons) > 1 or "" in reasons else [Skip(reason=outcome) for outcome in reasons]

    def _outcomes(self, item: Item, error: Error) -> Iterator[Draft | Skip]:
        aim = self.aims.aim(item, error)
        if isinstance(aim, Skip):
            yield Skip(reason=aim.reason, variant=error.value)
            return
        text = item.fields.get(aim.field)
        if not isinstance(text, str):
            yield Skip(reason=f"field '{aim.field}' is not text", variant=error.value)
            return
        # The seed ignores the number of errors, so the errors of a short draft are a subset of those of a long one.
        seed = self.seed(item.id, error.value)
        request = item.fields.get("request")
        yield from self._plant_error(
            Passage(text=text, request=request if isinstance(request, str) else "", seed=seed), aim, error
        )

    def _plant_error(self, passage: Passage, aim: Aim, error: Error) -> Iterator[Draft | Skip]:
        if not passage.english:
            yield Skip(reason="the response is not English; the rules need English", variant=error.value)
            return
        # All possible edits in a drawn order: each number of errors takes a prefix of it.
        possible = choose(RULES[error](passage), len(passage.sentences), passage.seed)
        if not possible:
            yield Skip(reason=f"no place for the error '{error.value}'", variant=error.value)
            return
        for count in self.counts:
            # Fewer errors than asked for would be another strength under this name.
            if count > len(possible):
                yield Skip(reason=f"too few places for {count} errors '{error.value}'", variant=error.value)
                continue
            edits = possible[:count]
            yield Draft(
                variant=error.value,
                strength=float(count),
                fields={aim.field: apply_edits(passage.text, edits)},
                expectation=aim.expectation,
                details={
                    "by": "rules",
                    "field": aim.field,
                    "edits": describe_edits(passage.text, edits),
                    "places": len(possible),
                    "seed": passage.seed,
                },
            )


def build(options: LabelFlipOptions, context: BuildContext) -> Perturber:
    """Build the perturber by rules or by a model.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    by = WrittenBy.of(options.by, options.model)
    aims = Aims.of(options, context.task, by)
    errors = options.variants or aims.errors()
    if by is WrittenBy.RULES:
        beyond = [error.value for error in errors if error not in BY_RULES]
        if beyond:
            raise JrhError(
                f"label-flip: no rule makes {', '.join(beyond)}; name a `model`, or choose from "
                f"{', '.join(error.value for error in BY_RULES)}"
            )
        return RulePerturber(aims=aims, errors=errors, counts=options.errors, seed=context.seed)
    task = context.task
    return ModelPerturber(
        task=task,
        aims=aims,
        errors=errors,
        counts=options.errors,
        writer=TextWriter(
            client=context.model(required_model(options.model, "label-flip")),
            temperature=options.temperature,
            attempts=options.attempts,
            shown=(task.rubric, task.instruction),
            key="response",
            schema=SCHEMA,
        ),
        wording=Wording.of(options.prompt),
        seed=context.seed,
    )
