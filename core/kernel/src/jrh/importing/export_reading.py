"""Read the export of another tool by the importer that a plugin provides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jrh.document.convert import structure
from jrh.errors import RAISED, JrhError, OtherToolError, PluginError
from jrh.plugins.factories import call_factory, find_factory
from jrh.plugins.loading import load_plugins
from jrh.text.redact import error_line
from jrh.values.imported_log import ImportedLog
from jrh.values.json_values import Json


def read_export(path: Path, importer: str, options: Mapping[str, Json], plugins: Sequence[str] = ()) -> ImportedLog:
    """Read an export of another tool.

    Args:
        path: the file or folder.
        importer: name of the importer, such as `promptfoo`.
        options: its options, as they are written; unknown ones are errors.
        plugins: as `--plugins`; importers are looked up among all installed plugins, and the local ones named here.

    Raises:
        JrhError: there is no such importer or option, or the file is not what the tool writes.
        PluginError: the importer raised or returned something else.
    """
    loaded = load_plugins([name for name in plugins if name.endswith(".py") or ":" in name])
    entry = loaded.plugins.importers.find(importer)
    try:
        given: object = structure(dict(options), entry.spec.options)
    except JrhError as error:
        raise JrhError(f"--from {importer}: {error}") from error
    try:
        found = call_factory(find_factory(entry), given, None).read(path)
    except JrhError:
        raise
    except RAISED as error:
        raise PluginError(f"importer '{entry.qualified}' failed on '{path}': {error_line(error)}") from error
    if not isinstance(found, ImportedLog):
        raise PluginError(f"importer '{entry.qualified}' returns {type(found).__name__}, not ImportedLog")
    return found


def tools_of(path: Path, options: Mapping[str, Json], plugins: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the importers that take a file or folder for their tool's, by reading it.

    An importer that reads the file takes it for its tool's. Where none does, those do that fail for another reason than
    `OtherToolError`, such as a metric that has to be named.

    Args:
        path: the file or folder.
        options: options of the import; an importer that does not have them is left out.
        plugins: as for `read_export`.
    """
    found: dict[str, bool] = {}
    names = _importers(plugins)
    for name in names:
        try:
            found[name] = bool(read_export(path, name, options, plugins).records)
        except (OtherToolError, PluginError):
            continue
        except JrhError:
            found[name] = False
    read = tuple(name for name, was_read in found.items() if was_read)
    # A file that most take, such as an empty list, is of none.
    return read or (tuple(found) if 2 * len(found) <= len(names) else ())


def _importers(plugins: Sequence[str]) -> list[str]:
    loaded = load_plugins([name for name in plugins if name.endswith(".py") or ":" in name])
    return [entry.spec.name for entry in loaded.plugins.importers]
