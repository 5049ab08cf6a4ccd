"""YAML and JSON files to plain values with positions.

The scalars of YAML 1.2's core schema, narrowed: `YES`, `no`, `on` and `001` stay text, as labels and ids need it. No
tags: a file never decides which code reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

import yaml
from attrs import define, field

from jrh.document.positions import Document, Location, Position, not_utf8, path_text
from jrh.errors import Problem, SuiteError
from jrh.values.json_values import Json
from jrh.values.option_values import Held

MAX_BYTES: Final = 10_000_000
MAX_VALUES: Final = 100_000
"""Values of one file, counted with every use of an alias."""
MAX_DEPTH: Final = 100

# The loader in C where PyYAML has it: large data files take several times as long in Python.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_MOST_DIGITS: Final = 100
"""Python refuses to read numbers of thousands of digits; such a thing is taken as text."""
_FLOAT: Final = re.compile(r"-?((0|[1-9][0-9]*)?\.[0-9]+|(0|[1-9][0-9]*)\.?(?=[.eE]|$))([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_SURROGATES: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)")


def read_document(path: Path) -> Document:
    """Read a YAML or JSON file.

    Raises:
        SuiteError: the file cannot be read, is not text, or is not one document of plain values; all mistakes at once.
    """
    source = str(path)
    try:
        with path.open("rb") as file:
            # A byte more than allowed shows that a file is too large without holding all of it.
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SuiteError([Problem(message=f"cannot be read: {error.strerror}", source=source)]) from None
    if len(content) > MAX_BYTES:
        raise SuiteError([Problem(message=f"is larger than {MAX_BYTES // 1_000_000} MB", source=source)])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem(
            message=f"this is {not_utf8(content)}",
            source=source,
            line=content.count(b"\n", 0, error.start) + 1,
        )
        raise SuiteError([problem]) from None
    return parse_document(_json_as_yaml(text) if path.suffix == ".json" else text, source)


def parse_document(text: str, source: str) -> Document:
    """Read the text of a YAML or JSON file; see `read_document`."""
    reading = _Reading(source=source)
    value = reading.document(text)
    if reading.problems:
        raise SuiteError(in_order(reading.problems))
    return Document(value=value, source=source, positions=reading.positions)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Sort problems by their place in the file; those without a place come first."""
    return sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0))


def document_of(value: object, source: str = "suite") -> Document:
    """Wrap values that come from a program, such as a dict; paths and enums become text, callables the name of one."""
    return Document(value=_plain(value, ()), source=source)


def _plain(value: Any, at: Location) -> Any:
    if len(at) > MAX_DEPTH:
        raise SuiteError([f"values are nested deeper than {MAX_DEPTH} levels"])
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise SuiteError([Problem(message=f"the key {key!r} is not text", source=path_text(at))])
        return {key: _plain(part, (*at, key)) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, (*at, position)) for position, part in enumerate(value)]
    if isinstance(value, Enum):
        return _plain(value.value, at)
    if callable(value):
        return Held.of(value)
    return str(value) if isinstance(value, Path) else value


def _json_as_yaml(text: str) -> str:
    """Write what JSON allows and YAML libraries do not in a way both understand; lines stay where they are."""
    # Only between values can a line of JSON begin with a tab, and only strings hold escapes.
    spaced = re.sub(r"^\t+", lambda tabs: " " * len(tabs[0]), text, flags=re.MULTILINE)
    return _SURROGATES.sub(_one_character, spaced)


def _one_character(pair: re.Match[str]) -> str:
    high, low = int(pair[2], 16), int(pair[3], 16)
    return f"{pair[1]}\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08X}"


def _scalar(text: str) -> Json:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text) if len(text) <= _MOST_DIGITS else text
    # After whole numbers, which match here, too.
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "", 1)) if _NOT_FINITE.fullmatch(text) else text


def _position(event: Any) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


@define
class _Node:
    """One value as written, before aliases are followed."""

    position: Position
    value: Json = None
    """Of a scalar."""
    entries: list[tuple[_Node, _Node]] | None = None
    """Of a mapping."""
    parts: list[_Node] | None = None
    """Of a list."""
    open: bool = False
    """Still being read: an alias to it would never end."""


@define
class _Reading:
    """One pass over a file: builds values, positions and the list of problems."""

    source: str
    positions: dict[Location, Position] = field(factory=dict)
    problems: list[Problem] = field(factory=list)
    _anchors: dict[str, _Node] = field(factory=dict)
    _values: int = 0

    def document(self, text: str) -> Json:
        """Return the value of the only document."""
        try:
            # Events and not objects, as only events have the position of every value.
            root = self._root(yaml.parse(text, Loader=_LOADER))
            return None if root is None else self._value(root, ())
        except yaml.MarkedYAMLError as error:
            self._report(*_words_of(error))
        except yaml.reader.ReaderError as error:
            # Its own position counts bytes in one of the two loaders and characters in the other.
            before = text[: text.find(chr(error.character))]
            position = before.count("\n") + 1, len(before) - before.rfind("\n")
            self._report(f"the character U+{error.character:04X} is not allowed in YAML", position)
        except _TooMuchError as error:
            self._report(str(error), error.position)
        return None

    def _report(self, message: str, position: tuple[int | None, int | None]) -> None:
        line, column = position
        self.problems.append(Problem(message=message, source=self.source, line=line, column=column))

    def _root(self, events: Iterator[Any]) -> _Node | None:
        root = None
        started = False
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if started:
                    self._report("a second document starts here; a file holds one", _position(event))
                    break
                started = True
            elif isinstance(event, yaml.NodeEvent):
                root = self._node(event, events, 1)
        return root

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> _Node:
        position = _position(event)
        if depth > MAX_DEPTH:
            raise _TooMuchError(f"values are nested deeper than {MAX_DEPTH} levels", position)
        if isinstance(event, yaml.AliasEvent):
            return self._follow_alias(event.anchor or "", position)
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._report(f"the tag '{tag}' is not allowed; write plain values without tags", position)
        node = _Node(position=position)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if isinstance(event, yaml.ScalarEvent):
            # What was quoted stays text.
            node.value = _scalar(event.value) if event.implicit[0] else event.value
            return node
        node.open = True
        if isinstance(event, yaml.SequenceStartEvent):
            node.parts = list(self._nodes(events, depth))
        else:
            flat = self._nodes(events, depth)
            node.entries = [(key, next(flat)) for key in flat]
        node.open = False
        return node

    def _nodes(self, events: Iterator[Any], depth: int) -> Iterator[_Node]:
        for event in events:
            if isinstance(event, yaml.CollectionEndEvent):
                return
            yield self._node(event, events, depth + 1)

    def _follow_alias(self, anchor: str, position: Position) -> _Node:
        node = self._anchors.get(anchor)
        if node is None:
            self._report(f"'*{anchor}' has no '&{anchor}' before it", position)
        elif node.open:
            self._report(f"'*{anchor}' is inside its own anchor '&{anchor}': it would contain itself", position)
        return _Node(position=position) if node is None or node.open else node

    def _value(self, node: _Node, location: Location) -> Json:
        # Every use of an alias counts: a few lines of aliases can stand for billions of values.
        self._values += 1
        if len(location) >= MAX_DEPTH:
            raise _TooMuchError(f"values are nested deeper than {MAX_DEPTH} levels", node.position)
        if self._values > MAX_VALUES:
            raise _TooMuchError(f"more than {MAX_VALUES:,} values, aliases counted at every use", node.position)
        # In a mapping the position of the key is known by now, and it is the one to show.
        self.positions.setdefault(location, node.position)
        if node.parts is not None:
            return [self._value(part, (*location, at)) for at, part in enumerate(node.parts)]
        if node.entries is not None:
            return self._mapping(node.entries, location)
        return node.value

    def _mapping(self, entries: list[tuple[_Node, _Node]], location: Location) -> Json:
        values: dict[str, Json] = {}
        for key_node, value_node in entries:
            key = key_node.value
            if not isinstance(key, str):
                self._report("a key has to be text; write it in quotes", key_node.position)
            elif key in values:
                line, column = self.positions[(*location, key)]
                self._report(f"duplicate key '{key}': it is already in line {line}, column {column}", key_node.position)
            else:
                self.positions[(*location, key)] = key_node.position
                values[key] = self._value(value_node, (*location, key))
        return values


class _TooMuchError(Exception):
    """Stop reading a file that is made to be expensive."""

    def __init__(self, message: str, position: Position) -> None:
        """Keep the place."""
        super().__init__(message)
        self.position = position


def _words_of(error: yaml.MarkedYAMLError) -> tuple[str, tuple[int | None, int | None]]:
    mark = error.problem_mark or error.context_mark
    reason = " ".join(filter(None, [error.context, error.problem]))
    position = (mark.line + 1, mark.column + 1) if mark else (None, None)
    return f"not valid YAML: {reason}", position
