"""Ask a model whether draft and original are equivalent, in both orders."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Coroutine
from typing import Any, Final

from attrs import frozen
from jrh import BuildContext, ChatRequest, Draft, Item, Message, ModelClient, Reply, Task, Text, Validation
from jrh_authoring import (
    Answer,
    ask_until_read,
    load_template,
    object_schema,
    read_json,
    render,
    tag_mark,
    template_variables,
)

from jrh_validators.drafts import reject_undecided, text_changes
from jrh_validators.options import EquivalenceOptions

_SAME: Final = "The two texts are equivalent."
_OTHER: Final = "The two texts are not equivalent."
_SCHEMA: Final = object_schema({"difference": {"type": "string"}, "answer": {"type": "string", "enum": ["A", "B"]}})


@frozen(kw_only=True)
class LlmEquivalence:
    """Accepts a draft if a model finds every changed text equivalent to the item's, asked in both orders.

    With the original first, A means equivalent; with the draft first, B does. A model that prefers a letter or a
    position therefore contradicts itself, and accepts nothing.
    """

    client: ModelClient
    task: Task
    prompt: Text | None
    attempts: int

    @classmethod
    def build(cls, options: EquivalenceOptions, context: BuildContext) -> LlmEquivalence:
        """Find the model and check the template; raise `JrhError` if either is unusable."""
        if options.prompt is not None:
            template_variables(options.prompt.content)
        return cls(
            client=context.model(options.model), task=context.task, prompt=options.prompt, attempts=options.attempts
        )

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Compare every changed text; the score is the share of answers that say equivalent."""
        texts = text_changes(item, draft)
        if texts is None:
            return Validation(accepted=False, reason="a changed field is not text")
        answers = await gather(*(question for pair in texts.values() for question in self._both_orders(*pair)))
        # One unread answer leaves the draft undecided, which a consensus does not count as a vote.
        for answer in answers:
            if answer.value is None:
                return reject_undecided(answer.reason, answer.details)
        said = [bool(answer.value) for answer in answers]
        reason = _reason(said)
        return Validation(
            accepted=not reason,
            score=sum(said) / len(said) if said else None,
            reason=reason,
            details={"model": self.client.fingerprint, "answers": said},
        )

    def _both_orders(self, original: str, drafted: str) -> tuple[Coroutine[Any, Any, Answer[bool]], ...]:
        return self._answer(original, drafted, same="A"), self._answer(drafted, original, same="B")

    async def _answer(self, first: str, second: str, *, same: str) -> Answer[bool]:
        def read(reply: Reply) -> bool | None:
            letter = _letter(reply.text)
            return None if letter is None else letter == same

        return await ask_until_read(self.client, self._request(first, second, same), read, self.attempts)

    def _request(self, first: str, second: str, same: str) -> ChatRequest:
        # The letter that means equivalent changes with the order: always answering A cannot accept.
        option_a, option_b = (_SAME, _OTHER) if same == "A" else (_OTHER, _SAME)
        variables = {"first": first, "second": second, "option_a": option_a, "option_b": option_b}
        source = load_template("jrh_validators", "equivalence") if self.prompt is None else self.prompt.content
        content = render(source, {**variables, "task": self.task, "mark": tag_mark(first, second)})
        return ChatRequest(
            messages=(Message(role="user", content=content),), json_schema=_SCHEMA if self.prompt is None else None
        )


def _letter(text: str) -> str | None:
    """Read the letter from the object's `answer` or from a reply that is just a letter."""
    parsed = read_json(text, keys=("answer",))
    letter = str(parsed["answer"] if parsed is not None else text).strip().strip(".").upper()
    # Anything else is asked again rather than read as a no.
    return letter if letter in ("A", "B") else None


def _reason(said: list[bool]) -> str:
    """Return the reason for rejection, from pairs of answers in both orders; empty if all say equivalent."""
    if all(said):
        return ""
    # Both orders of one text have to deny it; a single no is the model's contradiction.
    denied = any(not one and not other for one, other in zip(said[::2], said[1::2], strict=True))
    return "not equivalent" if denied else "the two orders disagree"
