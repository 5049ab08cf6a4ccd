"""Find and call the factories of components: `package.module:Name`, imported when a component is built."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from jrh.errors import PluginError
from jrh.plugins.local_code import importable
from jrh.plugins.registry import Entry
from jrh.plugins.shapes import check_factory, check_shape

LOCAL: Final = "local"
"""The version of a plugin that is not installed."""


def find_factory(entry: Entry[Any]) -> Callable[..., Any]:
    """Return the factory of a component, importing the module it is in.

    Raises:
        PluginError: there is no such module, no such name in it, or jrh cannot call it.
        Exception: whatever importing the module raises.
    """
    declared = entry.spec.factory
    found = _named(entry, declared) if isinstance(declared, str) else declared
    check_factory(entry, found, _given(found))
    return found  # type: ignore[no-any-return]


def _named(entry: Entry[Any], declared: str) -> Any:
    module, _, path = declared.partition(":")
    found: Any = _imported(entry, module)
    for name in path.split("."):
        if not hasattr(found, name):
            close = get_close_matches(name, dir(found), n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise _wrong(entry, f"'{module}' has no '{path}'{hint}")
        found = getattr(found, name)
    if not callable(found):
        raise _wrong(entry, f"'{path}' in '{module}' is a {type(found).__name__} and cannot be called")
    return found


def make(entry: Entry[Any], options: object, context: object, protocol: type | None = None) -> Any:
    """Build a declared component, and check that jrh can call it.

    Args:
        entry: the declaration.
        options: the component's.
        context: what the factory gets besides, if it takes a second argument.
        protocol: what the component has to follow; by default what the declaration asks for.

    Raises:
        PluginError: there is no such factory, or what it returns lacks a method or has one of the wrong shape.
        Exception: whatever the factory raises.
    """
    made = call_factory(find_factory(entry), options, context)
    check_shape(entry, made, protocol)
    return made


def call_factory(factory: Callable[..., Any], options: object, context: object) -> Any:
    """Call a factory with as many arguments as it takes: options and context, only the options, or none."""
    given = (options, context)
    return factory(*given[: _given(factory)])


def missing_module(entry: Entry[Any]) -> str:
    """Return an error message if the module of a declared factory does not exist; otherwise an empty text.

    Looks for the module without importing it, so that `jrh plugins list` can afford it for every component.
    """
    declared = entry.spec.factory
    if not isinstance(declared, str):
        return ""
    module = declared.partition(":")[0]
    try:
        with working_directory_importable(entry.version == LOCAL):
            known = module in sys.modules or importlib.util.find_spec(module) is not None
    except Exception:  # a package on the way may be broken in any way
        known = False
    return "" if known else str(_wrong(entry, f"no module '{module}' exists"))


@contextmanager
def working_directory_importable(wanted: bool = True) -> Iterator[None]:
    """Put the working directory on the import path, for local plugins that are not installed."""
    if not wanted:
        yield
        return
    entry = str(Path.cwd())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)


def _imported(entry: Entry[Any], module: str) -> Any:
    try:
        local = entry.version == LOCAL
        with working_directory_importable(local), importable(entry.code() if local else ()):
            return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # Only the declared module itself is a wrong declaration. If a library that it imports is missing, the caller
        # reports which package to install.
        if error.name and f"{module}.".startswith(f"{error.name}."):
            raise _wrong(entry, f"no module '{error.name}' exists") from None
        raise


def _wrong(entry: Entry[Any], what: str) -> PluginError:
    return PluginError(
        f"'{entry.qualified}' ({entry.version}) cannot be built: its factory is declared as '{entry.spec.factory}', "
        f"and {what}"
    )


def _given(factory: Callable[..., Any]) -> int:
    """Return how many arguments jrh gives to a factory: as many as it takes, at most two."""
    if getattr(getattr(factory, "__init__", None), "__module__", "") == "typing":
        return 0  # the class has only the constructor of a protocol, which looks as if it took anything
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (ValueError, TypeError):  # callables written in C may have no signature
        return 2
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 2
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return min(2, sum(parameter.kind in kinds for parameter in parameters))
