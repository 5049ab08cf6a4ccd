"""What options refer to: the names of models, parsers and validators, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from jrh.document import option_types
from jrh.document.positions import Location


def located_references(value: object, kind: Any, at: Location = ()) -> Iterator[tuple[str, str, Location]]:
    """Yield (`model`, `parser` or `validator`; name; location) for everything a value of a type refers to."""
    if option_types.is_union(kind):
        for member in get_args(kind):
            yield from located_references(value, member, at)
    elif kind in option_types.REFERENCES and isinstance(value, str):
        yield option_types.REFERENCES[kind], value, at
    elif option_types.is_attrs(kind) and isinstance(value, kind):
        for attribute in option_types.resolved_fields(kind):
            yield from located_references(getattr(value, attribute.name), attribute.type, (*at, attribute.name))
    elif option_types.is_mapping(kind) and isinstance(value, Mapping):
        for key, part in value.items():
            yield from located_references(part, (get_args(kind) or (str, str))[1], (*at, key))
    elif option_types.is_sequence(kind) and isinstance(value, tuple | list):
        members = get_args(kind)
        for position, part in enumerate(value):
            member = members[position] if len(members) == len(value) and Ellipsis not in members else members[0]
            yield from located_references(part, member, (*at, position))
