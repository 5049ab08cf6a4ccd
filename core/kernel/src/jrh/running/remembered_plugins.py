"""The local plugins of `--plugins`: a run directory remembers them, and they are loaded again where nothing changed.

A run directory may come from somebody else, and a plugin is code. Each user's state directory therefore holds a mark
for every local plugin that this user has run, made of its place and content; only one with a mark is loaded unasked,
and it can import nothing but what the mark covers and what is installed.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from jrh.document.convert import from_text, to_text
from jrh.document.yaml_reader import read_document
from jrh.errors import JrhError
from jrh.hashing import content_id
from jrh.places import run_directory_of, state_directory
from jrh.plugins.component_identity import Source
from jrh.plugins.loading import Loaded, load_plugins, local_source
from jrh.running.outcome import Settings
from jrh.store.run_store import Store

_KEY: Final = "plugins"
"""Meta key of the local plugins that the run directory was made with."""
_MARKS: Final = "plugins"
"""Subdirectory of the user's state directory with the marks."""
_NAME: Final = "name="


@frozen(kw_only=True)
class _StoredPlugin:
    """A local plugin as a run directory remembers it."""

    written: str
    """A file, relative to the run directory, or `module:attr`."""
    digest: str
    """Digest of its content."""


def note_plugins(store: Store, loaded: Loaded) -> None:
    """Remember the local plugins of this process in the run directory, and that this user has run them."""
    if not loaded.local:
        return
    there = store.path.parent
    known = [
        _StoredPlugin(written=_name_from(there, local.written), digest=local.source.digest) for local in loaded.local
    ]
    store.set_meta(_KEY, to_text(known))
    with suppress(OSError):  # without a mark, the next command asks for --plugins
        marks = state_directory() / _MARKS
        # For this user alone: a mark allows the code of a plugin to be executed.
        marks.mkdir(parents=True, exist_ok=True, mode=0o700)
        for local in loaded.local:
            (marks / _mark(local.source)).touch()


def carry_plugins(run_dirs: Sequence[Path], target: Path, suite: str) -> None:
    """Remember in a merged run directory what its parts remember; whether this user has run it, the marks still say."""
    plugins: dict[str, _StoredPlugin] = {}
    for run_dir in run_dirs:
        with closing(Store.view(run_dir)) as store:
            for plugin in _read_plugins(store):
                moved = _name_from(target, plugin.written, run_dir)
                plugins.setdefault(moved, evolve(plugin, written=moved))
    if plugins:
        with closing(Store.open(target, suite)) as merged:
            merged.set_meta(_KEY, to_text(tuple(plugins.values())))


def _name_from(directory: Path, written: str, base: Path = Path()) -> str:
    """Return a plugin as it is named from a directory; the path of a file is relative to a base."""
    if not written.endswith(".py"):
        return written
    return Path(os.path.relpath(base.absolute() / written, directory.absolute())).as_posix()


def _mark(source: Source) -> str:
    """Return the name of a plugin's mark: where its first file is, and the content of all."""
    paths = [str(file.path.resolve()) for file in source.modules.values()]
    return content_id("local plugin", *paths[:1], source.digest)


def load_remembered(store: Store, plugins: Sequence[str]) -> Loaded:
    """Load what is named; where nothing is, everything installed and the local plugins of the run directory.

    Raises:
        JrhError: a named plugin is unknown or cannot be loaded. A remembered one is a problem of the result instead.
    """
    if plugins:
        return load_plugins(plugins)
    known = [_check_plugin(plugin, store.path.parent) for plugin in _read_plugins(store)]
    return load_plugins(
        # What was checked is what is executed: the files are not read again.
        remembered=[(written, source) for written, source in known if isinstance(source, Source)],
        refused={written: source for written, source in known if isinstance(source, str)},
    )


def load_for(run_dir: Path, plugins: Sequence[str]) -> Loaded:
    """Load the plugins for a command that goes on in a run directory, which may not exist; as `load_remembered`."""
    # What is named replaces what is remembered: `--plugins` is the whole list.
    if plugins or not Store.exists(run_dir):
        return load_plugins(plugins)
    try:
        store = Store.view(run_dir)
    except JrhError:  # the command says what is wrong with the directory
        return load_plugins()
    with closing(store):
        return load_remembered(store, ())


def load_for_suite(suite: str | Path | Mapping[str, Any], settings: Settings) -> Loaded:
    """Load the plugins for a suite, with those its run directory remembers; as `load_remembered`."""
    run_dir = settings.run_dir or _default_run_dir(suite, settings.overrides)
    return load_plugins(settings.plugins) if run_dir is None else load_for(run_dir, settings.plugins)


def _default_run_dir(suite: str | Path | Mapping[str, Any], overrides: Sequence[str]) -> Path | None:
    """Return where a suite is run by default; None where it has no name, or nothing was run here."""
    runs = Path("runs")
    if not runs.is_dir():
        return None
    try:
        value = suite if isinstance(suite, Mapping) else read_document(Path(suite)).value
    except JrhError:  # the command says so
        return None
    names = [override.removeprefix(_NAME) for override in overrides if override.startswith(_NAME)]
    name = names[-1] if names else value.get("name") if isinstance(value, Mapping) else None
    # A name with a NUL is no path; the suite is checked later.
    return runs / name if isinstance(name, str) and name and "\0" not in name else None


def _read_plugins(store: Store) -> tuple[_StoredPlugin, ...]:
    text = store.meta(_KEY)
    return from_text(tuple[_StoredPlugin, ...], text) if text else ()


def _check_plugin(known: _StoredPlugin, run_dir: Path) -> tuple[str, Source | str]:
    """Return a remembered plugin as `--plugins` would name it, and its source, or why it is not loaded."""
    written = _name_from(Path(), known.written, run_dir)
    again = f"pass --plugins {shlex.quote(written)} to load it"
    try:
        source = local_source(written)
    except JrhError:
        if place := run_directory_of(Path(written)):
            return written, f"it lies in the run directory '{place}', and a run directory is data; move it"
        source = None
    if source is None or not source.modules:
        return written, "it is no longer there; pass --plugins with its new path"
    # What this user agreed to is the content, not the name.
    if source.digest != known.digest:
        return written, f"it has changed since; {again} as it is now"
    if not (state_directory() / _MARKS / _mark(source)).is_file():
        return written, f"another user, machine or directory ran it, and a plugin can run any code; {again}"
    return written, evolve(source, closed=True)
