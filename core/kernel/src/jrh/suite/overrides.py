"""What a caller changes of a suite before it is read: `--set key=value`, and judges, rows and tables from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from jrh.document import option_types
from jrh.document.positions import Document, Location, did_you_mean, path_text
from jrh.document.yaml_reader import parse_document
from jrh.errors import JrhError, Problem, SuiteError
from jrh.plugins.registry import Plugins, Registry
from jrh.suite.syntax import DATA, JUDGE, Role
from jrh.values.json_values import Json
from jrh.values.option_values import Held, is_table, name_of

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
        # As in a file: `10` is a number, and `[a, b]` a list.
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
        self._changed: Location | None = None

    def apply(self, value: Json) -> Document:
        changed = self._set(self._document.value, tuple(self._key.split(".")), (), value)
        start = self._changed or ()
        # Lines of what was replaced would lead to text that does not count any more.
        positions = {at: place for at, place in self._document.positions.items() if at[: len(start)] != start}
        return attrs.evolve(
            self._document, value=changed, positions=positions, settings={**self._document.settings, start: self._key}
        )

    def _set(self, current: Json, parts: tuple[str, ...], at: Location, value: Json) -> Json:
        if not parts:
            self._changed = self._changed or at
            return value
        if isinstance(current, list):
            index, below_parts = self._entry(current, parts, at)
            below = (*at, index)
            return [*current[:index], self._set_entry(current[index], below_parts, below, value), *current[index + 1 :]]
        # A key without a value, or one that is missing, is a mapping to be made.
        if current is None:
            current = {}
        if not isinstance(current, Mapping):
            raise self._error(f"'{path_text(at)}' is a single value; it has no '{parts[0]}'")
        name, below_parts = _longest_key(current, parts)
        below = (*at, name)
        if name not in current:
            # The first key that was missing: everything below it comes from the setting.
            self._changed = self._changed or below
        return {**current, name: self._set(current.get(name), below_parts, below, value)}

    def _set_entry(self, entry: Json, parts: tuple[str, ...], at: Location, value: Json) -> Json:
        """Go on into a list entry; of the short form `name: {options}` into the options."""
        if parts and isinstance(entry, str):
            # A name alone has no options to set one of.
            entry = {entry: {}}
        if parts and isinstance(entry, Mapping) and _is_short(entry) and parts[0] not in entry:
            component = next(iter(entry))
            return {component: self._set(entry[component], parts, (*at, component), value)}
        return self._set(entry, parts, at, value)

    def _entry(self, entries: list[Any], parts: tuple[str, ...], at: Location) -> tuple[int, tuple[str, ...]]:
        """Return which entry is meant, and the parts of the key that are left."""
        # A position wins over a name that is a number: positions always work.
        if parts[0].isdigit() and int(parts[0]) < len(entries):
            return int(parts[0]), parts[1:]
        names = [_entry_names(entry) for entry in entries]
        for length in range(len(parts), 0, -1):  # names may hold dots
            name = ".".join(parts[:length])
            places = [index for index, known in enumerate(names) if name in known]
            if len(places) > 1:
                raise self._error(
                    f"{len(places)} entries of {path_text(at)} are named '{name}'; use the position, from 0"
                )
            if places:
                return places[0], parts[length:]
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
    # The name comes first: where it is free, the component's name is free for another entry.
    return tuple(dict.fromkeys([*names, *(name.rpartition("/")[2] for name in names)]))


JudgeArgument: TypeAlias = str | Mapping[str, Any] | Any
"""The name of one of the suite's judges, a callable, or an entry as in a suite."""


def with_objects(value: Any, plugins: Plugins) -> Any:
    """Return a suite in which every callable judge and every table is an entry of the component that takes it.

    Args:
        value: a suite as a mapping; anything else is returned as it is.
        plugins: what is loaded.

    Raises:
        JrhError: no loaded plugin takes such an object.
    """
    if not isinstance(value, Mapping):
        return value
    suite = dict(value)
    if "data" in suite:
        suite["data"] = _data(suite["data"], plugins)
    if isinstance(suite.get("judges"), list | tuple):
        suite["judges"] = [_judge(entry, plugins) for entry in suite["judges"]]
    if isinstance(suite.get("tasks"), list | tuple):
        suite["tasks"] = [with_objects(entry, plugins) for entry in suite["tasks"]]
    return suite


def add_judges(value: Any, judges: Sequence[JudgeArgument], plugins: Plugins) -> tuple[Any, tuple[str, ...]]:
    """Add judges that are no names to a suite; return it with the names of those to keep, none where all are kept."""
    added = [judge for judge in judges if not isinstance(judge, str)]
    if not added or not isinstance(value, Mapping):
        return value, tuple(judge for judge in judges if isinstance(judge, str))
    # By place, so that the names come back in the caller's order.
    entries = {place: _judge(judge, plugins) for place, judge in enumerate(judges) if not isinstance(judge, str)}
    names = tuple(
        next(iter(_entry_names(entries[place])), "").rpartition("/")[2] if place in entries else str(judge)
        for place, judge in enumerate(judges)
    )
    written = value.get("judges", [])
    listed = list(written) if isinstance(written, list | tuple) else [written]
    return {**value, "judges": [*listed, *entries.values()]}, names


def with_data(value: Any, data: object, plugins: Plugins) -> Any:
    """Return a suite that reads its items from rows in Python; its columns and its sample stay.

    Raises:
        JrhError: the suite has several tasks, or no loaded plugin takes rows.
    """
    if data is None or not isinstance(value, Mapping):
        return value
    if "tasks" in value:
        raise JrhError("`data` is for a suite with one task; give each task its rows in the suite, as a mapping")
    before = value.get("data")
    entry = _entry(data, plugins.data_sources, DATA)
    options = option_types.field_names(plugins.data_sources.find(entry[DATA.key]).spec.options)
    # Options of another source, such as a path, mean nothing to the one that takes rows.
    allowed = {*options, *option_types.field_names(DATA.settings)} - entry.keys()
    stays = {key: part for key, part in before.items() if key in allowed} if isinstance(before, Mapping) else {}
    return {**value, "data": entry | stays}


def _data(data: Any, plugins: Plugins) -> Any:
    if is_table(data) or isinstance(data, list | tuple):
        return _entry(data, plugins.data_sources, DATA)
    if isinstance(data, Mapping) and is_table(data.get(DATA.key)):
        return {**data, **_entry(data[DATA.key], plugins.data_sources, DATA)}
    return data


def _judge(entry: Any, plugins: Plugins) -> Any:
    if callable(entry):
        # Named after the function: reports would call all of them by the component that takes them.
        return {**_entry(entry, plugins.judges, JUDGE), "name": name_of(entry)}
    if isinstance(entry, Mapping) and callable(entry.get(JUDGE.key)):
        thing = entry[JUDGE.key]
        # A name that the entry gives itself wins.
        return {"name": name_of(thing), **entry, **_entry(thing, plugins.judges, JUDGE)}
    return entry


def _entry(thing: Any, registry: Registry[Any], role: Role) -> dict[str, Any]:
    """Return an entry of the component that takes objects from Python, with the object as the option that does."""
    what, place = ("rows", "the data") if role is DATA else ("a callable", "a judge")
    takers = [(entry.qualified, entry.spec.takes) for entry in registry if entry.spec.takes]
    # The kernel names no plugin: whichever declares that it takes such objects is used.
    if not takers:
        raise JrhError(f"no loaded plugin takes {what} from Python as {place}; `jrh plugins list` shows what is loaded")
    if len(takers) > 1:
        named = ", ".join(component for component, _ in takers)
        raise JrhError(f"several loaded plugins take {what} from Python as {place} ({named}); allow one with `plugins`")
    ((component, option),) = takers
    return {role.key: component, option: Held.of(thing)}
