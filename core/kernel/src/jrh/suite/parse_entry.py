"""One entry of a suite in its three forms: a name, a name with options, or flat with the options beside the name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import define, field, frozen

from jrh.document import option_types
from jrh.document.convert import collect
from jrh.document.positions import Document, Location
from jrh.errors import JrhError, Problem
from jrh.plugins.registry import Plugins
from jrh.suite.syntax import Role

T = TypeVar("T")


@frozen(kw_only=True)
class Written:
    """One entry, taken apart."""

    component: str
    settings: Any
    """An instance of the role's settings class."""
    options: Mapping[str, Any]
    location: Location
    """Where the options stand."""

    def common(self) -> dict[str, Any]:
        """Return what every `Use` is made of."""
        name = self.settings.name or self.component.rpartition("/")[2]
        return {"name": name, "component": self.component, "options": self.options, "location": self.location}


@define(kw_only=True)
class EntryReader:
    """Reads entries and keeps the problems it meets."""

    document: Document
    plugins: Plugins
    """Asked which options a component has itself."""
    base: Path
    problems: list[Problem] = field(factory=list)

    def report(self, location: Location, message: str) -> None:
        """Keep a problem."""
        self.problems.append(self.document.wrong(location, message))

    def read(self, value: object, kind: type[T], location: Location, default: T) -> T:
        """Return a typed value, or the default where something is wrong, which is kept."""
        read, problems = collect(value, kind, base=self.base, document=self.document, location=location)
        self.problems.extend(problems)
        return default if read is None else read

    def entries(
        self, value: Mapping[str, Any], key: str, read: Callable[[Any, Location], T], at: Location = ()
    ) -> list[T]:
        """Read every entry of a list that may be left out."""
        written = value.get(key, [])
        if not isinstance(written, list | tuple):
            self.report((*at, key), f"expected a list, got {option_types.described(written)}")
            return []
        return [read(entry, (*at, key, position)) for position, entry in enumerate(written)]

    def entry(self, value: Any, at: Location, role: Role) -> Written | None:
        """Take an entry apart, in whichever form it is written."""
        if isinstance(value, str):
            return self._taken_apart(value, {}, at, role, named_at=at)
        if isinstance(value, Mapping) and role.key in value:
            return self.flat(value, at, role)
        if isinstance(value, Mapping) and len(value) == 1:
            component, options = next(iter(value.items()))
            if options is None or isinstance(options, Mapping):
                below = (*at, component)
                return self._taken_apart(component, options or {}, below, role, named_at=below)
            self.report((*at, component), f"expected a mapping of options, got {option_types.described(options)}")
            return None
        self.report(at, _no_entry(value, role))
        return None

    def flat(self, value: Mapping[str, Any], at: Location, role: Role) -> Written | None:
        """Take apart an entry whose options stand beside the component's name."""
        options = {key: part for key, part in value.items() if key != role.key}
        return self._taken_apart(value[role.key], options, at, role, named_at=(*at, role.key))

    def _taken_apart(
        self, component: Any, options: Mapping[str, Any], at: Location, role: Role, *, named_at: Location
    ) -> Written | None:
        if not isinstance(component, str) or not component:
            self.report(named_at, f"expected the name of a {role.key}, got {option_types.described(component)}")
            return None
        own = self.own_options(role.plural, component) - ({"name"} if role.own_name else set())
        left = dict(options)
        settings = self.read(take(left, role.settings, own), role.settings, at, role.settings())
        return Written(component=component, settings=settings, options=left, location=at)

    def own_options(self, plural: str, component: str) -> frozenset[str]:
        """Return the names of the component's own options; none for a component that is not there."""
        try:
            entry = getattr(self.plugins, plural).find(component)
        except JrhError:
            return frozenset()  # reported where components are looked up
        return frozenset(attribute.name for attribute in option_types.resolved_fields(entry.spec.options))


def take(options: dict[str, Any], settings: type, own: frozenset[str]) -> dict[str, Any]:
    """Move the suite's own keys out of the options; a component's own option of the same name stays."""
    names = [attribute.name for attribute in attrs.fields(settings)]
    return {name: options.pop(name) for name in names if name in options and name not in own}


def _no_entry(value: Any, role: Role) -> str:
    if not isinstance(value, Mapping):
        return f"expected the name of a {role.key} or a mapping, got {option_types.described(value)}"
    forms = f"`{role.key}: NAME` with the options beside it, or `NAME: {{options}}`"
    empty = next((key for key, part in value.items() if part is None), None)
    hint = f"; are the options of '{empty}' to be indented further?" if empty else ""
    return f"no key '{role.key}' says which {role.key} this is{hint}\nWrite {forms}."
