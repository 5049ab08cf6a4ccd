"""The types that options may have: predicates, and words for messages."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, NewType, Union, get_args, get_origin

import attrs

from jrh.errors import PluginError
from jrh.values.option_values import CodeName, CommandWord, ModelName, ParserName, Text, ValidatorName

REFERENCES: Final[Mapping[Any, str]] = {
    ModelName: "model",
    ParserName: "parser",
    ValidatorName: "validator",
}
"""The types of options that name something of the suite or a component -> what they name."""

SOURCES: Final[Mapping[Any, str]] = {
    CodeName: "code",
    CommandWord: "command",
}
"""The types of options that name code outside the suite -> what they name."""

SEQUENCES: Final[Mapping[Any, Callable[[Iterable[Any]], Any]]] = {
    tuple: tuple,
    frozenset: frozenset,
    list: list,
    # Options are frozen: a list in them could still be changed.
    Sequence: tuple,
}
"""The types that are written as a list -> how one is made from its parts."""


class JsonValue:
    """Stand for the recursive type `Json`, which type hints cannot resolve."""


_NAMES: Final = {"Json": JsonValue, "Sequence": Sequence, "Mapping": Mapping}
_WORDS: Final[Mapping[Any, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Path: "a path",
    Text: "text or `{file: name}`",
    types.NoneType: "nothing",
    JsonValue: "a plain value",
}
_DESCRIPTIONS: Final[tuple[tuple[Any, Callable[[Any], str]], ...]] = (
    (types.NoneType, lambda _: "nothing"),
    (bool, lambda value: "true" if value else "false"),  # before int: `True` is one
    (int, lambda value: f"the whole number {value}"),
    (float, lambda value: f"the number {value}"),
    (Mapping, lambda _: "a mapping"),
    ((list, tuple), lambda _: "a list"),
)
_LONGEST_SHOWN: Final = 60


def settable_fields(cls: type) -> tuple[attrs.Attribute[Any], ...]:
    """Return the fields a caller may set, with types instead of the names of types.

    Raises:
        PluginError: the class is no attrs class, or names a type that is not imported where it is defined.
    """
    try:
        # Only strings are looked up in these names; a class that spells its types out is left as it is.
        resolved = attrs.resolve_types(cls, localns=dict(_NAMES))
    except (NameError, attrs.exceptions.NotAnAttrsClassError) as error:
        raise PluginError(f"the options class {cls.__module__}.{cls.__qualname__} cannot be used: {error}") from error
    # A field that the class computes itself is no option.
    return tuple(attribute for attribute in attrs.fields(resolved) if attribute.init)


def field_names(cls: type) -> list[str]:
    """Return the names of the fields a caller may set."""
    return [attribute.name for attribute in settable_fields(cls)]


def mandatory_names(cls: type) -> list[str]:
    """Return the names of the fields a caller has to set."""
    return [attribute.name for attribute in settable_fields(cls) if attribute.default is attrs.NOTHING]


def is_json(kind: Any) -> bool:
    """Tell whether a type is `Json`, however it was resolved."""
    # `Json` is recursive: once it is resolved, only the members of its union tell it from others.
    members = {get_origin(member) or member for member in get_args(kind)} if is_union(kind) else set()
    return kind is JsonValue or members == {types.NoneType, bool, int, float, str, Sequence, Mapping}


def is_attrs(kind: Any) -> bool:
    """Tell whether a type is an attrs class."""
    return isinstance(kind, type) and attrs.has(kind)


def is_union(kind: Any) -> bool:
    """Tell whether a type is `X | Y`."""
    return get_origin(kind) in (Union, types.UnionType)


def is_newtype(kind: Any) -> bool:
    """Tell whether a type is another one under a name of its own."""
    return isinstance(kind, NewType)


def is_choice(kind: Any) -> bool:
    """Tell whether a type is a closed set of values: an enum or a literal."""
    return get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum))


def is_sequence(kind: Any) -> bool:
    """Tell whether a type is written as a list."""
    return (get_origin(kind) or kind) in SEQUENCES


def is_mapping(kind: Any) -> bool:
    """Tell whether a type is a mapping with keys of the user's own."""
    return (get_origin(kind) or kind) in (Mapping, dict)


def choices(kind: Any) -> list[Any]:
    """Return the values of a closed set as they are written."""
    return list(get_args(kind)) if get_origin(kind) is Literal else [member.value for member in kind]


def describe_value(value: object) -> str:
    """Say what a plain value is, in the words of somebody who writes YAML."""
    if isinstance(value, str):
        return f"the text '{value if len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 3] + '...'}'"
    for kind, say in _DESCRIPTIONS:
        if isinstance(value, kind):
            return say(value)
    return f"a {type(value).__name__}"


def describe_type(kind: Any) -> str:
    """Say in words what a type expects."""
    if kind in _WORDS or is_json(kind):
        return _WORDS.get(kind, _WORDS[JsonValue])
    # Before other new types of text: "text" would not say that a name from the suite is meant.
    if kind in REFERENCES:
        return f"the name of a {REFERENCES[kind]}"
    if is_newtype(kind):
        return describe_type(kind.__supertype__)
    if is_choice(kind):
        return f"one of {', '.join(yaml_text(value) for value in choices(kind))}"
    if is_union(kind):
        return " or ".join(describe_type(member) for member in get_args(kind) if member is not types.NoneType)
    return "a list" if is_sequence(kind) else "a mapping"


def yaml_text(value: object) -> str:
    """Return a plain value as YAML writes it, without quotes."""
    return describe_value(value) if isinstance(value, bool) or value is None else str(value)
