"""The work: write words in capitals."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, Json, Same, Skip

from jrh_contrib_shout.options import ShoutOptions

_WORD: Final = re.compile(r"\w+")


def build(options: ShoutOptions, context: BuildContext) -> Shout:
    """Build the perturber for a task."""
    return Shout(share=options.share, fields=context.task.judged_fields, seed=context.seed)


@frozen(kw_only=True)
class Shout:
    """Writes a share of the words of the judged fields in capitals."""

    share: float
    fields: tuple[str, ...]
    """The judged fields of the task's mode."""
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft, or a skip where a judged field is not text or has nothing to capitalise."""
        changed: dict[str, Json] = {}
        for name in self.fields:
            text = item.fields.get(name)
            if not isinstance(text, str):
                return [Skip(reason=f"field '{name}' is not text")]
            # A seed per item and field: neither the order of items nor another field changes the words.
            changed[name] = capitalise(text, self.share, self.seed(item.id, name))
            if changed[name] == text:
                return [Skip(reason="no word that capitals change")]
        return [Draft(variant="capitals", strength=self.share, fields=changed, expectation=Same())]


def capitalise(text: str, share: float, seed: int) -> str:
    """Return the text with a share of its words in capitals, at least one, chosen by the seed.

    Words that capitals do not change, such as numbers, are not counted. The same seed gives the same text, and a larger
    share keeps the words of a smaller one.
    """
    # Numbers and scripts without capitals cannot be shouted; counting them would make a share of 1 unreachable.
    words = [match.span() for match in _WORD.finditer(text) if match.group().upper() != match.group()]
    draws = random.Random(seed)  # noqa: S311 -- a seeded choice of words, no secret
    # The same draws in the same order, so that more words extend the choice of fewer.
    order = sorted(words, key=lambda _: draws.random())
    chosen = set(order[: max(1, int(share * len(words) + 0.5))])
    return _WORD.sub(lambda match: match.group().upper() if match.span() in chosen else match.group(), text)
