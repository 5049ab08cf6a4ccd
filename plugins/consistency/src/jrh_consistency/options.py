"""Options of the source and the perturber."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import Attribute, Factory, frozen
from attrs.validators import and_, ge, instance_of, le, min_len, optional
from jrh.plugins import option
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

    path: Path = option("csv or JSON Lines, one response per row; relative to the suite", instance_of(Path))
    columns: Mapping[str, str] = option(
        f"standard name -> column of the file, where they differ: {', '.join(COLUMNS)}",
        _check_columns,
        default=Factory(dict),
    )
    requests: int | None = option(
        "maximum number of requests; more are sampled at random, alike in every task. Default: all",
        optional(ge(1)),
        default=None,
    )
    most: int = option(
        "maximum responses per request, 2 to 100; more are sampled at random, alike in every task",
        and_(ge(2), le(_MOST)),
        default=8,
    )
    lists: int = option(
        "lists per request, 1 to 100, of random responses in random order", and_(ge(1), le(100)), default=1
    )
    seed: int = option(
        "seed of the sample, the lists, and which response of a pair is A; the same for all tasks", default=0
    )


@frozen(kw_only=True)
class ReferenceOptions:
    """Options of the perturber `reference-guided`."""

    column: str = option(
        "the column or field of an item that holds its reference answer", min_len(1), default="reference"
    )
    intro: str = option("the line above the reference answer", default="Reference answer, known to be right:")
    repeats: int = repeats_option()
