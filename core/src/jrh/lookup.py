"""Finds the components a suite names and reads their options; everything that is wrong is kept, with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define, field

from jrh import kinds
from jrh.convert import collect
from jrh.document import Document, Location, did_you_mean, path_text, unknown_key
from jrh.errors import JrhError, Problem
from jrh.references import located_references
from jrh.registry import Entry, Plugins, Registry
from jrh.specs import Spec
from jrh.suite import Suite, Use

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
        """Return the options of an entry, typed and with references checked, or None.

        An unknown key is told all keys that may stand there: the component's own, and `ours`.
        """
        cls = entry.spec.options
        own = [attribute.name for attribute in kinds.resolved_fields(cls)]
        known = list(dict.fromkeys([*own, *ours]))
        for key in use.options:
            if key not in own:
                self.problems.append(self.document.wrong((*use.location, key), unknown_key(key, known)))
        given = {key: value for key, value in use.options.items() if key in own}
        options, problems = collect(given, cls, base=self.suite.base, document=self.document, location=use.location)
        self.problems += problems
        for kind, name, at in located_references(options, cls, use.location):
            self._check_reference(kind, name, at, entry)
        return options

    def _check_reference(self, kind: str, name: str, at: Location, entry: Entry[Any]) -> None:
        if kind == "model":
            self._check_model(name, at)
            return
        registry: Registry[Any] = self.plugins.parsers if kind == "parser" else self.plugins.validators
        try:
            registry.find(name, prefer=entry.distribution)
        except JrhError as error:
            self.problems.append(self.document.wrong(at, str(error)))

    def _check_model(self, name: str, at: Location) -> None:
        models = self.section("models")
        names = list(models) if isinstance(models, Mapping) else []
        if name not in names:
            listed = f"Models of the suite: {', '.join(names)}." if names else "Describe it under `models`."
            self.problems.append(
                self.document.wrong(at, f"unknown model '{name}'\n{did_you_mean(name, names)}{listed}")
            )
