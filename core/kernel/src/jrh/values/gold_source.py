"""Where a gold label comes from."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

from attrs import frozen

from jrh.errors import JrhError
from jrh.values.items import Item


class GoldKind(Enum):
    """Who or what made a gold label."""

    PEOPLE = "people"
    """Several people, whose labels were combined."""
    ONE_PERSON = "one-person"
    MODEL = "model"
    """A language model; agreement with it is agreement with that model, not accuracy."""
    GENERATOR = "generator"
    """Whatever generated the item knew the answer: a template, a program, a rule."""
    UNKNOWN = "unknown"


ACCEPTED: Final = "people, one-person, model, model:NAME, generator or unknown"


@frozen(kw_only=True)
class GoldSource:
    """Where a gold label comes from, as `people` or `model:gpt-4o-mini`."""

    kind: GoldKind = GoldKind.UNKNOWN
    model: str = ""
    """The model's name; empty where it is not known, or another kind."""

    @classmethod
    def read(cls, text: str) -> GoldSource:
        """Read what a suite or a column says; empty text is unknown.

        Raises:
            JrhError: the text is none of the sources.
        """
        kind, colon, model = (part.strip() for part in text.partition(":"))
        word = kind.casefold().replace("_", "-").replace(" ", "-") or GoldKind.UNKNOWN.value
        if word not in [each.value for each in GoldKind] or (colon and (word != GoldKind.MODEL.value or not model)):
            raise JrhError(f"'{text}' is not a source of gold labels; accepted: {ACCEPTED}")
        return cls(kind=GoldKind(word), model=model)

    @property
    def text(self) -> str:
        """Return the source as it is written."""
        return f"{self.kind.value}:{self.model}" if self.model else self.kind.value

    @property
    def described(self) -> str:
        """Return the source in words, as in `gold labels by people`."""
        return {
            GoldKind.PEOPLE: "by people",
            GoldKind.ONE_PERSON: "by one person",
            GoldKind.MODEL: f"by the model {self.model}" if self.model else "by a model",
            GoldKind.GENERATOR: "known from how the items were generated",
            GoldKind.UNKNOWN: "of unknown source",
        }[self.kind]


def gold_source(item: Item) -> GoldSource | None:
    """Return where an item's gold label comes from; None without a gold label."""
    return None if item.gold is None else GoldSource.read(item.gold_source)


def has_model_gold(sources: Iterable[str]) -> bool:
    """Tell whether any of the sources, as `TaskSummary.gold_sources` has them, is a model."""
    return any(GoldSource.read(source).kind is GoldKind.MODEL for source in sources)
