"""Find the Python files that local code consists of: a file or module, and what it imports from beside it.

The imports are read from the source, nothing is executed: what is found is the same before and after the code is
loaded. Modules of the standard library and installed ones are not followed. A module that is imported under a computed
name is not seen.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

from jrh.errors import JrhError

MOST_FILES: Final = 5_000
"""Python files of one package at most; beyond that it is no package but a directory somebody forgot."""
MOST_BYTES: Final = 16 * 1024 * 1024
"""Longest Python file."""
_INITIAL: Final = "__init__.py"
_ENVIRONMENTS: Final = ("site-packages", "dist-packages", "node_modules")


@frozen(kw_only=True)
class PythonFile:
    """One Python file, read once."""

    name: str
    """The module's name."""
    path: Path
    shown: str
    """The path in its directory, as messages and identities name it."""
    content: bytes = field(repr=False)

    @property
    def is_package(self) -> bool:
        """Tell whether it is the `__init__.py` of a package."""
        return self.path.name == _INITIAL


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Read a file whose content identifies code.

    Raises:
        JrhError: it cannot be read, or is longer than `most` bytes.
    """
    try:
        size = path.stat().st_size
        if most is not None and size > most:
            raise JrhError(f"'{path}' is too large for source code ({size:,} bytes, at most {most:,})")
        return path.read_bytes()
    except OSError as error:
        raise JrhError(
            f"cannot read '{path}' ({error.strerror or error}); jrh identifies local code by its content"
        ) from error


def files_of_file(path: Path, directories: Sequence[Path]) -> dict[str, PythonFile]:
    """Return a file and what it imports from the directories, by module name; the file itself comes first."""
    search = _Search(directories)
    search.add_file(path, path.stem, path.parent)
    return search.finished()


def files_of_module(name: str, directories: Sequence[Path], *, follow: bool = True) -> dict[str, PythonFile]:
    """Return a module or its whole package, and what it imports from the directories; empty where it is not there.

    Args:
        name: the module, with dots.
        directories: where to look, in this order.
        follow: read imports; False for installed packages, which would lead to everything that is installed.
    """
    search = _Search(directories, follow=follow)
    search.add_module(name)
    return search.finished()


def walk(directory: Path) -> Iterator[Path]:
    """Yield the files below a directory in order, without caches, hidden ones and environments; links are followed.

    Raises:
        JrhError: a directory cannot be listed, or there are too many files.
    """
    seen: set[str] = set()
    count = 0
    for place, directories, names in os.walk(directory, followlinks=True, onerror=_unlisted):
        real = os.path.realpath(place)
        if real in seen:  # a link to a directory above
            directories.clear()
            continue
        seen.add(real)
        directories[:] = sorted(each for each in directories if _belongs(Path(place, each)))
        for name in sorted(names):
            if name.startswith(".") or name.endswith((".pyc", ".pyo")) or not Path(place, name).is_file():
                continue
            count += 1
            if count > MOST_FILES:
                raise JrhError(
                    f"'{directory}' has more than {MOST_FILES:,} files; jrh identifies local code by the content of "
                    "its package. Move the code to a smaller package, or install it as a release"
                )
            yield Path(place, name)


def _unlisted(error: OSError) -> None:
    raise JrhError(
        f"cannot list '{error.filename}' ({error.strerror}); jrh identifies local code by its content"
    ) from error


def _belongs(directory: Path) -> bool:
    name = directory.name
    return not (
        name.startswith(".") or name == "__pycache__" or name in _ENVIRONMENTS or (directory / "pyvenv.cfg").exists()
    )


@define
class _Search:
    """A search through imports, file by file."""

    directories: Sequence[Path]
    follow: bool = field(default=True, kw_only=True)
    found: dict[str, PythonFile] = field(factory=dict, init=False)
    _unread: list[PythonFile] = field(factory=list, init=False)
    _asked: set[str] = field(factory=set, init=False)

    def finished(self) -> dict[str, PythonFile]:
        """Follow the imports of everything found until nothing new is found."""
        while self._unread:
            file = self._unread.pop()
            if self.follow:
                for name in _imports(file):
                    self.add_module(name)
        return self.found

    def add_module(self, name: str) -> None:
        """Add a module of one of the directories, or its whole package."""
        top = name.partition(".")[0]
        if name in self._asked or top in sys.stdlib_module_names or top == "jrh":
            return
        self._asked.add(name)
        for directory in self.directories:
            if self._added_from(directory, name):
                return

    def add_file(self, path: Path, name: str, directory: Path) -> None:
        """Add one file."""
        if name not in self.found:
            content = read_bytes(path, MOST_BYTES)
            shown = Path(os.path.relpath(path, directory)).as_posix()
            self.found[name] = PythonFile(name=name, path=path, shown=shown, content=content)
            self._unread.append(self.found[name])

    def _added_from(self, directory: Path, name: str) -> bool:
        """Go down the parts of a name to the first regular package or module; parts without a file are namespaces."""
        place, known = directory, ""
        for part in name.split("."):
            known = f"{known}.{part}" if known else part
            if (place / part / _INITIAL).is_file():
                self._add_package(place / part, known, directory)
                return True
            if (place / f"{part}.py").is_file():
                self.add_file(place / f"{part}.py", known, directory)
                return True
            place = place / part
        return False

    def _add_package(self, package: Path, name: str, directory: Path) -> None:
        if name in self.found:
            return
        for path in walk(package):
            if path.suffix == ".py":
                inner = path.relative_to(package).with_suffix("").parts
                parts = inner[:-1] if inner[-1] == "__init__" else inner
                self.add_file(path, ".".join((name, *parts)), directory)


def _imports(file: PythonFile) -> Iterator[str]:
    """Yield the modules that a file imports anywhere in it; none where it is not Python, which loading it reports."""
    try:
        tree = ast.parse(file.content)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = file.name.split(".")
            above = parts[: len(parts) - node.level + file.is_package] if node.level else []
            base = [*above, *([node.module] if node.module else [])]
            yield from (".".join([*base, alias.name]) for alias in node.names)
