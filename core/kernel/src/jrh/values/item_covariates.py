"""What is known of an item besides its text: where its gold label comes from, its length, its author, named columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from attrs import frozen

from jrh.errors import JrhError
from jrh.values.clusters import flat_text
from jrh.values.items import Item, Mode, Task, option_field
from jrh.values.json_values import Json


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
        # `one person` and `One_Person` are the same word.
        word = kind.casefold().replace("_", "-").replace(" ", "-") or GoldKind.UNKNOWN.value
        if word not in [source.value for source in GoldKind] or (colon and (word != GoldKind.MODEL.value or not model)):
            raise JrhError(f"'{text}' is not a source of gold labels; accepted: {ACCEPTED}")
        return cls(kind=GoldKind(word), model=model)

    @property
    def text(self) -> str:
        """Return the source as it is written."""
        return f"{self.kind.value}:{self.model}" if self.model else self.kind.value

    @property
    def in_words(self) -> str:
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


LENGTH: Final = "length"
"""Characters of the judged text."""
AUTHOR: Final = "author"
"""The model or the person that wrote the judged text."""


def covariates_of(item: Item, task: Task, declared: Iterable[str] = ()) -> dict[str, Json]:
    """Return the covariates of an item by name: `length`, `author`, and the declared ones.

    A comparison has a value for every option, `{A: ..., B: ...}`, read of `NAME_a`, `NAME_b` and so on. Other values
    are those of the item's metadata, or of its fields. A covariate without a value is left out.
    """
    # Each name once, although a suite may declare `length` itself.
    names = dict.fromkeys((LENGTH, AUTHOR, *declared))
    values = {name: _value(item, task, name, stated=name in set(declared)) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _value(item: Item, task: Task, name: str, *, stated: bool) -> Json:
    if task.mode is not Mode.PAIRWISE:
        return _single(item, task.judged_fields[0], name, name, stated=stated)
    places = {option: option_field(place) for place, option in enumerate(task.scale.options)}
    values = {
        option: _single(item, judged, name, f"{name}_{judged[-1]}", stated=stated) for option, judged in places.items()
    }
    # A comparison needs the value of every option: their difference is what a verdict may depend on.
    return None if None in values.values() else values


def _single(item: Item, judged: str, name: str, column: str, *, stated: bool) -> Json:
    for source in (item.metadata, item.fields):
        value = source.get(column)
        # A column `length` may be anything, such as minutes: only where it is declared does it replace the count.
        if (name != LENGTH or stated) and _is_value(value):
            return value
    return length_of(item.fields[judged]) if name == LENGTH and judged in item.fields else None


def _is_value(value: Json) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and bool(value.strip()))


def length_of(text: Json) -> int:
    """Return the number of characters of a text or a transcript; runs of white space count as one."""
    return len(" ".join(flat_text(text).split()))


def check_declared(items: Iterable[Item], task: Task, declared: Iterable[str]) -> None:
    """Check that every declared covariate has a value for some item.

    Raises:
        JrhError: one has none; the text says which columns it is read from.
    """
    wanted = list(declared)
    # None without any item: nothing can be said of columns then.
    known: set[str] | None = None
    for item in items if wanted else ():
        known = (known or set()).union(item.covariates)
    for name in wanted:
        if known is not None and name not in known:
            options = [f"`{name}_{option_field(place)[-1]}`" for place in range(len(task.scale.options))]
            columns = " and ".join(options) if task.mode is Mode.PAIRWISE else f"`{name}`"
            why = ", one column per option" if task.mode is Mode.PAIRWISE else ""
            raise JrhError(f"task '{task.name}': no item has the covariate '{name}'; jrh reads it from {columns}{why}")


def write_covariates(covariates: Mapping[str, Json]) -> str:
    """Write covariates as JSON text, the same for equal values; empty where there are none."""
    # Sorted, since records hold the text and equal ones are one category.
    return json.dumps(covariates, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if covariates else ""


def read_covariates(text: str) -> Mapping[str, Json]:
    """Read what `write_covariates` wrote.

    Raises:
        JrhError: the text is something else.
    """
    if not text.strip():
        return {}
    try:
        covariates = json.loads(text)
    except ValueError:
        covariates = None
    if not isinstance(covariates, dict):
        raise JrhError(f"covariates are a JSON object such as {{\"length\":120}}, not '{text[:60]}'")
    return covariates
