"""Component identity: the source of code that is not an installed release, read once, its digest, and loading it.

An installed release is identified by its distribution and version. Everything else is identified by its content: local
files and modules with what they import from their directory, editable installs, programs. Any edit counts, also of
comments. What runs is loaded from the bytes its identity was computed from, so that it is what the run records.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import cache, cached_property
from importlib import metadata
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from attrs import field, frozen

from jrh.errors import JrhError
from jrh.hashing import content_id
from jrh.places import run_directory_of
from jrh.plugins import python_files
from jrh.plugins.python_files import ObjectIdentity, PythonFile, check_unedited, is_interactive
from jrh.values.option_values import Held, name_of

LARGE: Final = 64 * 1024 * 1024
"""Files of a program or a package above this size, such as weights, count by size and time of change."""
# Programs there belong to the machine: their updates must not make every judge of a suite another one.
_SYSTEM: Final = ("/bin", "/sbin", "/usr", "/lib", "/lib64", "/System", "/Library", "/nix/store")


class SourceKind(Enum):
    """What a source was read from."""

    PYTHON = "python"
    """`path/to/file.py`, `path/to/file.py:name` or `module:name`."""
    PROGRAM = "program"
    """The words of a command."""
    DISTRIBUTION = "distribution"
    """The packages of an editable install."""


@frozen(kw_only=True)
class Source:
    """The files that a piece of code consists of, as they were when they were read."""

    kind: SourceKind
    written: tuple[str, ...]
    """What it was read for: a file or module, the words of a command, or a distribution."""
    base: Path
    """The directory that relative paths refer to."""
    files: Mapping[str, str]
    """Name of the file -> digest of its content."""
    modules: Mapping[str, PythonFile] = field(factory=dict, repr=False, eq=False)
    """The local modules by name, with their content; the first one is the file itself, if a file was named."""
    held: Any = field(default=None, eq=False, repr=False)
    """The object itself where a suite in Python holds it; it is used as it is, and is not loaded."""
    closed: bool = field(default=False, eq=False)
    """Loaded unasked: besides its modules, only what is installed can be imported."""

    @cached_property
    def digest(self) -> str:
        """Return the digest of all files; empty without files."""
        return content_id(sorted(self.files.items())) if self.files else ""


def code_digest(sources: Iterable[Source]) -> str:
    """Return one digest of several sources; empty without any, as for installed releases."""
    digests = [source.digest for source in sources if source.digest]
    return content_id(*digests) if digests else ""


def read_source(kind: SourceKind, written: Sequence[str], base: Path) -> Source:
    """Read a source from the disk.

    Raises:
        JrhError: a file is missing or cannot be read; the message says which.
    """
    if kind is SourceKind.PROGRAM:
        return program_source(written, base)
    if kind is SourceKind.DISTRIBUTION:
        return _distribution(written[0], *written[1:])
    return python_source(written[0], base)


def python_source(written: str, base: Path) -> Source:
    """Read a local file or a module, and what it imports from its directory, `base` and the working directory.

    Args:
        written: `path/to/file.py`, `path/to/file.py:name`, or `module:name`.
        base: what a relative path is relative to.

    Raises:
        JrhError: the file is missing or cannot be read.
    """
    # A suite in Python: the object is there already, and no file names it.
    if isinstance(written, Held):
        return _object_source(written, base)
    place, separator, name = written.rpartition(":")
    # Without a colon all of it is the file or the module.
    place = place if separator else name
    # A notebook has no file: the object is identified by its code and what it uses.
    if is_interactive(place):
        thing = getattr(sys.modules[place], name.partition(".")[0], None)
        files = {} if thing is None else _memory_files(thing, name, base)
        return Source(kind=SourceKind.PYTHON, written=(written,), base=base, files=files)
    if place.endswith(".py"):
        # Not resolved: through a link, imports are looked up where the link is, as Python does for a directory on its
        # path.
        path = (base / place).absolute()
        if run_dir := run_directory_of(path):
            raise JrhError(
                f"'{base / place}' lies in the run directory '{run_dir}', and a run directory is data; move it"
            )
        if not path.is_file():
            raise JrhError(f"file '{base / place}' not found; paths are relative to the suite's directory")
        modules = python_files.files_of_file(path, _directories(path.parent, base))
    else:
        modules = _module(place, base)
    files = {file.shown: digest_of(file.content) for file in modules.values()} or _digest_compiled(place)
    return Source(kind=SourceKind.PYTHON, written=(written,), base=base, files=files, modules=modules)


def _object_source(held: Held, base: Path) -> Source:
    """Identify a Python object by its code and what it holds; a table by nothing, since its items are identified."""
    thing = held.thing
    files = _memory_files(thing, name_of(thing), base) if callable(thing) else {}
    return Source(kind=SourceKind.PYTHON, written=(held,), base=base, files=files, held=thing)


def _memory_files(thing: Any, name: str, base: Path) -> dict[str, str]:
    """Return the digests of an object in memory and of the local files whose code it uses."""
    identity = ObjectIdentity()
    files = {f"{name} in memory": identity.digest(thing)}
    for module in identity.modules:
        read = python_source(f"{module}:{name}", base)
        for file in read.modules.values():
            # What runs is what Python imported earlier, and what is recorded is the file as it is now.
            check_unedited(file, name)
        files |= read.files
    return files


def _directories(*directories: Path) -> tuple[Path, ...]:
    every = dict.fromkeys(directory.absolute() for directory in (*directories, Path.cwd()))
    return tuple(directory for directory in every if not run_directory_of(directory))


def _module(name: str, base: Path) -> dict[str, PythonFile]:
    """Read a module of `base`, the working directory or the import path; only installed ones are not followed."""
    # A program that was started by its file: as a module it has another name.
    if name == "__main__":
        path = Path(str(sys.modules["__main__"].__file__)).absolute()
        return python_files.files_of_file(path, _directories(path.parent, base))
    # In Python's order, so that the module that is identified is the one that is imported.
    for directory in (place for entry in sys.path if not run_directory_of(place := Path(entry).absolute())):
        if modules := python_files.files_of_module(name, (directory,), follow=not _is_installed(directory)):
            return modules
    return python_files.files_of_module(name, _directories(base))


def _is_installed(directory: Path) -> bool:
    return directory.name in ("site-packages", "dist-packages") or str(directory) == sysconfig.get_path("stdlib")


def _digest_compiled(name: str) -> dict[str, str]:
    """Identify a module of Python itself: one with a file by it, a built-in one by Python's version."""
    spec = _find_spec(name)
    if spec is None:
        return {}  # loading it reports that it does not exist
    if spec.origin and Path(spec.origin).is_file():
        return {Path(spec.origin).name: _file_digest(Path(spec.origin))}
    return {f"Python {sys.version.split()[0]}": name}


def program_source(command: Sequence[str], base: Path) -> Source:
    """Read the files that a command names: every word that is a file, and the module after `-m`.

    Files of the system and of the Python installation do not count, nor does a program found through `PATH`. A Python
    file counts with what it imports from its directory.

    Raises:
        JrhError: a file cannot be read.
    """
    files: dict[str, str] = {}
    for position, word in enumerate(command):
        path = base / word
        # The word is a module's name, and no path.
        if position and command[position - 1] == "-m":
            modules = python_files.files_of_module(word, _directories(base))
        elif not _is_own_file(path, word, first=position == 0):
            continue
        elif path.suffix == ".py":
            modules = python_files.files_of_file(path.absolute(), _directories(path.absolute().parent, base))
        else:
            files[word] = _file_digest(path)
            continue
        files.update({file.shown: digest_of(file.content) for file in modules.values()})
    return Source(kind=SourceKind.PROGRAM, written=tuple(command), base=base, files=files)


def _is_own_file(path: Path, word: str, *, first: bool) -> bool:
    if not word or (first and os.sep not in word):  # the first word without a directory is looked up in PATH
        return False
    try:
        known = path.is_file()
    except (OSError, ValueError):  # a word that cannot be a path
        return False
    # The link counts, not what it points to: an environment's `python` points into the system.
    directory = str(path.absolute().parent)
    ours = (*_SYSTEM, sysconfig.get_path("scripts"))
    return known and not any(f"{directory}/".startswith(f"{place}/") for place in ours)


def editable_source(distribution: metadata.Distribution, modules: Iterable[str]) -> tuple[Source, ...]:
    """Return the source of an editable install (PEP 610), read once per process; nothing for an installed release.

    Args:
        distribution: the installed distribution.
        modules: modules of it that are known from elsewhere, such as its entry points.
    """
    if not _is_editable(distribution):
        return ()
    # Not every build tool writes `top_level.txt`; entry points are known in any case.
    listed = (distribution.read_text("top_level.txt") or "").split()
    tops = sorted({*listed, *(module.partition(".")[0] for module in modules)})
    return (_pinned(distribution.name, *tops),)


def _is_editable(distribution: metadata.Distribution) -> bool:
    try:
        written = json.loads(distribution.read_text("direct_url.json") or "{}")
        # PEP 610: pip records there how a distribution was installed.
        return bool(written.get("dir_info", {}).get("editable", False))
    except (ValueError, AttributeError):
        return False


def _distribution(name: str, *packages: str) -> Source:
    """Read every file of a distribution's packages."""
    files = {shown: _file_digest(path) for package in packages for path, shown in _package_files(package)}
    return Source(kind=SourceKind.DISTRIBUTION, written=(name, *packages), base=Path(), files=files)


_pinned: Final[Callable[..., Source]] = cache(_distribution)
"""Modules stay loaded while the process lives, so their source is what was read first."""


def _find_spec(module: str) -> ModuleSpec | None:
    try:
        # The package only: to find a module in it, Python would execute the package.
        return importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return None


def _package_files(package: str) -> Iterator[tuple[Path, str]]:
    spec = _find_spec(package)
    if spec is None:
        return
    for place in spec.submodule_search_locations or ():
        for path in python_files.walk(Path(place)):
            yield path, f"{package}/{path.relative_to(place).as_posix()}"
    if spec.submodule_search_locations is None and spec.origin and Path(spec.origin).is_file():
        yield Path(spec.origin), Path(spec.origin).name


def _file_digest(path: Path) -> str:
    try:
        state = path.stat()
    except OSError as error:
        raise python_files.unreadable(error) from error
    # Reading weights of many gigabytes would take longer than many a run.
    if state.st_size > LARGE:
        return f"{state.st_size} bytes, changed {state.st_mtime_ns}"
    return digest_of(python_files.read_bytes(path))


def digest_of(content: bytes) -> str:
    """Return the digest of a file's content."""
    return hashlib.sha256(content).hexdigest()[:32]


class _Loader(SourceLoader):
    """Serve one module from memory. Byte code is never cached: the cache cannot see an edit within one second."""

    def __init__(self, file: PythonFile) -> None:
        self.file = file

    def get_filename(self, _fullname: str) -> str:
        return str(self.file.path)

    def get_data(self, _path: str | bytes) -> bytes:
        return self.file.content


class _Finder(MetaPathFinder):
    """Find the modules of local code before any other finder does."""

    def __init__(self, modules: Mapping[str, PythonFile]) -> None:
        self._modules = modules

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = self._modules.get(fullname)
        return None if file is None else _spec(fullname, file)


def _spec(name: str, file: PythonFile) -> ModuleSpec | None:
    places = [str(file.path.parent)] if file.is_package else None
    # Python itself loads what is compiled.
    loader = _Loader(file) if file.path.suffix == ".py" else None
    return importlib.util.spec_from_file_location(name, file.path, loader=loader, submodule_search_locations=places)


@contextmanager
def importable(sources: Iterable[Source], directory: Path | None = None) -> Iterator[None]:
    """Let the local modules of sources be imported as they were read.

    Args:
        sources: what is executed.
        directory: where other modules may be found, such as those under computed names, after all others: no file in it
            takes the place of a module of Python or of an installed one. A run directory is never such a place.

    A module that jrh loaded earlier from another content is loaded again. One that somebody else imported, as in a
    notebook, is left as it is.
    """
    sources = tuple(sources)
    modules = {name: file for source in sources for name, file in source.modules.items()}
    for name, file in modules.items():
        loader = getattr(sys.modules.get(name), "__loader__", None)
        # Only what this loader has loaded: a notebook's own import may have state that must not be lost.
        if isinstance(loader, _Loader) and (loader.file.path, loader.file.content) != (file.path, file.content):
            del sys.modules[name]
    finder = _Finder(modules)
    # First, or Python would find the file on the disk, which may have changed since it was read.
    sys.meta_path.insert(0, finder)
    is_open = directory and not any(source.closed for source in sources) and not run_directory_of(directory)
    place = str(directory) if is_open else None
    if place:
        sys.path.append(place)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if place:
            # The last one: the same directory may be on the path on its own account.
            del sys.path[len(sys.path) - 1 - sys.path[::-1].index(place)]


def load_file(source: Source) -> ModuleType:
    """Return the module of a source that is a file, executed once per process and content.

    Raises:
        Exception: whatever executing it raises.
    """
    file = next(iter(source.modules.values()))
    # The name holds the content: an edited file is loaded as another module.
    name = f"jrh_local_{file.path.stem}_{content_id(str(file.path), source.digest)[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = _spec(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"'{file.path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Register the module before it runs, as the import system does: dataclasses and attrs look it up.
    sys.modules[name] = module
    try:
        with importable([source], file.path.parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_module(source: Source, directory: Path | None = None) -> ModuleType:
    """Import the module that a source was read for; `directory` is that of `importable`.

    Raises:
        Exception: whatever importing it raises.
    """
    with importable([source], directory):
        return importlib.import_module(source.written[0].partition(":")[0])


def load_object(written: str, base: Path, source: Source | None = None) -> Any:
    """Return what `path/to/file.py:name` or `module:name` names.

    Args:
        written: file or module, and the name in it; dots reach into it.
        base: what a relative path is relative to.
        source: the source if it was read already; the object is then what it was at that time.

    Raises:
        JrhError: there is no such file.
        AttributeError: there is no such name in it.
        Exception: whatever loading it raises.
    """
    source = source or python_source(written, base)
    if source.held is not None:
        return source.held
    place, _, name = written.rpartition(":")
    thing: Any = load_file(source) if place.endswith(".py") else load_module(source)
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing
