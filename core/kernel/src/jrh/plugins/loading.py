"""Load plugins from entry points, files and modules; a broken plugin never affects the others."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from difflib import get_close_matches
from functools import cache, partial
from importlib import metadata
from itertools import islice
from pathlib import Path
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, Final

import pluggy
from attrs import field, frozen, has

from jrh.document.positions import did_you_mean
from jrh.errors import RAISED, JrhError, PluginError
from jrh.plugins import entry_points, hookspecs, specs
from jrh.plugins.component_identity import Source, editable_source, load_file, load_module, python_source
from jrh.plugins.factories import LOCAL
from jrh.plugins.registry import Entry, LoadProblem, Plugins, Registry
from jrh.plugins.specs import Spec
from jrh.text.redact import error_line, place_in_code
from jrh.values.items import Mode
from jrh.version import API_VERSION, OLDEST_API_VERSION, __version__

DECLARATIONS: Final[dict[str, tuple[str, type[Spec]]]] = {
    f"jrh_{name}": (kind.role, kind.spec) for name, kind in specs.KINDS.items()
}
"""Declaration hook -> what it declares, in words and as a class."""

WRITTEN_FOR: Final = "JRH_API_VERSION"
"""Name of the attribute in which a plugin states the API version it was written for; 1 by default."""

_ONE_OF_A_NAME: Final[Mapping[str, tuple[str, ...]]] = {
    "jrh_stages": specs.OWN_STAGES,
    "jrh_modes": tuple(mode.value for mode in Mode),
}
"""Hooks whose names no second plugin may declare, as others refer to them by the bare name -> names that are taken."""

_MOST: Final = 10_000
"""Components that one hook of a plugin may declare."""


class OnlyPlugins(tuple[str, ...]):
    """Names of plugins, as of `--only`: nothing else is loaded, also none of those that jrh ships."""

    __slots__ = ()


@cache
def shipped_distributions() -> frozenset[str]:
    """Return the distributions that belong to jrh: those that the distribution `jrh` requires, and the core's."""
    core = (point.dist.name for point in metadata.entry_points(group=entry_points.CORE) if point.dist)
    # None where parts of jrh alone are installed: nothing says which others there are.
    required = next((dist.requires for dist in metadata.distributions(name="jrh")), None) or ()
    return frozenset((*core, *(re.split(r"[^\w.-]", line)[0] for line in required)))


@frozen(kw_only=True)
class Candidate:
    """A plugin that may be loaded."""

    name: str
    """Entry point's name, file or `module:attr`."""
    distribution: str
    version: str
    load: Callable[[], object]
    core: bool = False
    """It belongs to jrh itself: no list of plugins leaves it out."""
    code: Callable[[], tuple[Source, ...]] = tuple
    local: bool = False


@frozen(kw_only=True)
class Local:
    """A local plugin that was loaded."""

    written: str
    """As `--plugins` names it."""
    source: Source


@frozen(kw_only=True)
class Loaded:
    """Hold the loaded components, and the plugin manager with the event hooks."""

    plugins: Plugins
    manager: pluggy.PluginManager
    names: tuple[str, ...] = field(default=())
    """`distribution version` of every plugin that loaded."""
    local: tuple[Local, ...] = ()
    """The local plugins."""
    remarks: tuple[str, ...] = ()
    """What to say of the local plugins that the run directory remembered, a sentence each."""


def load_plugins(
    allow: Sequence[str] = (),
    sent: Sequence[tuple[str, Source]] = (),
    *,
    remembered: Sequence[tuple[str, Source]] = (),
    refused: Mapping[str, str] = MappingProxyType({}),
) -> Loaded:
    """Load the installed plugins, and the local ones that are named or remembered.

    Args:
        allow: distributions or entry points to load with those that jrh ships, or without them (`OnlyPlugins`); if
            there is any, no other installed plugin is loaded. An item that ends in `.py`, or has the form
            `module:attr`, is a local plugin.
        sent: local plugins that another machine has read: as they were named there, and their source.
        remembered: local plugins of an earlier run, as `sent`. One that does not load is a problem, and no error.
        refused: others of it that are not loaded, and why.

    Raises:
        JrhError: a name is unknown, or a named plugin could not be loaded.
    """
    again = [_from_source(*plugin) for plugin in remembered]
    candidates = [*_select(list(_find_installed()), allow), *(_from_source(*plugin) for plugin in sent), *again]
    manager = _PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    entries: dict[str, list[Entry[Any]]] = {hook: [] for hook in DECLARATIONS}
    problems = [
        LoadProblem(plugin=written, distribution=Path(written).stem, version=LOCAL, message=why)
        for written, why in refused.items()
    ]
    names = []
    for plugin in candidates:
        failures = _load_one(manager, plugin, entries)
        problems.extend(failures)
        # Who names a plugin wants it. Any other one may be broken: the rest of jrh works without it.
        if allow and failures and _is_named(plugin, allow):
            raise PluginError(f"cannot load plugin '{plugin.name}': {failures[0].summary}")
        names.append(f"{plugin.distribution} {plugin.version}".strip())
    # Registries get all problems: a name that is unknown may be that of a plugin which did not load.
    registries = {
        hook.removeprefix("jrh_"): Registry(role, entries[hook], problems) for hook, (role, _) in DECLARATIONS.items()
    }
    return Loaded(
        plugins=Plugins(problems=tuple(problems), **registries),
        manager=manager,
        names=tuple(dict.fromkeys(names)),
        local=tuple(Local(written=plugin.name, source=plugin.code()[0]) for plugin in candidates if plugin.local),
        remarks=(
            *(f"loading '{plugin.name}', which this run was made with (--plugins)" for plugin in again),
            *(
                f"this run was made with '{written}' (--plugins), which is not loaded: {why}"
                for written, why in refused.items()
            ),
        ),
    )


class _PluginManager(pluggy.PluginManager):
    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        # pluggy looks at every name of a module for the mark of a hook: a seventh of the calls that loading makes.
        if isinstance(plugin, ModuleType) and not isinstance(vars(plugin).get(name), (FunctionType, MethodType)):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def _find_installed() -> Iterator[Candidate]:
    known = set()
    core = metadata.entry_points(group=entry_points.CORE)
    for point in (*core, *metadata.entry_points(group=entry_points.COMPONENTS)):
        stated = point.dist.metadata if point.dist else None  # `name` and `version` would each read it
        name, version = (stated["Name"], stated["Version"]) if stated is not None else ("unknown", "")
        # Installed twice on the import path, a distribution is listed twice.
        if (name, point.name, point.value) not in known:
            known.add((name, point.name, point.value))
            # Read when a component's identity is needed, which most commands never ask for.
            code = cache(partial(editable_source, point.dist, [point.module])) if point.dist else tuple
            is_core = point.group == entry_points.CORE
            yield Candidate(
                name=point.name, distribution=name, version=version, load=point.load, core=is_core, code=code
            )


def _without_components() -> set[str]:
    """Return the distributions that provide commands or displays; users may name them even without a component."""
    groups = (entry_points.COMMANDS, entry_points.DISPLAYS)
    return {point.dist.name for group in groups for point in metadata.entry_points(group=group) if point.dist}


def _is_local(item: str) -> bool:
    return item.endswith(".py") or ":" in item


def _is_named(candidate: Candidate, allow: Sequence[str]) -> bool:
    return candidate.local or candidate.name in allow or candidate.distribution in allow


def _select(installed: list[Candidate], allow: Sequence[str]) -> list[Candidate]:
    local = _refuse_repeated(_local(item) for item in allow if _is_local(item))
    wanted = [item for item in allow if not _is_local(item)]
    option = "--only" if isinstance(allow, OnlyPlugins) else "--plugins"
    named = wanted if option == "--only" else [*wanted, *shipped_distributions()]
    known = {plugin.name for plugin in installed} | {plugin.distribution for plugin in installed}
    # A distribution of commands alone has no component: it is known, and nothing of it is loaded here.
    known |= _without_components() if wanted else set()
    for item in wanted:
        if item not in known:
            hint = did_you_mean(item, sorted(known))
            raise JrhError(f"{option}: unknown plugin '{item}'\n{hint}Installed: {', '.join(sorted(known)) or 'none'}.")
    everything = not allow and option == "--plugins"
    chosen = [plugin for plugin in installed if everything or plugin.core or _is_named(plugin, named)]
    # The order of the import path differs between machines, and that of names does not.
    return sorted(chosen, key=lambda plugin: (plugin.distribution, plugin.name)) + local


def _local(item: str) -> Candidate:
    if item.endswith(".py") and not Path(item).is_file():
        raise JrhError(f"--plugins: no such file: '{item}'")
    return _from_source(item, local_source(item))


def _from_source(item: str, source: Source) -> Candidate:
    module, _, attribute = item.partition(":")
    is_file = item.endswith(".py")
    return Candidate(
        name=item,
        distribution=(Path(item).stem if is_file else module).replace("_", "-"),
        # A file has no version: its content identifies it, and the word marks where the version is shown.
        version=LOCAL,
        load=partial(load_file, source) if is_file else partial(_load_attribute, source, attribute),
        code=lambda: (source,),
        local=True,
    )


def local_source(written: str) -> Source:
    """Read the source of local code, which lies in the working directory or on the import path.

    Raises:
        JrhError: a file is missing or cannot be read.
    """
    try:
        return python_source(written, Path())
    except JrhError as error:
        raise JrhError(f"--plugins {written}: {error}") from error


def _load_attribute(source: Source, attribute: str) -> object:
    module = load_module(source, Path.cwd())
    return getattr(module, attribute) if attribute else module


def _refuse_repeated(local: Iterable[Candidate]) -> list[Candidate]:
    """Return the local plugins; refuse one that is named twice, which would declare every component twice."""
    chosen: dict[Path | str, Candidate] = {}
    for candidate in local:
        # Two spellings of a path are one file.
        place = Path(candidate.name).resolve() if candidate.name.endswith(".py") else candidate.name
        if place in chosen:
            first = chosen[place].name
            also = "" if first == candidate.name else f" (also as '{candidate.name}')"
            raise JrhError(f"--plugins: '{first}' is named twice{also}; name it once")
        chosen[place] = candidate
    return list(chosen.values())


def _load_one(
    manager: pluggy.PluginManager, candidate: Candidate, entries: dict[str, list[Entry[Any]]]
) -> list[LoadProblem]:
    """Load and register one plugin and read its declarations; return its errors as problems."""
    try:
        with redirect_stdout(sys.stderr):  # what a plugin prints must not get into output that is read by a program
            plugin = candidate.load()
        if unfit := _explain_unfit(plugin):
            return [_problem(candidate, unfit)]
        manager.register(plugin, name=f"{candidate.distribution}:{candidate.name}")
    except RAISED as error:  # a plugin's import may fail in any way
        return [_problem(candidate, error_line(error))]
    problems = [_problem(candidate, message) for message in _misspelt(manager, plugin)]
    # An installed plugin may have commands alone. A local one that does nothing is a slip.
    if candidate.local and not problems and not manager.get_hookcallers(plugin):
        return [_problem(candidate, "it implements no hook, such as jrh_judges; mark its functions with @hookimpl")]
    for caller in manager.get_hookcallers(plugin) or []:
        if caller.name in DECLARATIONS:
            for implementation in caller.get_hookimpls():
                if implementation.plugin is plugin:
                    problems += _read_declarations(candidate, caller.name, implementation.function, entries)
    return problems


def _explain_unfit(plugin: object) -> str:
    """Return why a plugin does not fit this version of the plugin API; empty if it fits."""
    written_for = getattr(plugin, WRITTEN_FOR, 1)
    # True is an int in Python.
    if not isinstance(written_for, int) or isinstance(written_for, bool):
        return f"{WRITTEN_FOR} must be a whole number, got {type(written_for).__name__}"
    differs = f"written for version {written_for} of the plugin API, but jrh {__version__}"
    if written_for > API_VERSION:
        return f"{differs} has version {API_VERSION}: upgrade jrh, or install an older version of the plugin"
    if written_for < OLDEST_API_VERSION:
        return f"{differs} supports versions {OLDEST_API_VERSION} to {API_VERSION}: upgrade the plugin"
    return ""


def _read_declarations(
    candidate: Candidate, hook: str, function: Callable[..., object], entries: dict[str, list[Entry[Any]]]
) -> list[LoadProblem]:
    expected = DECLARATIONS[hook][1]
    try:
        with redirect_stdout(sys.stderr):
            declarations = function()
            if not isinstance(declarations, Iterable):
                raise TypeError(f"it must return or yield {expected.__name__}, got {type(declarations).__name__}")
            declared = list(islice(declarations, _MOST + 1))
        if len(declared) > _MOST:
            raise ValueError(f"it declares more than {_MOST:,} components")
    except RAISED as error:
        return [_problem(candidate, f"{hook}: {error_line(error)}")]
    problems = []
    names = set()
    for spec in declared:
        if not isinstance(spec, expected):
            wrong = f"{hook} yields {type(spec).__name__}, not {expected.__name__} ({place_in_code(function)})"
        elif unfit := _explain_unfit_options(spec):
            wrong = f"{hook}: '{spec.name}': {unfit} ({place_in_code(function)})"
        elif spec.name in names:
            wrong = f"{hook} declares '{spec.name}' twice; only the first one is used"
        # Two components of other kinds may share a name: a suite then writes the distribution, too.
        elif owner := _owner(hook, spec.name, entries[hook]):
            wrong = f"{hook} declares '{spec.name}', which {owner} has; it is not used"
        else:
            names.add(spec.name)
            where = {"distribution": candidate.distribution, "version": candidate.version, "plugin": candidate.name}
            entries[hook].append(Entry(spec=spec, **where, code=_code(candidate, spec)))
            continue
        problems.append(_problem(candidate, wrong))
    return problems


def _owner(hook: str, name: str, earlier: Iterable[Entry[Any]]) -> str:
    """Return who has a name that only one plugin may declare; empty where it is free."""
    if hook not in _ONE_OF_A_NAME:
        return ""
    owners = (f"{entry.distribution} {entry.version}" for entry in earlier if entry.spec.name == name)
    return "jrh itself" if name in _ONE_OF_A_NAME[hook] else next(owners, "")


def _explain_unfit_options(spec: Spec) -> str:
    """Return why the declared options cannot be read from a suite; empty if they can."""
    options: object = spec.options
    if not isinstance(options, type):
        return f"options= must be a class, got {type(options).__name__}"
    if not has(options):
        return f"options={options.__name__} is not an attrs class; decorate it with @attrs.frozen(kw_only=True)"
    return ""


def _code(candidate: Candidate, spec: Spec) -> Callable[[], tuple[Source, ...]]:
    """Return what identifies a component: its plugin's source, and the module of a local plugin's declared factory."""
    factory = getattr(spec, "factory", None)
    if not candidate.local or not isinstance(factory, str):
        return candidate.code
    sources = candidate.code()
    # What is loaded unasked was checked before, with its factories.
    if sources[0].closed:
        return candidate.code
    # Read now: once loaded, the module stays as it is while its file may change.
    sources = (*sources, local_source(factory))
    return lambda: sources


def _misspelt(manager: pluggy.PluginManager, plugin: object) -> Iterator[str]:
    known = [name for name in vars(hookspecs) if name.startswith("jrh_")]
    for name in (member for member in dir(plugin) if member.startswith("jrh_") and callable(getattr(plugin, member))):
        marked = manager.parse_hookimpl_opts(plugin, name) is not None
        if name in known:
            if not marked:
                yield f"'{name}' lacks @hookimpl, so it is never called"
        # Without the mark and unlike any hook, a function may be called jrh_something for reasons of its own.
        elif (close := get_close_matches(name, known, n=1)) or marked:
            yield f"unknown hook '{name}'" + (f"; did you mean '{close[0]}'?" if close else "")


def _problem(candidate: Candidate, message: str) -> LoadProblem:
    return LoadProblem(
        plugin=candidate.name, distribution=candidate.distribution, version=candidate.version, message=message
    )


class Events:
    """Call the event hooks of plugins; an error in a hook is reported and does not affect the run."""

    def __init__(self, manager: pluggy.PluginManager, report: Callable[[str, str, str], None]) -> None:
        """Keep the manager; `report` receives hook, plugin and error when an implementation raises."""
        self._manager = manager
        self._report = report

    def listens(self, hook: str) -> bool:
        """Return whether any plugin implements the hook."""
        return bool(getattr(self._manager.hook, hook).get_hookimpls())

    def tell(self, hook: str, event: object) -> None:
        """Call every implementation with the event."""
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            try:
                implementation.function(event) if implementation.argnames else implementation.function()
            except RAISED as error:  # a plugin's event hook can never fail a run
                self._report(hook, implementation.plugin_name, error_line(error))
