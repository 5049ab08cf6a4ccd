"""Convert plain values to typed ones and back: strictly for user input, fast for the kernel's own data and its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast, get_args
from weakref import ReferenceType, ref

import attrs
import orjson
from attrs import field, frozen
from cattrs import Converter
from cattrs.fns import identity
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn

from jrh.document import option_types
from jrh.document.decoding import mistakes_of, strict_converter
from jrh.document.positions import Document, Location, unknown_key
from jrh.errors import DamagedStoreError, Problem, SuiteError
from jrh.hashing import is_plain
from jrh.values.cases import Changes, Equals, Expectation, NotAbove, NotBelow, Same
from jrh.values.json_values import Json
from jrh.values.option_values import Text

T = TypeVar("T")

EXPECTATIONS: Final[Mapping[str, type[Expectation]]] = {
    "same": Same,
    "changes": Changes,
    "not_above": NotAbove,
    "not_below": NotBelow,
    "equals": Equals,
}
"""Kind, as in records and stored cases -> class."""

_KIND_OF: Final = {cls: kind for kind, cls in EXPECTATIONS.items()}


def structure(value: object, cls: type[T], *, base: Path | None = None) -> T:
    """Read a plain value as a typed one, strictly.

    Args:
        value: mappings, lists, text, numbers, true, false and nothing.
        cls: an attrs class or any type an option may have.
        base: the directory relative paths start at; the current one where not given.

    Raises:
        SuiteError: with every mistake, each with the path of keys that leads to it.
    """
    instance, problems = collect(value, cls, base=base or Path(), document=Document(value=None, source=""))
    if problems:
        raise SuiteError(problems)
    return cast(T, instance)


def collect(
    value: object, cls: type[T], *, base: Path, document: Document, location: Location = ()
) -> tuple[T | None, list[Problem]]:
    """Read a plain value as a typed one, strictly, and find all mistakes with their positions.

    Args:
        value: what is at the location.
        cls: an attrs class or any type an option may have.
        base: the directory relative paths start at.
        document: knows where values were written.
        location: the way to the value in the document.

    Returns:
        The typed value and no problem, or None and at least one problem. Nothing is written; files that a `Text`
        names are read.
    """
    try:
        return _strict(base).structure(value, cls), []
    except Exception as error:
        mistakes = mistakes_of(error)
    return None, [document.wrong((*location, *deeper), message) for deeper, message in mistakes]


def unstructure(value: object, *, base: Path | None = None) -> Json:
    """Convert a typed value to a plain one, which `structure` converts back to an equal value.

    Enums by value, a `Text` by its content, a path as it was written relative to `base` where it lies there.
    """
    return cast(Json, _plain(base).unstructure(value))


def to_json(value: object) -> Json:
    """Convert a value of the kernel's own types to a plain one, with all fields."""
    return cast(Json, _plain(None).unstructure(value))


def from_json(cls: type[T], value: object) -> T:
    """Convert the output of `to_json` back, without validation."""
    return cast(T, _reader(cls)(value, cls))  # type: ignore[arg-type] # a class is hashable


@lru_cache(maxsize=128)
def _reader(cls: type) -> Callable[[Any, Any], Any]:
    return _plain(None).get_structure_hook(cls)


def expectation_kind(expectation: Expectation) -> str:
    """Return the kind of an expectation, as in records."""
    return _KIND_OF[type(expectation)]


@lru_cache(maxsize=16)
def _strict(base: Path) -> Converter:
    # Kept for each base, because cattrs compiles a hook for every class it meets.
    converter = strict_converter(base)
    _add_expectations(converter)
    return converter


@lru_cache(maxsize=16)
def _plain(base: Path | None) -> Converter:
    converter = Converter(detailed_validation=False, unstruct_collection_overrides={frozenset: sorted})
    converter.register_unstructure_hook(Path, lambda path: _as_written(path, base))
    converter.register_unstructure_hook(Text, lambda text: text.content)
    converter.register_structure_hook_factory(option_types.is_attrs, lambda cls: _read_fields(cls, converter))
    converter.register_unstructure_hook_factory(option_types.is_attrs, lambda cls: _write_fields(cls, converter))
    # What the kernel wrote itself is taken as it is.
    for leaf in (str, int, float, bool):
        converter.register_structure_hook(leaf, _same)
    converter.register_structure_hook_func(option_types.is_json, _same)
    # cattrs recognises this function object and then skips the call altogether.
    converter.register_unstructure_hook_func(option_types.is_json, identity)
    converter.register_unstructure_hook_func(_is_optional_leaf, identity)
    converter.register_structure_hook_func(_is_optional_leaf, _same)
    converter.register_structure_hook_func(option_types.is_newtype, _same)
    converter.register_structure_hook(Text, lambda value, _: Text(content=value))
    _add_expectations(converter)
    return converter


def _same(value: Any, _: Any) -> Any:
    return value


def _is_optional_leaf(kind: Any) -> bool:
    return option_types.is_union(kind) and all(
        member in (str, int, float, bool, type(None)) for member in get_args(kind)
    )


def _read_fields(cls: type, converter: Converter) -> Callable[[Any, Any], Any]:
    # cattrs cannot read names of types: they are resolved before it looks.
    option_types.settable_fields(cls)
    return make_dict_structure_fn(cls, converter, _cattrs_detailed_validation=False)


def _write_fields(cls: type, converter: Converter) -> Callable[[Any], Any]:
    option_types.settable_fields(cls)
    return make_dict_unstructure_fn(cls, converter)


def _as_written(path: Path, base: Path | None) -> str:
    try:
        return (path.relative_to(base) if base else path).as_posix()
    except ValueError:
        return path.as_posix()


def _add_expectations(converter: Converter) -> None:
    """Read and write the union of expectations by its tag: `{"kind": "equals", "label": "YES"}`."""
    for kind, cls in EXPECTATIONS.items():
        write = converter.get_unstructure_hook(cls)
        converter.register_unstructure_hook(cls, lambda value, kind=kind, write=write: {"kind": kind} | write(value))

    def read(value: Any, kind: Any) -> Any:
        # The hook serves the union with and without None.
        if value is None and type(None) in get_args(kind):
            return None
        fields = dict(value)
        return converter.structure(fields, EXPECTATIONS[fields.pop("kind")])

    converter.register_structure_hook_func(_is_expectation, read)


def _is_expectation(kind: Any) -> bool:
    return option_types.is_union(kind) and Same in get_args(kind)


_COMPACT: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)


# No JSON that is written here begins with a space, so it can mark the other way of writing.
_BY_HAND: Final = " "
"""Starts a text that orjson would read as something else, or not at all: numbers of more than 64 bits and lone
surrogates, which are escaped in it."""


def compact(value: object) -> str:
    """Write a plain value as one line of JSON, which holds any text, lone surrogates too.

    Raises:
        ValueError: it holds a float that is not finite.
    """
    # orjson would also write enums, dates and dataclasses, which are no plain values.
    if is_plain(value):
        try:
            return orjson.dumps(value).decode()
        except TypeError:
            pass
    return _BY_HAND + _COMPACT.encode(value)


def read_compact(text: str | bytes) -> Any:
    """Read what `compact` wrote, as text or in UTF-8; raise `ValueError` if it is something else."""
    return json.loads(text) if text[:1].isspace() else orjson.loads(text)


def to_text(value: object) -> str:
    """Write a value as one line of JSON; equal values, equal text."""
    return compact(to_json(value))


_TEXTS: Final[dict[int, tuple[ReferenceType[object], str]]] = {}
"""Identity of a value -> the value, weakly, and its text."""


def to_text_once(value: object) -> str:
    """Return `to_text` of an immutable value, which is kept while the value lives: a reply is stored in two places."""
    # By identity, since hashing a reply reads all of it. Ids are used again: the reference says whether it is the same
    # value.
    key = id(value)
    entry = _TEXTS.get(key)
    if entry is not None and entry[0]() is value:
        return entry[1]
    text = to_text(value)
    _TEXTS[key] = (ref(value, lambda _: _TEXTS.pop(key, None)), text)
    return text


def from_text(cls: type[T], text: str) -> T:
    """Read what `to_text` wrote.

    Raises:
        DamagedStoreError: it is something else.
    """
    return _read(cls, lambda: read_compact(text))


def from_plain(cls: type[T], value: object) -> T:
    """Read what `to_json` made.

    Raises:
        DamagedStoreError: it is something else.
    """
    return _read(cls, lambda: value)


def _read(cls: type[T], value: Callable[[], object]) -> T:
    try:
        return from_json(cls, value())
    except Exception as error:  # a changed text can break the reading of any type in any way
        kind = getattr(cls, "__name__", str(cls))
        raise DamagedStoreError(
            f"a stored {kind} cannot be read: it is not what jrh wrote; "
            "`jrh salvage RUN_DIR` copies what can be read to a new run directory"
        ) from error


@frozen(kw_only=True, eq=False)
class Node:
    """A value, its place, and the list that takes the mistakes of the whole document."""

    value: Any
    at: Location = ()
    document: Document
    base: Path
    """The directory relative paths start at."""
    problems: list[Problem] = field(factory=list)
    """In the order they were found; one list for all nodes of a document."""

    def __getitem__(self, key: str | int) -> Node:
        """Return the value of a key or of a list position."""
        return self.with_value(self.value[key], key)

    def with_value(self, value: Any, *below: str | int) -> Node:
        """Return another value at this place or below it: a part of a mapping, or the long form of a short one."""
        return attrs.evolve(self, value=value, at=(*self.at, *below))

    def report(self, message: str, *below: str | int) -> None:
        """Keep a mistake of this value, or of one below it."""
        self.report_at((*self.at, *below), message)

    def report_at(self, location: Location, message: str) -> None:
        """Keep a mistake of any value of the document."""
        self.problems.append(self.document.wrong(location, message))

    def read(self, kind: type[T], default: T) -> T:
        """Return the value as a type, or the default where it does not fit, which is reported."""
        value = self.try_read(kind)
        return default if value is None else value

    def try_read(self, kind: type[T]) -> T | None:
        """Return the value as a type, or None where it does not fit, which is reported."""
        value, problems = collect(self.value, kind, base=self.base, document=self.document, location=self.at)
        self.problems.extend(problems)
        return value

    def read_keys_of(self, cls: type[T], leave: Collection[str] = ()) -> T:
        """Return an attrs class made of those keys of a mapping that are its fields; its defaults where one is wrong.

        Args:
            cls: every field has a default.
            leave: keys that mean something else here.
        """
        names = [name for name in option_types.field_names(cls) if name not in leave]
        values = {name: self.value[name] for name in names if name in self.value}
        return self.with_value(values).read(cls, cls())

    def read_required(self, key: str, kind: type[T], default: T) -> T:
        """Return what a mapping holds under a key that has to be there."""
        if key not in self.value:
            self.report(f"missing key '{key}'")
            return default
        return self[key].read(kind, default)

    def section(self, key: str) -> Node | None:
        """Return the mapping that a mapping has to hold under a key."""
        if key not in self.value:
            self.report(f"missing key '{key}'")
            return None
        return self[key] if self[key].is_mapping("a mapping") else None

    def entries(self, key: str) -> list[Node]:
        """Return the entries of a list that a mapping may hold under a key."""
        written = self.value.get(key, [])
        if not isinstance(written, list | tuple):
            self.report(f"expected a list, got {option_types.describe_value(written)}", key)
            return []
        return [self.with_value(entry, key, position) for position, entry in enumerate(written)]

    def is_mapping(self, wanted: str) -> bool:
        """Tell whether the value is a mapping; another one is reported, with what is wanted."""
        if not isinstance(self.value, Mapping):
            self.report(f"expected {wanted}, got {option_types.describe_value(self.value)}")
        return isinstance(self.value, Mapping)

    def allow_keys(self, known: Iterable[str]) -> None:
        """Report the keys of a mapping that are none of these."""
        names = list(known)
        for key in self.value:
            if key not in names:
                self.report(unknown_key(key, names), key)
