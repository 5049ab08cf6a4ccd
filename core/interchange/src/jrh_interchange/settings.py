"""Files of settings that are no suites, for commands of plugins: read strictly, every mistake with its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from jrh import JrhError, Json, SuiteError, Task
from jrh.document.convert import collect, structure
from jrh.document.yaml_reader import document_of, read_document
from jrh.plugins.registry import Entry
from jrh.suite import WrittenTask

T = TypeVar("T")


def read_settings(source: Path | Mapping[str, Json], cls: type[T]) -> T:
    """Read a YAML or JSON file as a typed value, by the rules of suites.

    Args:
        source: the file; relative paths in it start at its directory. Or the same as a mapping, with paths relative to
            the current directory.
        cls: a frozen attrs class; its fields may have every type an option may have.

    Raises:
        SuiteError: with every mistake of the file, each with its line and column.
    """
    if isinstance(source, Mapping):
        document, base = document_of(source, "settings"), Path()
    else:
        document, base = read_document(source), source.parent
    settings, problems = collect(document.value, cls, base=base, document=document)
    if problems:
        raise SuiteError(problems)
    return cast(T, settings)


def read_values(path: Path) -> Json:
    """Read a YAML or JSON file as plain values, by the rules of suites: no tag, no key twice, no anchor that expands.

    Raises:
        JrhError: it cannot be read, with line and column.
    """
    return read_document(path).value


def component_options(entry: Entry[Any], options: Mapping[str, Json], flag: str) -> Any:
    """Return the options of an importer or exporter as its class.

    Raises:
        JrhError: an option is unknown or wrong; the message begins with the flag that names the component.
    """
    try:
        return structure(dict(options), entry.spec.options)
    except JrhError as error:
        raise JrhError(f"{flag} {entry.spec.name}: {error}") from error


def read_pairs(pairs: Sequence[str]) -> dict[str, Json]:
    """Read `KEY=VALUE`, as options of a command are written; the value is YAML, as in a suite.

    Raises:
        JrhError: a pair has no key, or its value is no YAML; the text does not show the value, which may be a secret.
    """
    import yaml

    options: dict[str, Json] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise JrhError("--option: write KEY=VALUE")
        try:
            options[key.strip()] = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise JrhError(f"--option {key}: the value is not YAML") from error
    return options


def task_of(written: WrittenTask, name: str) -> Task:
    """Return the task that a section `task` describes.

    Raises:
        JrhError: the mode does not fit the scale.
    """
    try:
        return written.task(name)
    except JrhError as error:
        raise JrhError(f"task '{name}': {error}") from None
