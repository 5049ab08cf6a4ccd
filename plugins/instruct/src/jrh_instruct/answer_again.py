"""Have a model answer the request of an item again, as well as the response does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, Skip
from jrh_authoring import Rewriting, RewritingPerturber, packaged_template

from jrh_instruct.options import AnswerAgainOptions

VARIANT: Final = "answered-again"
_NO_REQUEST: Final = Skip(reason="field 'request' is empty or not text", variant=VARIANT)


def build(options: AnswerAgainOptions, context: BuildContext) -> AnswerAgain:
    """Make the perturber.

    Raises:
        JrhError: the fields do not fit the task, or the model or a check cannot be used.
    """
    way = Rewriting(
        variant=VARIANT,
        prompt=packaged_template("jrh_instruct", "answer_again"),
        bounds=options.length_ratio,
        breach=options.breach(),
    )
    writing = RewritingPerturber.of(
        [way],
        context,
        model=options.model,
        temperature=options.temperature,
        attempts=options.attempts,
        checks=options.checks,
        fields=options.fields.of(context.task, "answer-again"),
    )
    return AnswerAgain(writing=writing)


@frozen(kw_only=True)
class AnswerAgain:
    """Makes one draft per item with a request: a reliable judge gives it the verdict of the response."""

    writing: RewritingPerturber

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the new answer, or a skip with the reason of the last attempt."""
        request = item.fields.get("request")
        if not isinstance(request, str) or not request.strip():
            return [_NO_REQUEST]
        return await self.writing.perturb(item)
