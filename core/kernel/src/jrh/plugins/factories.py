"""Find, check and call the factories of components: `package.module:Name`, imported when a component is built.

A component, or the class that makes it, is compared with the protocol of its declaration before anything is paid.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, Final, Protocol

from jrh.errors import PluginError
from jrh.plugins import protocols, specs
from jrh.plugins.component_identity import importable
from jrh.plugins.protocols import DeferredModel
from jrh.plugins.registry import Entry
from jrh.text.redact import place_in_code


class WrongShapeError(PluginError):
    """Report a component that lacks a method of its kind, or has one that jrh cannot call.

    The message names the method, its file and line, and how to write it. Nothing was spent.
    """


class _Closes(Protocol):
    async def aclose(self) -> None: ...


_JUDGES: Final[dict[specs.JudgeKind, type]] = {
    specs.JudgeKind.SINGLE: protocols.Judge,
    specs.JudgeKind.BATCH: protocols.BatchJudge,
    specs.JudgeKind.TRAINED: protocols.TrainedJudge,
    specs.JudgeKind.SIMULATED: protocols.SimulatedJudge,
}
_OPTIONAL: Final[dict[type[specs.Spec], tuple[type, ...]]] = {
    specs.DataSourceSpec: (protocols.RemarksOnItems,),
    specs.PerturberSpec: (protocols.RemarksOnItems, protocols.CountsCalls),
    specs.JudgeSpec: (_Closes,),
}
"""What a component may define besides: it is checked only where it is there."""


def protocol_of(spec: specs.Spec) -> tuple[type, str]:
    """Return the protocol that a declared component has to follow, and the declaration that asks for it."""
    kind = type(spec).__name__
    wanted = next(entry.protocol for entry in specs.KINDS.values() if entry.protocol and type(spec) is entry.spec)
    if isinstance(spec, specs.PerturberSpec | specs.ValidatorSpec):
        of_sets = protocols.SetPerturber if isinstance(spec, specs.PerturberSpec) else protocols.SetValidator
        return (of_sets if spec.scope is specs.Scope.SET else wanted), f"{kind}(scope={spec.scope})"
    # Judges of different kinds have different methods, so that the declared kind decides.
    if isinstance(spec, specs.JudgeSpec):
        return _JUDGES[spec.kind], f"{kind}(kind={spec.kind})"
    if isinstance(spec, specs.ModelSpec):
        return (DeferredModel if spec.deferred else wanted), f"{kind}(deferred={spec.deferred})"
    return wanted, kind


def check_factory(entry: Entry[Any], factory: Callable[..., Any]) -> None:
    """Refuse a factory that jrh could not call.

    Args:
        entry: the declaration.
        factory: what it declares.

    Raises:
        WrongShapeError: it needs others.
    """
    given, takes = _read_arguments(factory)
    if takes is None:
        return
    try:
        # Binding is what a call does with its arguments, defaults and keywords included, without the call.
        takes.bind(*([None] * given))
    except TypeError:
        wrong = f"its factory takes {_bare(takes)}, but jrh calls it with the options and the build context at most"
        raise _refusal(entry, f"{wrong}; give all other parameters a default", factory) from None


def check_members(entry: Entry[Any], subject: object) -> None:
    """Refuse a component, or a class that makes components, whose methods jrh could not call.

    Looks at names, parameters and `async` only, and calls nothing.
    Makes no object of a class, so that it needs no options. What the class may get only when an object is made passes.

    Args:
        entry: the declaration.
        subject: the component or the class.

    Raises:
        WrongShapeError: a method is missing or has the wrong shape.
    """
    wanted, asked_by = protocol_of(entry.spec)
    followed = (wanted, *_OPTIONAL.get(type(entry.spec), ()))
    # A run makes each component several times, and looking at signatures takes as long as most factories.
    if not isinstance(subject, type) and _is_sound(type(subject), followed, asked_by):  # type: ignore[arg-type]
        return
    for wrong, where in _find_faults(subject, followed, asked_by):
        raise _refusal(entry, wrong, where)


@cache
def _is_sound(kind: type, followed: tuple[type, ...], asked_by: str) -> bool:
    """Return whether a class has all methods itself, and they are right: then its objects need no look."""
    members = (inspect.getattr_static(kind, name, None) for name, _ in _members(followed[0]))
    fixed = all(isinstance(member, FunctionType | property | staticmethod) for member in members)
    return fixed and not any(_find_faults(kind, followed, asked_by))


def _refusal(entry: Entry[Any], wrong: str, where: object) -> WrongShapeError:
    at = place_in_code(where) or (f"an object of type {where.__name__}" if isinstance(where, type) else "")
    message = f"'{entry.qualified}' ({entry.version}) cannot be used: {wrong}"
    return WrongShapeError(f"{message} ({at})" if at else message)


def _find_faults(subject: object, followed: tuple[type, ...], asked_by: str) -> Iterator[tuple[str, object]]:
    """Yield what is wrong with a component or a class, and the function or class to be mended."""
    kind = subject if isinstance(subject, type) else type(subject)
    for protocol in followed:
        for name, declared in _members(protocol):
            member = inspect.getattr_static(subject, name, None)
            if _is_inherited(kind, name, member, protocol) or (member is None and not _supplies(subject, name)):
                # What a component may define besides is allowed to be missing.
                if protocol is followed[0]:
                    lacks = f"it has no `{name}`, which {asked_by} needs"
                    yield f"{lacks}; write `{_declaration(name, declared)}`", kind
                continue
            if isinstance(declared, property):
                wrong = f"`{name}` is a method; write `@property` above it" if isinstance(member, FunctionType) else ""
            # Through the object, where a decorator or a bound method shows its real signature.
            elif not isinstance(subject, type):
                member = getattr(subject, name)
                wrong = _method_fault(name, member, declared)
            elif isinstance(member, FunctionType | staticmethod | classmethod):
                member = member.__get__(object(), subject)  # bound to any object: a signature without `self`
                wrong = _method_fault(name, member, declared)
            else:
                continue
            if wrong:
                yield wrong, member


def _is_inherited(kind: type, name: str, member: object, protocol: type) -> bool:
    """Return whether a member is only that of the protocol, which does nothing: the class inherits from it."""
    if protocol is protocols.Stage:  # a base class: what is inherited from it does what most stages need
        return False
    return next((owner for owner in kind.__mro__ if vars(owner).get(name) is member), None) in protocol.__mro__[:-1]


def _supplies(subject: object, name: str) -> bool:
    """Return whether a component has a member that is not in its class; of a class, whether its objects may have it.

    They may if the class makes objects or looks up attributes in its own way, or if its code mentions the name, as
    `self.judge = judge` does.
    """
    if not isinstance(subject, type):
        return hasattr(subject, name)
    # Without `object`, which is the last, and without `Protocol` and `Generic`.
    classes = [cls for cls in subject.__mro__ if cls.__module__ != "typing"][:-1]
    # Such a class makes its members as it likes: nothing can be said without an object.
    if any({"__new__", "__getattr__", "__getattribute__"} & vars(cls).keys() for cls in classes):
        return True
    codes = [inspect.unwrap(cls).__code__ for kind in classes for cls in vars(kind).values() if inspect.isfunction(cls)]
    return type(subject).__call__ is not type.__call__ or any(name in (*c.co_names, *c.co_consts) for c in codes)


def _component_fault(component: object) -> str:
    if component is None:
        return "its factory returns None; return the component"
    if isinstance(component, type):
        return f"its factory returns the class {component.__name__}; return an object of it"
    if inspect.iscoroutine(component):
        component.close()  # otherwise Python warns that it was never awaited
        return "its factory is an `async def`; write a plain `def`"
    return ""


def _members(protocol: type) -> Iterator[tuple[str, Any]]:
    for base in protocol.__mro__:
        for name, member in vars(base).items():
            if not name.startswith("_") and isinstance(member, FunctionType | property):
                yield name, member


def _method_fault(name: str, method: object, declared: FunctionType) -> str:
    """Return why jrh cannot call a method; empty if it can."""
    write = f"write `{_declaration(name, declared)}`"
    if not callable(method):
        return f"`{name}` is a {type(method).__name__}, not a method; {write}"
    wants_async = inspect.iscoroutinefunction(declared)
    function = method if inspect.isroutine(method) or isinstance(method, partial) else type(method).__call__
    if wants_async and inspect.isasyncgenfunction(function):
        return f"`{name}` yields; {write}, and return the result"
    if wants_async and not _returns_awaitable(function):
        return f"`{name}` is not async; {write}"
    if not wants_async and (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        return f"`{name}` is async; {write}"
    # Calling a generator does nothing: the run would get an object instead of a result.
    if inspect.isgeneratorfunction(function) and "Iterable" not in str(declared.__annotations__["return"]):
        return f"`{name}` yields; {write}, and return the result"
    return _wrong_parameters(name, method, declared, write)


def _returns_awaitable(function: Any) -> bool:
    """Return whether calling a function may give an awaitable: it is async, wraps an async one, or says so."""
    # A decorator that wraps an async function may be a plain one itself.
    inner = inspect.unwrap(function, stop=inspect.iscoroutinefunction)
    returns = str(getattr(function, "__annotations__", {}).get("return", ""))
    return inspect.iscoroutinefunction(inner) or any(word in returns for word in ("Awaitable", "Coroutine", "Future"))


def _wrong_parameters(name: str, method: Callable[..., Any], declared: FunctionType, write: str) -> str:
    try:
        has = inspect.signature(method)
    except (ValueError, TypeError):  # callables written in C may have no signature
        return ""
    parameters = list(inspect.signature(declared).parameters.values())[1:]
    keywords = {parameter.name: None for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    try:
        # As jrh calls it: some by place, the others by keyword.
        has.bind(*([None] * (len(parameters) - len(keywords))), **keywords)
    except TypeError:
        takes = f"{len(parameters)} argument{'s'[: len(parameters) != 1]}" if parameters else "no argument"
        return f"`{name}` takes {_bare(has)}, but jrh calls it with {takes}; {write}"
    return ""


def _declaration(name: str, declared: Any) -> str:
    """Return how a member is written, without its types."""
    if isinstance(declared, property):
        return f"@property def {name}(self)"
    head = "async def" if inspect.iscoroutinefunction(declared) else "def"
    return f"{head} {name}{_bare(inspect.signature(declared))}"


def _bare(signature: inspect.Signature) -> str:
    """Return the parameters without their types."""
    bare = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


LOCAL: Final = "local"
"""The version of a plugin that is not installed."""


def find_factory(entry: Entry[Any]) -> Callable[..., Any]:
    """Return the factory of a component, importing the module it is in.

    Raises:
        PluginError: there is no such module, no such name in it, or jrh cannot call it.
        Exception: whatever importing the module raises.
    """
    declared = entry.spec.factory
    factory = _import_named(entry, declared) if isinstance(declared, str) else declared
    check_factory(entry, factory)
    return factory  # type: ignore[no-any-return]


def _import_named(entry: Entry[Any], declared: str) -> Any:
    module, _, path = declared.partition(":")
    thing: Any = _import_module(entry, module)
    # The name may lie in a class.
    for name in path.split("."):
        if not hasattr(thing, name):
            close = get_close_matches(name, dir(thing), n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise wrong_factory(entry, f"'{module}' has no '{path}'{hint}")
        thing = getattr(thing, name)
    if not callable(thing):
        raise wrong_factory(entry, f"'{path}' in '{module}' is a {type(thing).__name__} and cannot be called")
    return thing


def make(entry: Entry[Any], options: object, context: object) -> Any:
    """Build a declared component, and check that jrh can call it.

    Args:
        entry: the declaration.
        options: the component's.
        context: what the factory gets besides, if it takes a second argument.

    Raises:
        PluginError: there is no such factory, or what it returns lacks a method or has one of the wrong shape.
        Exception: whatever the factory raises.
    """
    component = call_factory(find_factory(entry), options, context)
    if wrong := _component_fault(component):
        raise _refusal(entry, wrong, component)
    check_members(entry, component)
    return component


def call_factory(factory: Callable[..., Any], options: object, context: object) -> Any:
    """Call a factory with as many arguments as it takes: options and context, only the options, or none."""
    return factory(*(options, context)[: _read_arguments(factory)[0]])


def import_from_working_directory(entry: Entry[Any]) -> AbstractContextManager[None]:
    """Let the modules of a local plugin be imported, which is not installed; nothing for others."""
    return importable(entry.code(), Path.cwd()) if entry.version == LOCAL else nullcontext()


def _import_module(entry: Entry[Any], module: str) -> Any:
    try:
        with import_from_working_directory(entry):
            return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # Only the declared module itself is a wrong declaration. If a library that it imports is missing, the caller
        # reports which package to install.
        if error.name and f"{module}.".startswith(f"{error.name}."):
            # Otherwise the error is that of a library's import, which has its own advice.
            raise wrong_factory(entry, f"no module '{error.name}' exists") from None
        raise


def wrong_factory(entry: Entry[Any], what: str) -> PluginError:
    """Return the error that says what is wrong with a declared factory."""
    return PluginError(
        f"'{entry.qualified}' ({entry.version}) cannot be built: its factory is declared as '{entry.spec.factory}', "
        f"and {what}"
    )


def _read_arguments(factory: Callable[..., Any]) -> tuple[int, inspect.Signature | None]:
    """Return how many arguments jrh gives to a factory, as many as it takes and at most two, and its signature."""
    # A run makes each component several times. Objects that can be called may have no hash.
    return _read(factory) if isinstance(factory, type | FunctionType) else _read.__wrapped__(factory)


@cache
def _read(factory: Callable[..., Any]) -> tuple[int, inspect.Signature | None]:
    if getattr(getattr(factory, "__init__", None), "__module__", "") == "typing":
        return 0, None  # the class has only the constructor of a protocol, which looks as if it took anything
    try:
        takes = inspect.signature(factory)
    except (ValueError, TypeError):  # callables written in C may have no signature
        return 2, None
    kinds = [parameter.kind for parameter in takes.parameters.values()]
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # `*args` takes whatever is given.
    number = 2 if inspect.Parameter.VAR_POSITIONAL in kinds else sum(kind in by_place for kind in kinds)
    return min(2, number), takes
