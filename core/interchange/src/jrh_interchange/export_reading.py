"""Read the export of another tool by the importer that a plugin provides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jrh.document.convert import structure
from jrh.errors import RAISED, JrhError, OtherToolError, PluginError
from jrh.plugins.factories import make
from jrh.plugins.loading import load_plugins
from jrh.plugins.registry import Entry, Registry
from jrh.plugins.specs import ImporterSpec
from jrh.text.redact import error_line
from jrh.values.imported_log import ImportedLog
from jrh.values.json_values import Json

from jrh_interchange.export_heads import head_of


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
    return _read(path, _importers(plugins).find(importer), options)


def _read(path: Path, entry: Entry[ImporterSpec], options: Mapping[str, Json]) -> ImportedLog:
    try:
        given: object = structure(dict(options), entry.spec.options)
    except JrhError as error:
        raise JrhError(f"--from {entry.spec.name}: {error}") from error
    try:
        found = make(entry, given, None).read(path)
    except JrhError:
        raise
    except RAISED as error:
        raise PluginError(f"importer '{entry.qualified}' failed on '{path}': {error_line(error)}") from error
    if not isinstance(found, ImportedLog):
        raise PluginError(f"importer '{entry.qualified}' returns {type(found).__name__}, not ImportedLog")
    return found


def tools_of(path: Path, options: Mapping[str, Json], plugins: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the importers that recognise a file or folder as an export of their tool, by reading it.

    Of a large file the first entries decide; one JSON document is read whole where no importer takes them. An importer
    that reads the file takes it for its tool's. Where none does, those do that fail for another reason than
    `OtherToolError`, such as a metric that has to be named.

    Args:
        path: the file or folder.
        options: options of the import; an importer that does not have them is left out.
        plugins: as for `read_export`.
    """
    importers = _importers(plugins)
    with head_of(path) as (head, lacks):
        found = _takers(head, importers, options)
    return _takers(path, importers, options) if lacks and not found else found


def _takers(path: Path, importers: Registry[ImporterSpec], options: Mapping[str, Json]) -> tuple[str, ...]:
    found: dict[str, bool] = {}
    for entry in importers:
        try:
            found[entry.spec.name] = bool(_read(path, entry, options).records)
        except (OtherToolError, PluginError):
            continue
        except JrhError:
            found[entry.spec.name] = False
    read = tuple(name for name, was_read in found.items() if was_read)
    # A file that most take, such as an empty list, is of none.
    return read or (tuple(found) if 2 * len(found) <= len(importers) else ())


def _importers(plugins: Sequence[str]) -> Registry[ImporterSpec]:
    return load_plugins([name for name in plugins if name.endswith(".py") or ":" in name]).plugins.importers
