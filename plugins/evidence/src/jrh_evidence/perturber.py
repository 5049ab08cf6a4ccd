"""The perturber `evidence`: the decisive text at every depth of a text of every length, and the text without it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import cycle
from typing import Final

from attrs import evolve, frozen
from jrh import (
    BuildContext,
    Changes,
    Draft,
    Equals,
    Expectation,
    Item,
    JrhError,
    Json,
    Message,
    ModelName,
    Same,
    Skip,
    Task,
)
from jrh_authoring import TextWriter

from jrh_evidence.cells import Variant
from jrh_evidence.options import CHARACTERS_PER_TOKEN, STEP, EvidenceOptions
from jrh_evidence.planting import TWICE, Body, Impossible, body_of

_WHEN: Final = ("In the morning", "Later that day", "After lunch", "Towards the evening", "On the way back")
_WHO: Final = ("a neighbour", "the gardener", "an old friend", "the baker", "a visitor", "the teacher", "a cousin")
_WHAT: Final = (
    "walked along the river",
    "watered the plants",
    "looked at the boats",
    "read a book under the trees",
    "talked about the weather",
    "cleaned the windows",
    "waited for the bus",
    "sorted the photographs",
    "carried the chairs inside",
    "fed the birds",
    "mended a fence",
)
_PARAGRAPH: Final = 6


# Few lengths, many items.
@lru_cache(maxsize=4)
def neutral(size: int) -> str:
    """Return neutral text of exactly this many characters.

    The three lists have lengths without a common divisor: a sentence returns after 385 others.
    """
    sentences = zip(cycle(_WHEN), cycle(_WHO), cycle(_WHAT), strict=False)
    parts: list[str] = []
    length = 0
    for number, (when, who, what) in enumerate(sentences, start=1):
        if length >= size:
            break
        part = f"{when} {who} {what}.{' ' if number % _PARAGRAPH else chr(10) * 2}"
        parts.append(part)
        length += len(part)
    return "".join(parts)[:size]


def repeat_text(text: str, size: int) -> str:
    """Return a text over and over, to exactly this many characters; neutral text where there is none to repeat."""
    paragraph = f"{text.strip()}\n\n"
    return (paragraph * (size // len(paragraph) + 1))[:size] if text.strip() else neutral(size)


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
            # Evidence that is in the text already would be there without being planted.
            return _REFUSED if len(found) > _LONGEST else TWICE if found.strip() in text else ""

        generated = await self.writer.write(
            (self._message(item, text),),
            text,
            seed=partial(self.context.seed, "evidence", item.id),
            rejection=rejection,
        )
        if generated.written is None:
            raise Impossible(generated.reason)
        return " ".join(generated.written.text.split()), {**generated.details, "evidence": generated.written.text}

    def _message(self, item: Item, text: str) -> Message:
        task = self.context.task
        # As JSON in the prompt below, so that a request cannot end its own quotation.
        prompt = _PROMPT.format(
            instruction=task.instruction or "judge the text",
            rubric=task.rubric or "none",
            labels=", ".join(task.scale.labels),
            request=json.dumps(item.fields.get("request"), ensure_ascii=False)[:_SHOWN],
            text=json.dumps(text, ensure_ascii=False),
            label=json.dumps(self.label, ensure_ascii=False),
        )
        return Message(role="user", content=prompt)


NOT_FOUND: Final = "the text does not contain the evidence"
NO_COLUMN: Final = "the item has no text in the evidence column"
OFF_SCALE: Final = "the message that holds the evidence is not on the scale"
_TWO: Final = 2


@frozen(kw_only=True)
class Evidence:
    """Plant the decisive text of an item at every depth, for every length."""

    options: EvidenceOptions
    task: Task
    field: str
    pattern: re.Pattern[str] | None
    writer: EvidenceWriter | None

    @classmethod
    def build(cls, options: EvidenceOptions, context: BuildContext) -> Evidence:
        """Check where the evidence comes from, and the labels that it implies.

        Raises:
            JrhError: there is no evidence or several sources of it, a label is not on the scale, or the field is none
                that is judged.
        """
        task = context.task
        sources = {
            "text": options.text is not None,
            "column": options.column,
            "pattern": options.pattern,
            "model": options.model,
        }
        stated = [name for name, value in sources.items() if value]
        if len(stated) != 1:
            names = " and ".join(stated) if stated else "none"
            raise JrhError(f"evidence: set exactly one of text, column, pattern and model; got {names}")
        if options.text is not None and not options.text.content.strip():
            raise JrhError("evidence: `text` is empty")
        # Two fillers would contradict each other.
        if options.filler is not None and (not options.filler.content.strip() or options.own):
            raise JrhError("evidence: `filler` is empty, or combined with `own`; set one of them to lengthen the text")
        for name in ("implies", "otherwise"):
            label = getattr(options, name)
            if label and label not in task.scale.labels and not (name == "implies" and label == STEP):
                raise JrhError(f"evidence: `{name}` '{label}' is not on the scale: {', '.join(task.scale.labels)}")
        if options.implies and options.implies == options.otherwise:
            raise JrhError(f"evidence: `implies` and `otherwise` are both '{options.implies}'")
        if options.field and options.field not in task.judged_fields:
            fields = ", ".join(task.judged_fields)
            raise JrhError(f"evidence: `field` '{options.field}' is not a judged field; judged fields: {fields}")
        return cls(
            options=options,
            task=task,
            field=options.field or task.judged_fields[0],
            pattern=_compile(options.pattern) if options.pattern else None,
            writer=EvidenceWriter.build(options.model, options.implies, options.attempts, context)
            if options.model
            else None,
        )

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft per length and depth, and one per length without the evidence, of the same size."""
        try:
            body = body_of(item.fields.get(self.field), tool=self.options.place == "tool")
            if self.writer is not None:
                evidence, details = await self.writer.write(item, body)
                return [_by_model(outcome, self.writer, details) for outcome in self._all(body, evidence, own=False)]
            evidence, body, within = self._find_evidence(item, body)
        except Impossible as reason:
            return [Skip(reason=str(reason))]
        return self._all(body, evidence, own=within)

    def _all(self, body: Body, evidence: str, *, own: bool) -> list[Draft | Skip]:
        return [outcome for length in self.options.lengths for outcome in self._outcomes(body, evidence, length, own)]

    def _find_evidence(self, item: Item, body: Body) -> tuple[str, Body, bool]:
        """Return the evidence, what is judged without it, and whether it stood in it."""
        if self.pattern is not None:
            matches = [match[0] for text in body.texts() for match in self.pattern.finditer(text) if match[0].strip()]
            # Of two matches it is unknown which one decides.
            if len(matches) != 1:
                raise Impossible(TWICE if matches else NOT_FOUND)
            evidence = matches[0]
        else:
            evidence = self._evidence_text(item)
        # A column may repeat what the text says. It is taken out, and then planted like any other.
        number = sum(text.count(evidence) for text in body.texts())
        if number > 1:
            raise Impossible(TWICE)
        return evidence.strip(), body.less(evidence) if number else body, bool(number)

    def _evidence_text(self, item: Item) -> str:
        if self.options.text is not None:
            return self.options.text.content.strip()
        value = item.metadata.get(self.options.column, item.fields.get(self.options.column))
        if not isinstance(value, str) or not value.strip():
            raise Impossible(NO_COLUMN)
        return value.strip()

    def _outcomes(self, body: Body, evidence: str, length: int, own: bool) -> Iterator[Draft | Skip]:
        without = Variant(length=length, depth=None)
        try:
            # Four characters are the gaps around the evidence, so that all texts of a length are equally long.
            long = body.lengthen(length * CHARACTERS_PER_TOKEN - len(evidence) - 4, self._filler)
        except Impossible as reason:
            yield Skip(reason=str(reason), variant=str(without))
            return
        for depth in self.options.depths:
            value, step = long.plant(evidence, depth)
            yield self._with(Variant(length=length, depth=depth), value, step, own)
        # Neutral text of the same size takes the place of the evidence: length must not tell the texts apart.
        other, _ = long.plant(neutral(len(evidence)), self.options.depths[len(self.options.depths) // 2])
        yield Draft(
            variant=str(without),
            strength=float(length),
            fields={self.field: other},
            expectation=self._expectation(self.options.otherwise, changes=own),
            # Without a label to hold verdicts against, reruns tell how often they differ by themselves.
            repeats=max(self.options.repeats, 1 if self.options.implies else _TWO),
            details={"length": length},
        )

    def _with(self, variant: Variant, value: Json, step: int, own: bool) -> Draft | Skip:
        label = str(step) if self.options.implies == STEP else self.options.implies
        if label and label not in self.task.scale.labels:
            return Skip(reason=OFF_SCALE, variant=str(variant))
        return Draft(
            variant=str(variant),
            strength=float(variant.length),
            fields={self.field: value},
            # Evidence that was in the text all along is what the reference verdict rests on, so the verdict should
            # stay.
            expectation=self._expectation(label, changes=not own),
            repeats=self.options.repeats,
            details={"length": variant.length, "depth": variant.depth, "step": step},
        )

    def _expectation(self, label: str, *, changes: bool) -> Expectation:
        if label:
            return Equals(label=label)
        return Changes() if changes else Same()

    def _filler(self, own: str, size: int) -> str:
        if self.options.filler is not None:
            return repeat_text(self.options.filler.content, size)
        return repeat_text(own, size) if self.options.own else neutral(size)


def _by_model(outcome: Draft | Skip, writer: EvidenceWriter, made: Mapping[str, Json]) -> Draft | Skip:
    """Add who wrote the evidence, and how, to a draft that has it."""
    # The text without evidence has nothing that the model wrote.
    if isinstance(outcome, Skip) or "depth" not in outcome.details:
        return outcome
    return evolve(outcome, model=writer.writer.client.fingerprint, details={**outcome.details, **made})


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise JrhError(f"evidence: `pattern` is not a regular expression: {error}") from None
