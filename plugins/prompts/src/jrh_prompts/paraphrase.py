"""The perturber `prompt-paraphrase`: a model rewords the judge's real prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import BuildContext, ChatRequest, Draft, Item, JrhError, Message, ModelClient, Prompt, Same, Skip
from jrh_authoring import read_json, template_variables, text_schema

from jrh_prompts.options import ParaphraseOptions
from jrh_prompts.template import Template, absent_fields, check_templates
from jrh_prompts.templates import NO_FIELD

ORIGINAL: Final = "original"
"""Name of the template that is paraphrased. It is asked too, and is paired with every paraphrase."""
FAILED: Final = "the model wrote no usable paraphrase"

_REQUEST: Final = """\
Below, between the lines of equal signs, stands a prompt template. Reword it: the same question, the same answers \
allowed, the same polarity, other words. What stands in double braces, such as {braces}, is filled in later: keep \
every one of them exactly as it is, each as often as in the template. Add nothing and leave nothing out.

Version {number} of {total}; word it differently from what one would write first.

====
{template}
====

Answer with one JSON object and nothing else: {{"template": "<the reworded template>"}}"""


@frozen(kw_only=True)
class ParaphrasePerturber:
    """Ask about every item with the judge's prompt and with paraphrases of it, the same ones for all items.

    A model writes the paraphrases. Each is checked here: it must be a valid template, use the same variables as often,
    and differ from the others. The suite's validators decide whether it still means the same.
    """

    options: ParaphraseOptions
    client: ModelClient

    @classmethod
    def of(cls, options: ParaphraseOptions, context: BuildContext) -> ParaphrasePerturber:
        """Check the prompt; raise `JrhError` if it is not a valid template or does not show the judged fields."""
        check_templates([Template(name=ORIGINAL, user=options.template.content)], context.task)
        return cls(options=options, client=context.model(options.model))

    async def perturb_set(self, items: Sequence[Item]) -> Sequence[tuple[Item, Draft | Skip]]:
        """Return, for every item, the original and each paraphrase; a skip for each that the model failed to write."""
        # Written once for the whole set, because pairs are compared across items.
        numbers = range(1, self.options.paraphrases + 1)
        written = {f"paraphrase-{number}": await self._write(number) for number in numbers}
        unique = list(_without_copies({ORIGINAL: self.options.template.content, **written}))
        return [(item, self._outcome(item, name, text)) for item in items for name, text in unique]

    async def _write(self, number: int) -> str | None:
        """Ask until a paraphrase is usable; return None if none is."""
        original = self.options.template.content
        for attempt in range(self.options.attempts):
            # A repeat of its own: the cache never answers one repeat with another.
            reply = await self.client.ask(self._request(number), repeat=attempt, purpose="prompt-paraphrase")
            answer = read_json(reply.text, keys=("template",)) if reply.ok else None
            text = answer["template"] if answer else None
            if isinstance(text, str) and text.strip() != original.strip() and _usable(text, original):
                return text
        return None

    def _request(self, number: int) -> ChatRequest:
        content = _REQUEST.format(
            number=number,
            total=self.options.paraphrases,
            template=self.options.template.content,
            braces="{{ response }}",
        )
        return ChatRequest(messages=(Message(role="user", content=content),), json_schema=text_schema("template"))

    def _outcome(self, item: Item, name: str, text: str | None) -> Draft | Skip:
        if text is None:
            return Skip(reason=FAILED, variant=name)
        missing = absent_fields(Template(name=name, user=text), item)
        if missing:
            return Skip(reason=NO_FIELD, variant=name, details={"fields": missing})
        system = self.options.system.content if self.options.system is not None else ""
        # Validators compare a paraphrase with the original, which itself is compared with nothing.
        original = "" if name == ORIGINAL else self.options.template.content
        return Draft(
            variant=name,
            prompt=Prompt(name=name, user=text, system=system, original=original),
            expectation=Same(),
            repeats=self.options.repeats,
            model="" if name == ORIGINAL else self.client.fingerprint,
        )


def _usable(text: str, original: str) -> bool:
    """Check that a text is a template with the same variables as the original, each as often."""
    try:
        same = template_variables(text) == template_variables(original)
    # What the model wrote may be no template at all.
    except JrhError:
        return False
    # Counted, because the names alone would not notice a variable that is shown once less.
    return same and all(text.count(mark) == original.count(mark) for mark in ("{{", "{%"))


def _without_copies(written: Mapping[str, str | None]) -> Iterator[tuple[str, str | None]]:
    """Turn a duplicate paraphrase into a failure: a pair of equal templates measures nothing."""
    texts: set[str] = set()
    for name, text in written.items():
        # White space makes no other template.
        key = " ".join((text or "").split())
        yield name, None if key in texts else text
        if key:
            texts.add(key)
