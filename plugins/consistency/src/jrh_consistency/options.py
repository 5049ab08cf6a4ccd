"""Options of the source and the perturber."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import Attribute, Factory, field, frozen
from attrs.validators import and_, ge, instance_of, le, min_len, optional
from jrh_authoring import repeats_option

COLUMNS: Final = ("request_id", "response_id", "request", "response", "score", "rank", "reference", "stratum")
"""What a row may say; a file may call it otherwise."""
_MOST: Final = 100
"""Responses of one set: they make 4,950 pairs and 161,700 triples."""


def _check_columns(_options: object, _field: Attribute[Any], columns: Mapping[str, str]) -> None:
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise ValueError(f"'columns' has the unknown name '{unknown[0]}'; known names: {', '.join(COLUMNS)}")
    if len(set(columns.values())) != len(columns):
        raise ValueError("'columns' uses one column of the file twice")


@frozen(kw_only=True)
class ResponseSetsOptions:
    """Options of the source `response-sets`."""

    path: Path = field(
        validator=instance_of(Path), metadata={"help": "csv or JSON Lines, one response per row; relative to the suite"}
    )
    columns: Mapping[str, str] = field(
        default=Factory(dict),
        validator=_check_columns,
        metadata={"help": f"standard name -> column of the file, where they differ: {', '.join(COLUMNS)}"},
    )
    requests: int | None = field(
        default=None,
        validator=optional(ge(1)),
        metadata={"help": "maximum number of requests; more are sampled at random, alike in every task. Default: all"},
    )
    most: int = field(
        default=8,
        validator=and_(ge(2), le(_MOST)),
        metadata={"help": "maximum responses per request, 2 to 100; more are sampled at random, alike in every task"},
    )
    lists: int = field(
        default=1,
        validator=and_(ge(1), le(100)),
        metadata={"help": "lists per request, 1 to 100, of random responses in random order"},
    )
    seed: int = field(
        default=0,
        metadata={"help": "seed of the sample, the lists, and which response of a pair is A; the same for all tasks"},
    )


@frozen(kw_only=True)
class ReferenceOptions:
    """Options of the perturber `reference-guided`."""

    column: str = field(
        default="reference",
        validator=min_len(1),
        metadata={"help": "the column or field of an item that holds its reference answer"},
    )
    intro: str = field(
        default="Reference answer, known to be right:",
        metadata={"help": "the line above the reference answer"},
    )
    repeats: int = repeats_option()
