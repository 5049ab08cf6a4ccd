"""Make one attempt: request a response of a level, have it graded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import ChatRequest, Item, Json, Message, ModelClient, Sampling, Scale, Task, Text, derive_seed
from jrh_authoring import (
    Unusable,
    Written,
    ask_until_read,
    check_template,
    load_template,
    object_schema,
    read_json,
    read_text,
    render,
    tag_mark,
    text_schema,
)

from jrh_synthetic_ordinal.buckets import Attempt, Bucket, Ramp

_WRITER: Final = frozenset(("task", "level", "request", "response", "examples", "mark"))
_GRADER: Final = frozenset(("task", "request", "response", "mark"))

VARIATIONS: Final = (
    "Begin with another thought than the obvious one.",
    "Arrange it differently from how it is usually arranged.",
    "Use other examples and details than those that come first to mind.",
    "Vary the length and the rhythm of the sentences.",
)
"""Asked for in turn where the temperature of a model cannot be raised."""
RESPONSE: Final = "response"
"""The name of the text in the writer's reply."""
WRITTEN: Final = text_schema(RESPONSE)
"""The JSON schema of the writer's reply."""


def grade_schema(task: Task) -> Mapping[str, Json]:
    """Return the JSON schema of the grader's reply."""
    levels: list[Json] = [*task.scale.labels]
    return object_schema({"rationale": {"type": "string"}, "level": {"type": "string", "enum": levels}})


@frozen(kw_only=True)
class Wording:
    """The templates, checked."""

    system: str
    writer: str
    grader: str

    @classmethod
    def of(cls, prompt: Text | None, grader_prompt: Text | None) -> Wording:
        """Load the suite's templates or the built-in ones.

        Raises:
            JrhError: A template is invalid, uses an unknown variable, or does not show the required text.
        """
        writer = prompt.content if prompt else load_template("jrh_synthetic_ordinal", "write")
        grader = grader_prompt.content if grader_prompt else load_template("jrh_synthetic_ordinal", "grade")
        check_template("synthetic-ordinal: the template `prompt`", writer, known=_WRITER, needed="level")
        check_template("synthetic-ordinal: the template `grader_prompt`", grader, known=_GRADER, needed="response")
        return cls(system=load_template("jrh_synthetic_ordinal", "system"), writer=writer, grader=grader)

    def to_write(
        self, task: Task, source: Item, level: str, examples: Sequence[Item], variation: int = 0
    ) -> tuple[Message, ...]:
        """Return the messages that request a response of a level; a `variation` asks for another way."""
        shown: list[dict[str, str]] = [{**_texts(example), "level": example.gold or ""} for example in examples]
        texts = _texts(source)
        mark = _mark(texts, *shown)
        content = render(self.writer, {**texts, "task": task, "level": level, "examples": shown, "mark": mark})
        # Behind the template, which may be the suite's own and then has no place for it.
        if variation:
            content = f"{content}\n\n{VARIATIONS[(variation - 1) % len(VARIATIONS)]}"
        return (Message(role="system", content=self.system), Message(role="user", content=content))

    def to_grade(self, task: Task, source: Item, response: str) -> tuple[Message, ...]:
        """Return the messages that ask for the level of a response."""
        texts = {**_texts(source), "response": response}
        return (Message(role="user", content=render(self.grader, {**texts, "task": task, "mark": _mark(texts)})),)


def _texts(item: Item) -> dict[str, str]:
    return {name: str(item.fields.get(name) or "") for name in ("request", "response")}


def _mark(*texts: Mapping[str, str]) -> str:
    return f"-{tag_mark([dict(part) for part in texts])}"


@frozen(kw_only=True)
class Shelf:
    """The labelled items by level, to choose examples from."""

    scale: Scale
    by_level: Mapping[str, tuple[Item, ...]]

    @classmethod
    def of(cls, scale: Scale, items: Sequence[Item]) -> Shelf:
        """Sort the items with a gold level and a text into their levels."""
        # An example has to show both: a text, and the level it has.
        usable = [item for item in items if isinstance(item.fields.get("response"), str) and item.gold is not None]
        return cls(
            scale=scale,
            by_level={
                level: tuple(sorted((item for item in usable if item.gold == level), key=lambda item: item.id))
                for level in scale.labels
            },
        )

    @property
    def empty_levels(self) -> tuple[str, ...]:
        """Return the levels without any gold item."""
        return tuple(level for level, items in self.by_level.items() if not items)

    def choose(self, level: str, source: Item, most: int, seed: int) -> tuple[Item, ...]:
        """Choose items of a level by seed, never the source, nor another with the same response.

        If the level has none, they come from the nearest level that does, or from both if two are equally near.
        """
        for distance in range(len(self.scale.labels)):
            near = [other for other in self.scale.labels if self.scale.distance(level, other) == distance]
            examples = [
                item
                for other in near
                for item in self.by_level[other]
                if item.fields["response"] != source.fields.get("response")
            ]
            if examples:
                # By a hash per item: another item in the data does not change who else is drawn.
                examples.sort(key=lambda item: (derive_seed(seed, item.id), item.id))
                return tuple(examples[:most])
        return ()


GRADINGS: Final = 2
"""An unreadable reply of the grader is retried once."""


@frozen(kw_only=True)
class Grader:
    """Applies the task's own rubric to a response."""

    task: Task
    client: ModelClient
    wording: Wording

    async def level(self, source: Item, response: str) -> str | None:
        """Return the level that the grader gives, or None if it gives none."""
        request = ChatRequest(
            messages=self.wording.to_grade(self.task, source, response),
            # The grader is to repeat itself; variety is for the writer.
            sampling=Sampling(temperature=0.0),
            json_schema=grade_schema(self.task),
        )
        answer = await ask_until_read(self.client, request, lambda reply: self._read(reply.text), GRADINGS)
        return answer.value

    def _read(self, text: str) -> str | None:
        # Models without enforced JSON answer with the bare level.
        parsed = read_json(text, keys=("level",))
        if parsed is None:
            return self.task.scale.match(text)
        level = parsed["level"]
        # Models write an integer for a level that is named by a number.
        written = str(level) if isinstance(level, int) and not isinstance(level, bool) else level
        return self.task.scale.match(written) if isinstance(written, str) else None


@frozen(kw_only=True)
class Writer:
    """Makes attempts; the result depends only on the bucket and the replies."""

    task: Task
    client: ModelClient
    grader: Grader
    wording: Wording
    examples: int
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def write(self, bucket: Bucket, ramp: Ramp, shelf: Shelf) -> Attempt:
        """Ask once for an open bucket; the attempt is not graded yet."""
        temperature = bucket.temperature(ramp) or 0.0 if ramp.told else None
        number = len(bucket.attempts)
        seed = self.seed(bucket.item.id, bucket.level, bucket.place, number)
        examples = shelf.choose(bucket.level, bucket.item, self.examples, seed)
        # A model without a temperature gives other texts for other seeds, examples and words.
        variation = number if number and bucket.attempts[-1].temperature is None else 0
        request = ChatRequest(
            messages=self.wording.to_write(self.task, bucket.item, bucket.level, examples, variation),
            sampling=Sampling(temperature=temperature, seed=seed),
            json_schema=WRITTEN,
        )
        reply = await self.client.ask(request, repeat=number, purpose="generate")
        shown = (self.task.rubric, self.task.instruction)
        found = read_text(reply, str(bucket.item.fields["response"]), shown, key=RESPONSE)
        return Attempt(
            wanted=bucket.level,
            number=number,
            # What was sent is recorded and not what was asked for: some models have no such setting.
            temperature=None if "temperature" in reply.not_settable else temperature,
            seed=seed,
            examples=tuple(example.id for example in examples),
            examples_of=tuple(dict.fromkeys(example.gold or "" for example in examples)),
            status=reply.status.value,
            text=found.text if isinstance(found, Written) else "",
            rejected=found.reason if isinstance(found, Unusable) else "",
        )

    async def grade(self, bucket: Bucket, made: Attempt) -> Attempt:
        """Have a response graded, unless it was rejected."""
        if made.rejected:
            return made
        level = await self.grader.level(bucket.item, made.text)
        return evolve(made, achieved=level, rejected="" if level is not None else "no level in the grader's reply")
