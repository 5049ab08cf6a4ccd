"""What local code consists of: Python files with what they import from their directory, and Python objects in memory.

The imports of a file are read from the source, nothing is executed: what is found is the same before and after the code
is loaded. Modules of the standard library and installed ones are not followed. A module that is imported under a
computed name is not seen.

A function in memory counts by its compiled code and by what it uses: global names of the notebook, captured variables,
defaults. An object counts by what pickle would write of it, which is only hashed. Containers and objects under a name
that begins with an underscore do not count: they are caches, logs and connections, which change while the judge stays
the same.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES, SOURCE_SUFFIXES, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

from attrs import define, field, frozen

from jrh.errors import JrhError

MOST_FILES: Final = 5_000
"""Python files of one package at most; beyond that it is no package but a directory somebody forgot."""
MOST_BYTES: Final = 16 * 1024 * 1024
"""Longest Python file."""
_INITIAL: Final = "__init__"
_SUFFIXES: Final = (*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES, *BYTECODE_SUFFIXES)
"""How the file of a module may end, in the order in which Python looks for them."""
_FACTORY: Final = re.compile(r"[^\W\d]\w*(\.\w+)*:\w+(\.\w+)*")
_ENVIRONMENTS: Final = ("site-packages", "dist-packages", "node_modules")


@frozen(kw_only=True)
class PythonFile:
    """One file of Python code, source or compiled, read once."""

    name: str
    """The module's name."""
    path: Path
    shown: str
    """The path in its directory, as messages and identities name it."""
    content: bytes = field(repr=False)

    @property
    def is_package(self) -> bool:
        """Tell whether it is the `__init__.py` of a package, or that file compiled."""
        return self.path.name.partition(".")[0] == _INITIAL


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
        raise unreadable(error) from error


def unreadable(error: OSError) -> JrhError:
    """Return the error for a file of local code that cannot be read."""
    why = error.strerror or error
    return JrhError(f"cannot read '{error.filename}' ({why}); jrh identifies local code by its content")


def files_of_file(path: Path, directories: Sequence[Path]) -> dict[str, PythonFile]:
    """Return a file and what it imports from the directories, by module name; the file itself comes first."""
    search = _Search(directories)
    search.add_file(path, path.stem, path.parent)
    return search.follow_imports()


def files_of_module(name: str, directories: Sequence[Path], *, follow: bool = True) -> dict[str, PythonFile]:
    """Return a module or its whole package, and what it imports from the directories; empty where it is not there.

    Args:
        name: the module, with dots.
        directories: where to look, in this order.
        follow: read imports; False for installed packages, which would lead to everything that is installed.
    """
    search = _Search(directories, follow=follow)
    search.add_module(name)
    return search.follow_imports()


def walk(directory: Path) -> Iterator[Path]:
    """Yield the files below a directory in order, without caches, hidden ones and environments; links are followed.

    Raises:
        JrhError: a directory cannot be listed, or there are too many files.
    """
    visited: set[str] = set()
    count = 0
    for place, directories, names in os.walk(directory, followlinks=True, onerror=_refuse_unlisted):
        real = os.path.realpath(place)
        if real in visited:  # a link to a directory above
            directories.clear()
            continue
        visited.add(real)
        # In place: `os.walk` goes on with what is left in the list. Sorted, since the order of a directory is not
        # fixed.
        directories[:] = sorted(name for name in directories if _belongs(Path(place, name)))
        for name in sorted(names):
            if name.startswith(".") or not Path(place, name).is_file():
                continue
            count += 1
            if count > MOST_FILES:
                raise JrhError(
                    f"'{directory}' has more than {MOST_FILES:,} files; jrh identifies local code by the content of "
                    "its package. Move the code to a smaller package, or install it as a release"
                )
            yield Path(place, name)


def _refuse_unlisted(error: OSError) -> None:
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
    files: dict[str, PythonFile] = field(factory=dict, init=False)
    _unread: list[PythonFile] = field(factory=list, init=False)
    _tried: set[str] = field(factory=set, init=False)

    def follow_imports(self) -> dict[str, PythonFile]:
        """Follow the imports of everything found until nothing new is found."""
        while self._unread:
            file = self._unread.pop()
            if self.follow:
                for name in _imports(file):
                    self.add_module(name)
        return self.files

    def add_module(self, name: str) -> None:
        """Add a module of one of the directories, or its whole package."""
        top = name.partition(".")[0]
        # Code of jrh and of Python is no local code.
        if name in self._tried or top in sys.stdlib_module_names or top == "jrh":
            return
        self._tried.add(name)
        for directory in self.directories:
            if self._add_from(directory, name):
                return

    def add_file(self, path: Path, name: str, directory: Path) -> None:
        """Add one file."""
        if name not in self.files:
            content = read_bytes(path, MOST_BYTES if path.suffix == ".py" else None)
            shown = Path(os.path.relpath(path, directory)).as_posix()
            self.files[name] = PythonFile(name=name, path=path, shown=shown, content=content)
            self._unread.append(self.files[name])

    def _add_from(self, directory: Path, name: str) -> bool:
        """Go down the parts of a name to the first regular package or module; parts without a file are namespaces."""
        place, known = directory, ""
        for part in name.split("."):
            known = f"{known}.{part}" if known else part
            # A regular package counts whole: its modules may import each other in ways that are not seen.
            if _file_of_module(place / part / _INITIAL):
                self._add_package(place / part, known, directory)
                return True
            if file := _file_of_module(place / part):
                self.add_file(file, known, directory)
                return True
            place = place / part
        return False

    def _add_package(self, package: Path, name: str, directory: Path) -> None:
        if name in self.files:
            return
        for path in walk(package):
            if path.name.endswith(_SUFFIXES):
                inner = (*path.relative_to(package).parent.parts, path.name.partition(".")[0])
                parts = inner[:-1] if inner[-1] == _INITIAL else inner
                # Of two files of one module, this adds the one that Python would import: extensions sort first.
                self.add_file(path, ".".join((name, *parts)), directory)


def _file_of_module(stem: Path) -> Path | None:
    """Return the file of a module or of a package's start that Python would import; None without any."""
    files = (stem.with_name(stem.name + suffix) for suffix in _SUFFIXES)
    return next((file for file in files if file.is_file()), None)


def _imports(file: PythonFile) -> Iterator[str]:
    """Yield the modules that a file imports, or declares as a factory, anywhere in it.

    None where it is not Python, which loading it reports.
    """
    try:
        # Parsed and not imported: importing runs code, and would show only the imports that were reached.
        tree = ast.parse(file.content)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        # A declaration names its factory as `package.module:Name`. Other text of that form is not found, and does no
        # harm.
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _FACTORY.fullmatch(node.value):
            yield node.value.partition(":")[0]
        elif isinstance(node, ast.ImportFrom):
            parts = file.name.split(".")
            # `__init__.py` is its own package: its first dot means itself.
            above = parts[: len(parts) - node.level + file.is_package] if node.level else []
            base = [*above, *([node.module] if node.module else [])]
            # `from a import b` may name a module `b` or a variable: what is no module is not found, and does no harm.
            yield from (".".join([*base, alias.name]) for alias in node.names)


_MAIN: Final = "__main__"
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type(...))
_SEQUENCES: Final = (list, tuple, set, frozenset)
_ATTRIBUTES_AS_STATE: Final[tuple[Any, Any]] = (object.__reduce__, object.__getstate__)
_INSTALLED: Final = ("site-packages", "dist-packages")
_WRITTEN_BY_PYTHON: Final = frozenset(
    ("__module__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__", "__annotate_func__")
)


def is_interactive(module: str | None) -> bool:
    """Tell whether a module is a notebook or an interactive session: one without a file."""
    return module == _MAIN and not getattr(sys.modules[_MAIN], "__file__", None)


@define
class ObjectIdentity:
    """What an object consists of, gathered by following what it uses."""

    modules: dict[str, None] = field(factory=dict)
    """The modules with a file whose functions and classes it uses: their files count, too."""
    _described: dict[int, tuple[int, Any]] = field(factory=dict)
    """Id of an object -> its number, and the object, whose id stays its own while it is kept."""

    def digest(self, thing: Any) -> str:
        """Return a digest that differs for different objects."""
        return hashlib.sha256(self._describe(thing).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _describe(self, thing: Any) -> str:
        if isinstance(thing, _PLAIN):
            return f"{type(thing).__name__} {thing!r}"
        if inspect.ismodule(thing):
            return f"module {self._place(thing.__name__)}"
        if id(thing) in self._described:  # objects may hold themselves
            return f"again {self._described[id(thing)][0]}"
        # Kept while the digest is made: the id of an object that is gone may be given to another.
        self._described[id(thing)] = len(self._described), thing
        if isinstance(thing, FunctionType):
            return self._function(thing)
        if isinstance(thing, type):
            body = {name: value for name, value in vars(thing).items() if name not in _WRITTEN_BY_PYTHON}
            is_own = is_interactive(thing.__module__)
            return (
                f"class {thing.__qualname__} {self._all(thing.__bases__, body)}" if is_own else self._elsewhere(thing)
            )
        return f"{self._describe(type(thing))} {self._content(thing)}"

    def _all(self, *things: Any) -> list[str]:
        return [self._describe(thing) for thing in things]

    def _content(self, thing: Any) -> Any:
        """Describe an instance by its parts, or as pickle would write it."""
        if isinstance(thing, dict):
            return [self._all(*pair) for pair in thing.items()]
        if isinstance(thing, _SEQUENCES):
            parts = self._all(*thing)
            # The order of a set differs between processes.
            return sorted(parts) if isinstance(thing, set | frozenset) else parts
        if isinstance(thing, property):
            return self._all(thing.fget, thing.fset, thing.fdel)
        if hasattr(thing, "__wrapped__"):  # such as a function with a cache
            return self._describe(thing.__wrapped__)
        cls: Any = type(thing)
        try:
            # What pickle would call to make the object again, and the state it would set.
            how, arguments, *states = thing.__reduce_ex__(4)
        except (TypeError, ValueError):  # a lock or the like, or a name
            return getattr(thing, "__qualname__", "")
        if (cls.__reduce__, cls.__getstate__) == _ATTRIBUTES_AS_STATE:
            states = [_drop_private(state) for state in states]
        return self._all(how, arguments, *(list(part) if isinstance(part, Iterator) else part for part in states))

    def _function(self, thing: FunctionType) -> str:
        code = thing.__code__
        cells = {name: _cell_value(cell) for name, cell in zip(code.co_freevars, thing.__closure__ or (), strict=True)}
        names: Iterable[str] = ()
        if is_interactive(thing.__module__):
            # In a notebook every global name may be edited. In a file they belong to the file, which counts whole.
            names = dict.fromkeys(name for part in _with_inner(code) for name in part.co_names)
        place = thing.__qualname__ if is_interactive(thing.__module__) else self._elsewhere(thing)
        used = {**cells, **{name: thing.__globals__[name] for name in names if name in thing.__globals__}}
        return f"{place} {_of_code(code)} {self._all(_drop_private(used), thing.__defaults__, thing.__kwdefaults__)}"

    def _elsewhere(self, thing: Any) -> str:
        """Name a function or a class of another module."""
        return f"{self._place(thing.__module__ or '')}.{thing.__qualname__}"

    def _place(self, module: str) -> str:
        """Note a module with a file, unless it is installed, and return its name."""
        file = getattr(sys.modules.get(module), "__file__", None)
        standard = Path(inspect.__file__).parent
        if file and not Path(file).is_relative_to(standard) and not any(part in file for part in _INSTALLED):
            self.modules[module] = None
        return module


def check_unedited(file: PythonFile, name: str) -> None:
    """Refuse an object whose file was edited after it was imported: what runs would not be what is recorded.

    Only functions are compared, and only in modules that Python's own loader has loaded.

    Raises:
        JrhError: a loaded function is not in the file as it is now.
    """
    if file.path.suffix != ".py":
        return
    # Code objects compare by content, so that an edit of a comment alone changes nothing here.
    current = set(_with_inner(compile(file.content, str(file.path), "exec", dont_inherit=True)))
    for module in list(sys.modules.values()):
        loader = getattr(module, "__loader__", None)
        # Other loaders, such as jrh's own or that of a test runner, may have compiled something else.
        if type(loader) is not SourceFileLoader or getattr(module, "__file__", None) != str(file.path):
            continue
        classes = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == module.__name__]
        things = [thing for owner in (module, *classes) for thing in getattr(owner, "__dict__", {}).values()]
        codes = [thing.__code__ for thing in things if isinstance(thing, FunctionType)]
        if any(code.co_filename == module.__file__ and code not in current for code in codes):
            raise JrhError(
                f"'{file.shown}' was edited after Python imported it, so jrh cannot tell which code of '{name}' "
                "runs; restart Python, or reload the module"
            )


def _drop_private(values: Any) -> Any:
    """Leave out of named values what is no part of what uses them: private containers and objects, such as a cache."""
    if isinstance(values, tuple):  # the state of a class with slots
        return tuple(map(_drop_private, values))
    if not isinstance(values, dict):
        return values
    return {
        name: value
        for name, value in values.items()
        if not name.startswith("_")
        or (not name.startswith("__") and (isinstance(value, (*_PLAIN, type)) or hasattr(value, "__code__")))
    }


def _cell_value(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that is assigned later
        return None


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _with_inner(part)


def _of_code(code: CodeType) -> str:
    """Describe compiled code by what runs."""
    names = code.co_names, code.co_varnames, code.co_freevars
    return f"{code.co_code.hex()} {names} {[_constant(part) for part in code.co_consts]}"


def _constant(part: Any) -> str:
    if isinstance(part, CodeType):
        return _of_code(part)
    # The order of a set differs between processes.
    return repr(sorted(map(repr, part))) if isinstance(part, frozenset) else repr(part)
