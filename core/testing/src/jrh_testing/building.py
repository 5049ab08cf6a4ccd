"""Build one component of a plugin the way a run would, without a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import Factory, define, frozen
from jrh import Item, JrhError, Json, ModelClient, Task, derive_seed
from jrh.document.convert import structure
from jrh.plugins import Parser, SectionSpec, Validator
from jrh.plugins.component_identity import Source, load_object, python_source
from jrh.plugins.factories import find_factory, make
from jrh.plugins.loading import DECLARATIONS
from jrh.plugins.registry import Entry
from jrh.plugins.specs import Spec

from jrh_testing.samples import sample_task

T = TypeVar("T")


@frozen(kw_only=True)
class LogEntry:
    """One line that a component logged."""

    level: str
    event: str
    values: Mapping[str, Any]


@define
class RecordingLog:
    """A logger that keeps what components log."""

    entries: list[LogEntry] = Factory(list)

    def debug(self, event: str, /, **values: Any) -> None:
        """Keep detail."""
        self.entries.append(LogEntry(level="debug", event=event, values=values))

    def info(self, event: str, /, **values: Any) -> None:
        """Keep what happened."""
        self.entries.append(LogEntry(level="info", event=event, values=values))

    def warning(self, event: str, /, **values: Any) -> None:
        """Keep what somebody should look at."""
        self.entries.append(LogEntry(level="warning", event=event, values=values))


@frozen(kw_only=True)
class FakeContext:
    """A `BuildContext` with the models, parsers and validators that a test provides."""

    name: str
    task: Task
    base: Path = Path()
    log: RecordingLog = Factory(RecordingLog)
    run_seed: int = 0
    models: Mapping[str, ModelClient] = Factory(dict)
    parsers: Mapping[str, Parser] = Factory(dict)
    validators: Mapping[str, Validator] = Factory(dict)
    items: Sequence[Item] = ()
    """What `data` returns."""

    def seed(self, *parts: object) -> int:
        """Derive a seed from the run's seed, the component's name and the parts."""
        return derive_seed(self.run_seed, self.name, *parts)

    def model(self, name: str) -> ModelClient:
        """Return the model a test gave under this name."""
        return _look_up("model", self.models, name)

    def parser(self, name: str) -> Parser:
        """Return the parser a test gave under this name."""
        return _look_up("parser", self.parsers, name)

    def validator(self, name: str) -> Validator:
        """Return the validator a test gave under this name."""
        return _look_up("validator", self.validators, name)

    def data(self) -> Sequence[Item]:
        """Return the items a test gave as the whole data set."""
        return self.items

    def code(self, written: str) -> Any:
        """Return what `path/to/file.py:name` or `module:name` names."""
        path = self.base / written.rpartition(":")[0]
        # Part of the key of the cache below, so that a test which rewrites its file gets the new source.
        changed = path.stat().st_mtime_ns if path.is_file() else 0
        return load_object(written, self.base, _source(written, self.base, changed))


@lru_cache(maxsize=64)
def _source(written: str, base: Path, _changed: int) -> Source:
    """Read a source once: a suite reads it when it is loaded, so that factories touch no file."""
    return python_source(written, base)


def _look_up(kind: str, given: Mapping[str, T], name: str) -> T:
    try:
        return given[name]
    except KeyError:
        known = ", ".join(given) or "none"
        raise JrhError(f"the test gave no {kind} '{name}' (given: {known}); pass {kind}s={{'{name}': ...}}") from None


HOOKS: Final[Mapping[str, type[Spec]]] = {hook: kind for hook, (_, kind) in DECLARATIONS.items()}
"""The declaration hooks and what each yields."""


def declarations(plugin: object) -> tuple[Spec, ...]:
    """Return everything a plugin declares, in the order of its hooks.

    Args:
        plugin: the module, class or object that holds the hook implementations.

    Raises:
        JrhError: a hook yields something else than its kind of declaration.
    """
    return _declarations_of(plugin, Spec)


def _declarations_of(plugin: object, role: type[Spec]) -> tuple[Spec, ...]:
    """Ask the hooks that may declare a role; contracts do so in every test, and many rules take milliseconds."""
    specs: list[Spec] = []
    for hook, kind in HOOKS.items():
        if not (issubclass(kind, role) or issubclass(role, kind)):
            continue
        # A hook that declares nothing may return None, as pluggy allows.
        for spec in getattr(plugin, hook, tuple)() or ():
            if not isinstance(spec, kind):
                raise JrhError(f"{hook} yields {type(spec).__name__}; it has to yield {kind.__name__}")
            specs.append(spec)
    return tuple(specs)


def find_spec(plugin: object, component: str, role: type[Spec] | None = None) -> Any:
    """Return the declaration of a component.

    Args:
        plugin: the module, class or object that holds the hook implementations.
        component: the declared name.
        role: the kind of declaration, such as `PerturberSpec`; needed only where two components share a name, or for a
            section that is called like a component.

    Raises:
        JrhError: no declaration has the name, or several have.
    """
    specs = _declarations_of(plugin, role or Spec)
    matches = [spec for spec in specs if spec.name == component and isinstance(spec, role or Spec)]
    # A section is often called like the metric or the test it shows, and no suite names it.
    matches = [spec for spec in matches if not isinstance(spec, SectionSpec)] or matches
    if not matches:
        listed = ", ".join(f"{type(spec).__name__} '{spec.name}'" for spec in declarations(plugin)) or "nothing"
        raise JrhError(f"no {(role or Spec).__name__} '{component}' is declared; the plugin declares {listed}")
    if len(matches) > 1:
        kinds = ", ".join(type(spec).__name__ for spec in matches)
        raise JrhError(f"'{component}' is declared {len(matches)} times ({kinds}); say which with role=")
    return matches[0]


def build(
    plugin: object,
    component: str,
    *,
    options: Mapping[str, Json] | None = None,
    task: Task | None = None,
    base: Path | None = None,
    models: Mapping[str, ModelClient] | None = None,
    parsers: Mapping[str, Parser] | None = None,
    validators: Mapping[str, Validator] | None = None,
    data: Sequence[Item] = (),
    seed: int = 0,
    role: type[Spec] | None = None,
) -> Any:
    """Build a component from options, written as in a suite.

    Args:
        plugin: the module, class or object that holds the hook implementations.
        component: the declared name.
        options: what the suite sets; structured strictly, so unknown keys and wrong types are errors.
        task: the task it is built for; by default `sample_task()`.
        base: the directory that relative paths start from.
        models: what `context.model(name)` returns.
        parsers: what `context.parser(name)` returns.
        validators: what `context.validator(name)` returns.
        data: what `context.data()` returns.
        seed: the run's seed.
        role: the kind of declaration; needed only where two roles share a name.

    Returns:
        What the declared factory returns.

    Raises:
        JrhError: the component or one of its options does not exist, or a value does not fit.
        PluginError: the component lacks a method of its kind, or has one of the wrong shape.
    """
    spec = find_spec(plugin, component, role)
    where = base or Path()
    context = FakeContext(
        name=component,
        task=task or sample_task(),
        base=where,
        run_seed=seed,
        models=models or {},
        parsers=parsers or {},
        validators=validators or {},
        items=data,
    )
    # `structure` and `make` are what a run uses: strict types, defaults, and the check of the built object.
    return make(_entry(plugin, spec), structure(dict(options or {}), spec.options, base=where), context)


def factory_of(plugin: object, spec: Spec) -> Callable[..., Any]:
    """Return the factory that a plugin declares, importing it where it is declared by name.

    Raises:
        PluginError: the declared name does not exist, or cannot be called.
    """
    return find_factory(_entry(plugin, spec))


def _entry(plugin: object, spec: Spec) -> Entry[Any]:
    # A plugin is a module, or in tests of this package a class or an object with hooks.
    name = str(getattr(plugin, "__name__", type(plugin).__name__))
    return Entry(spec=spec, distribution=name, version="under test", plugin=name)
