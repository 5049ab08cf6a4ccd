"""Examine what is installed: plugins that did not load, names that clash, components that jrh cannot build or call."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from importlib import metadata
from typing import Any, get_type_hints

from attrs import frozen
from jrh import DataSourceSpec, JrhError, JudgeSpec, Mode, ParserSpec, PerturberSpec, Scale, Task, ValidatorSpec
from jrh.cli.plugin_commands import PURPOSES, split_name
from jrh.errors import RAISED, PluginError
from jrh.plugins import ALL_MODES, entry_points
from jrh.plugins.factories import check_members, find_factory
from jrh.plugins.loading import Loaded
from jrh.plugins.registry import Entry, Plugins
from jrh.plugins.secrets import secrets_optional
from jrh.running import Builder
from jrh.running.without_suite import builder_without_suite
from jrh.text.redact import error_line

from jrh_authoring.listing import module_problem, module_problems


@frozen(kw_only=True)
class Examination:
    """What was found out about the installed components."""

    wrong: tuple[str, ...]
    """Why jrh cannot use a component, one sentence each."""
    unseen: tuple[str, ...]
    """Components, as `distribution/name`, that only a suite can build, and whose class is not known either."""


def examine(plugins: Plugins) -> Examination:
    """Import every component's factory, build the component with its default options, and look at its methods.

    Of a component that says that it needs more, look at the class that its factory is, or says to return. Sends nothing
    and needs no keys. A missing module is no finding here: `problems` has it.
    """
    builder = builder_without_suite(plugins)
    # Options without defaults are no fault: such a component is judged by its class, without building it.
    wrong: list[str] = []
    unseen: list[str] = []
    entries = (entry for registry in plugins.registries() for entry in registry if not module_problem(entry))
    for entry in entries:
        try:
            # A component that prints while it is built must not spoil the report on standard output.
            with redirect_stdout(sys.stderr), secrets_optional():
                examined = _examine_component(builder, entry)
        except PluginError as error:
            wrong.append(str(error))
        except RAISED as error:  # a class or declaration that breaks when it is looked at
            wrong.append(f"'{entry.qualified}' ({entry.version}) cannot be examined: {_line_of(error)}")
        else:
            unseen += [entry.qualified] * (not examined)
    return Examination(wrong=tuple(wrong), unseen=tuple(dict.fromkeys(unseen)))


def _examine_component(builder: Builder, entry: Entry[Any]) -> bool:
    """Return whether the component could be examined.

    Raises:
        PluginError: jrh could not use it.
    """
    try:
        factory = find_factory(entry)
    except PluginError:
        raise
    except RAISED as error:
        # An import may raise anything; `jrh plugins doctor` lists it and goes on with the next component.
        raise PluginError(f"'{entry.qualified}' ({entry.version}) cannot be imported: {_line_of(error)}") from error
    try:
        builder.build_default(entry, _task(entry))
    except PluginError:
        raise
    except JrhError:  # it needs what only a suite has
        component_class = _class_of(factory)
        if component_class is not None:
            check_members(entry, component_class)
        return component_class is not None
    return True


def _line_of(error: BaseException) -> str:
    """Describe an error with the place in a plugin where it was raised: this module is none."""
    # The outer frames are of this module and say nothing: the place in the plugin is the one to show.
    trace = error.__traceback__
    while trace and trace.tb_next and trace.tb_frame.f_globals.get("__name__") == __name__:
        trace = trace.tb_next
    return error_line(error.with_traceback(trace))


def _class_of(factory: Any) -> type | None:
    """Return the class of what a factory makes: it is one, or its annotation names one without subclasses."""
    if isinstance(factory, type):
        return factory
    try:
        annotation = get_type_hints(factory).get("return")
    except RAISED:  # a name that is imported for type checkers only, or anything else
        return None
    if not isinstance(annotation, type) or getattr(annotation, "_is_protocol", False):
        return None
    # With subclasses, the factory may return any of them, and the methods of the base say too little.
    return None if type.__subclasses__(annotation) else annotation


def _task(entry: Entry[Any]) -> Task | None:
    """Make a task that the component declares to serve; None for kinds that serve all tasks of a run at once."""
    if not isinstance(entry.spec, DataSourceSpec | PerturberSpec | ValidatorSpec | JudgeSpec | ParserSpec):
        return None
    # A perturber that serves transcripts only refuses another task when it is built, which would look like a fault.
    mode = next((mode for mode in Mode if mode in getattr(entry.spec, "modes", ALL_MODES)), Mode.POINTWISE)
    scale = Scale.of_pairs() if mode is Mode.PAIRWISE else Scale.of_labels("YES", "NO")
    return Task(name="examination", scale=scale, mode=mode)


def problems(loaded: Loaded, own_commands: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the installed plugins, one sentence each.

    Args:
        loaded: the plugins, as loaded.
        own_commands: the commands of jrh itself, which no plugin can replace.
    """
    for problem in loaded.plugins.problems:
        yield f"{problem.distribution} {problem.version}: '{problem.plugin}' did not load fully: {problem.message}"
    yield from module_problems(loaded.plugins)
    yield from _ambiguous_names(loaded)
    yield from _commands(own_commands)


def _ambiguous_names(loaded: Loaded) -> Iterator[str]:
    for registry in loaded.plugins.registries():
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for entry in registry:
            by_name[entry.spec.name].append(entry.qualified)
        for name, qualified in sorted(by_name.items()):
            if len(qualified) > 1:
                written = " or ".join(qualified)
                yield f"{registry.role} '{name}' comes from several plugins: write {written} in the suite"


def _commands(own: Sequence[str]) -> Iterator[str]:
    bringing: defaultdict[str, set[str]] = defaultdict(set)
    # Commands are entry points and no hook, so that `--help` loads no plugin; clashes are found in the metadata.
    for point in metadata.entry_points(group=entry_points.COMMANDS):
        group, name = split_name(point.name)
        shown = name if group in PURPOSES else f"{group} {name}".strip()
        bringing[shown].add(f"{point.dist.name} {point.dist.version}" if point.dist else "unknown")
    for name, distributions in sorted(bringing.items()):
        if name in own:
            yield f"{', '.join(sorted(distributions))}: jrh has its own command '{name}' and never calls this one"
        elif len(distributions) > 1:
            yield f"the command '{name}' comes from several plugins: {', '.join(sorted(distributions))}; uninstall one"
