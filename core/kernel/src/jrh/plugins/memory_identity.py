"""The identity of Python objects in memory: functions of a notebook, closures, bound methods, callable objects.

A function counts by its compiled code and by what it uses: global names of the notebook, captured variables, defaults.
An object counts by what pickle would write of it, which is only hashed. Containers and objects under a name that begins
with an underscore do not count: they are caches, logs and connections, which change while the judge stays the same.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

from attrs import define, field

from jrh.errors import JrhError
from jrh.plugins.python_files import PythonFile

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
    _seen: dict[int, tuple[int, Any]] = field(factory=dict)
    """Id of an object -> its number, and the object, whose id stays its own while it is kept."""

    def digest(self, thing: Any) -> str:
        """Return a digest that differs for different objects."""
        return hashlib.sha256(self._describe(thing).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _describe(self, thing: Any) -> str:
        if isinstance(thing, _PLAIN):
            return f"{type(thing).__name__} {thing!r}"
        if inspect.ismodule(thing):
            return f"module {self._place(thing.__name__)}"
        if id(thing) in self._seen:  # objects may hold themselves
            return f"again {self._seen[id(thing)][0]}"
        self._seen[id(thing)] = len(self._seen), thing
        if isinstance(thing, FunctionType):
            return self._function(thing)
        if isinstance(thing, type):
            own = {name: value for name, value in vars(thing).items() if name not in _WRITTEN_BY_PYTHON}
            is_own = is_interactive(thing.__module__)
            return f"class {thing.__qualname__} {self._all(thing.__bases__, own)}" if is_own else self._elsewhere(thing)
        return f"{self._describe(type(thing))} {self._content(thing)}"

    def _all(self, *things: Any) -> list[str]:
        return [self._describe(thing) for thing in things]

    def _content(self, thing: Any) -> Any:
        """Describe an instance by its parts, or as pickle would write it."""
        if isinstance(thing, dict):
            return [self._all(*pair) for pair in thing.items()]
        if isinstance(thing, _SEQUENCES):
            parts = self._all(*thing)
            return sorted(parts) if isinstance(thing, set | frozenset) else parts
        if isinstance(thing, property):
            return self._all(thing.fget, thing.fset, thing.fdel)
        if hasattr(thing, "__wrapped__"):  # such as a function with a cache
            return self._describe(thing.__wrapped__)
        cls: Any = type(thing)
        try:
            how, arguments, *states = thing.__reduce_ex__(4)
        except (TypeError, ValueError):  # a lock or the like, or a name
            return getattr(thing, "__qualname__", "")
        if (cls.__reduce__, cls.__getstate__) == _ATTRIBUTES_AS_STATE:
            states = [_counted(state) for state in states]
        return self._all(how, arguments, *(list(part) if isinstance(part, Iterator) else part for part in states))

    def _function(self, thing: FunctionType) -> str:
        code = thing.__code__
        cells = {name: _held_in(cell) for name, cell in zip(code.co_freevars, thing.__closure__ or (), strict=True)}
        names: Iterable[str] = ()
        if is_interactive(thing.__module__):
            names = dict.fromkeys(name for part in _with_inner(code) for name in part.co_names)
        place = thing.__qualname__ if is_interactive(thing.__module__) else self._elsewhere(thing)
        used = {**cells, **{name: thing.__globals__[name] for name in names if name in thing.__globals__}}
        return f"{place} {_of_code(code)} {self._all(_counted(used), thing.__defaults__, thing.__kwdefaults__)}"

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
    now = set(_with_inner(compile(file.content, str(file.path), "exec", dont_inherit=True)))
    for module in list(sys.modules.values()):
        loader = getattr(module, "__loader__", None)
        if type(loader) is not SourceFileLoader or getattr(module, "__file__", None) != str(file.path):
            continue
        classes = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == module.__name__]
        things = [thing for owner in (module, *classes) for thing in getattr(owner, "__dict__", {}).values()]
        codes = [thing.__code__ for thing in things if isinstance(thing, FunctionType)]
        if any(code.co_filename == module.__file__ and code not in now for code in codes):
            raise JrhError(
                f"'{file.shown}' was edited after Python imported it, so jrh cannot tell which code of '{name}' "
                "runs; restart Python, or reload the module"
            )


def _counted(values: Any) -> Any:
    """Leave out of named values what is no part of what uses them: private containers and objects, such as a cache."""
    if isinstance(values, tuple):  # the state of a class with slots
        return tuple(map(_counted, values))
    if not isinstance(values, dict):
        return values
    return {
        name: value
        for name, value in values.items()
        if not name.startswith("_")
        or (not name.startswith("__") and (isinstance(value, (*_PLAIN, type)) or hasattr(value, "__code__")))
    }


def _held_in(cell: Any) -> Any:
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
