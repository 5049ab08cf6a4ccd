"""`--set key=value`: change one value of a document from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from jrh.document.positions import Document, Location, did_you_mean, path_text
from jrh.document.yaml_reader import parse_document
from jrh.errors import Problem, SuiteError
from jrh.values.json_values import Json

ENTRY_KEYS: Final = ("test", "judge", "metric", "validator", "reporter")
"""The keys that name the component of a list entry that is written flat."""


def override(document: Document, setting: str) -> Document:
    """Return the document with one value set, for example by `data.sample.n=10`.

    The key is the way to the value: keys, list positions from 0, and in `tests`, `judges`, `metrics` and `reports` the
    names of entries (`judges.mini.model`). The value is read as in a suite file. Mappings that are missing are made;
    the original document stays as it is.

    Raises:
        SuiteError: there is no such place and none can be made, or the value is not YAML.
    """
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise SuiteError([Problem(message="write `key=value`, such as `data.sample.n=10`", source=f"--set {setting}")])
    try:
        value = parse_document(text, key).value
    except SuiteError as error:
        messages = [problem.message for problem in error.problems]
        raise SuiteError([Problem(message=message, source=f"--set {key}") for message in messages]) from None
    return _Override(document, key).apply(value)


class _Override:
    """One setting on its way down the document."""

    def __init__(self, document: Document, key: str) -> None:
        self._document = document
        self._key = key
        self._made: Location | None = None

    def apply(self, value: Json) -> Document:
        changed = self._set(self._document.value, tuple(self._key.split(".")), (), value)
        made = self._made or ()
        kept = {at: place for at, place in self._document.positions.items() if at[: len(made)] != made}
        return attrs.evolve(
            self._document, value=changed, positions=kept, settings={**self._document.settings, made: self._key}
        )

    def _set(self, current: Json, parts: tuple[str, ...], at: Location, value: Json) -> Json:
        if not parts:
            self._made = self._made or at
            return value
        if isinstance(current, list):
            index, rest = self._entry(current, parts, at)
            below = (*at, index)
            return [*current[:index], self._set_entry(current[index], rest, below, value), *current[index + 1 :]]
        if current is None:
            current = {}
        if not isinstance(current, Mapping):
            raise self._error(f"'{path_text(at)}' is a single value; it has no '{parts[0]}'")
        name, rest = _longest_key(current, parts)
        below = (*at, name)
        if name not in current:
            self._made = self._made or below
        return {**current, name: self._set(current.get(name), rest, below, value)}

    def _set_entry(self, entry: Json, parts: tuple[str, ...], at: Location, value: Json) -> Json:
        """Go on into a list entry; of the short form `name: {options}` into the options."""
        if parts and isinstance(entry, str):
            entry = {entry: {}}
        if parts and isinstance(entry, Mapping) and _is_short(entry) and parts[0] not in entry:
            component = next(iter(entry))
            return {component: self._set(entry[component], parts, (*at, component), value)}
        return self._set(entry, parts, at, value)

    def _entry(self, entries: list[Any], parts: tuple[str, ...], at: Location) -> tuple[int, tuple[str, ...]]:
        """Return which entry is meant, and the parts of the key that are left."""
        if parts[0].isdigit() and int(parts[0]) < len(entries):
            return int(parts[0]), parts[1:]
        names = [_entry_names(entry) for entry in entries]
        for length in range(len(parts), 0, -1):  # names may hold dots
            name = ".".join(parts[:length])
            found = [index for index, known in enumerate(names) if name in known]
            if len(found) > 1:
                raise self._error(
                    f"{len(found)} entries of {path_text(at)} are named '{name}'; use the position, from 0"
                )
            if found:
                return found[0], parts[length:]
        known = [name for entry in names for name in entry[:1]]
        listed = f"There are: {', '.join(known)}." if known else f"It has {len(entries)} entries, from 0."
        raise self._error(f"{path_text(at)} has no entry '{parts[0]}'\n{did_you_mean(parts[0], known)}{listed}")

    def _error(self, message: str) -> SuiteError:
        return SuiteError([Problem(message=message, source=f"--set {self._key}")])


def _longest_key(mapping: Mapping[str, Json], parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the key that is there, also where it holds dots itself, else the first part."""
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in mapping:
            return ".".join(parts[:length]), parts[length:]
    return parts[0], parts[1:]


def _is_short(entry: Mapping[str, Json]) -> bool:
    return len(entry) == 1 and next(iter(entry)) not in (*ENTRY_KEYS, "name")


def _entry_names(entry: Json) -> tuple[str, ...]:
    """Return what an entry may be called: its own name, its component, and that without the distribution."""
    written: list[Json] = [entry]
    if isinstance(entry, Mapping):
        short = next(iter(entry)) if _is_short(entry) else None
        options = entry[short] if short else entry
        named = options.get("name") if isinstance(options, Mapping) else None
        written = [named, short, *(entry.get(key) for key in ENTRY_KEYS)]
    names = [name for name in written if isinstance(name, str)]
    return tuple(dict.fromkeys([*names, *(name.rpartition("/")[2] for name in names)]))
