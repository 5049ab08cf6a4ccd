"""Finds the components a suite names and reads their options; everything that is wrong is kept, with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import NOTHING, define, field

from jrh.document import option_types
from jrh.document.convert import collect
from jrh.document.positions import Document, Location, did_you_mean, path_text, unknown_key
from jrh.errors import JrhError, Problem
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import Spec
from jrh.suite.definition import Suite, Use

S = TypeVar("S", bound=Spec)


@define(kw_only=True)
class Lookup:
    """One pass over a suite."""

    document: Document
    plugins: Plugins
    suite: Suite
    problems: list[Problem] = field(factory=list)

    def section(self, name: str) -> Any:
        """Return what the document says under a top-level key, right or wrong."""
        return self.document.value.get(name) if isinstance(self.document.value, Mapping) else None

    def find(self, use: Use, registry: Registry[S], key: str, prefer: str = "") -> Entry[S] | None:
        """Return the component of an entry; `key` names it where the entry is written flat."""
        try:
            return registry.find(use.component, prefer=prefer)
        except JrhError as error:
            short = use.location[-1:] == (use.component,) and key not in use.options
            flat = (*use.location, key)
            at = flat if flat in self.document.positions else use.location
            problem = self.document.problem(at, str(error))
            if problem.line:
                named, where = f"'{use.component}'", path_text(use.location[:-1] if short else use.location)
                problem = self.document.problem(at, str(error).replace(named, f"{named} in {where}", 1))
            self.problems.append(problem)
            return None

    def options(self, use: Use, entry: Entry[Any], ours: tuple[str, ...]) -> Any:
        """Return the options of an entry, typed, or None.

        An unknown key is told all keys that may stand there: the component's own, and `ours`.
        """
        cls = entry.spec.options
        own = [attribute.name for attribute in option_types.resolved_fields(cls)]
        known = list(dict.fromkeys([*own, *ours]))
        for key in use.options:
            if key not in own:
                self.problems.append(self.document.wrong((*use.location, key), unknown_key(key, known)))
        given = {key: value for key, value in use.options.items() if key in own}
        options, problems = collect(given, cls, base=self.suite.base, document=self.document, location=use.location)
        self.problems += problems
        return options

    def referred(self, kind: str, name: str, at: Location, prefer: str) -> Entry[Any] | None:
        """Return the parser or the validator of a name that an option holds, where there is one with defaults."""
        registry: Registry[Any] = self.plugins.parsers if kind == "parser" else self.plugins.validators
        try:
            entry = registry.find(name, prefer=prefer)
        except JrhError as error:
            names = self.names("parsers") if kind == "parser" else []
            listed = f"\n{did_you_mean(name, names)}Parsers of the suite: {', '.join(names)}." if names else ""
            self.problems.append(self.document.wrong(at, f"{error}{listed}"))
            return None
        needed = [each.name for each in option_types.resolved_fields(entry.spec.options) if each.default is NOTHING]
        if needed:
            where = "; describe it under `parsers`" if kind == "parser" else ""
            message = f"{kind} '{name}' cannot be used by its name alone: it needs {', '.join(needed)}{where}"
            self.problems.append(self.document.wrong(at, message))
        return None if needed else entry

    def names(self, section: str) -> list[str]:
        """Return the names that a section of the document defines, right or wrong."""
        defined = self.section(section)
        return list(defined) if isinstance(defined, Mapping) else []

    def check_model(self, name: str, at: Location) -> None:
        """Report a model that the suite does not describe."""
        names = self.names("models")
        if name not in names:
            listed = f"Models of the suite: {', '.join(names)}." if names else "Describe it under `models`."
            self.problems.append(
                self.document.wrong(at, f"unknown model '{name}'\n{did_you_mean(name, names)}{listed}")
            )
