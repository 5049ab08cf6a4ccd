"""`jrh plugins list` and `jrh plugins show`: what is installed, and what its components do."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import click
from attrs import asdict, frozen
from jrh import API_VERSION, JrhError, __version__
from jrh.cli.shared_options import plugins_option
from jrh.document.positions import did_you_mean
from jrh.plugins.factories import import_from_working_directory, wrong_factory
from jrh.plugins.loading import Loaded, load_plugins
from jrh.plugins.registry import Entry, Plugins
from jrh.text import terminal


@frozen(kw_only=True)
class PluginFound:
    """One plugin that loaded."""

    plugin: str
    """Entry point's name, file or `module:attr`."""
    distribution: str
    version: str
    hooks: tuple[str, ...]
    """The hooks it implements, in alphabetical order."""


def plugins_found(loaded: Loaded) -> list[PluginFound]:
    """Return the plugins that loaded, with the hooks that each implements."""
    # Pluggy keeps `distribution:name` only; the version is part of what the loader calls the distribution.
    versions = dict(name.rpartition(" ")[::2] for name in loaded.names)
    plugins = []
    for key, plugin in loaded.manager.list_name_plugin():
        distribution, _, name = key.partition(":")
        hooks = tuple(sorted(caller.name for caller in loaded.manager.get_hookcallers(plugin) or ()))
        version = versions.get(distribution, "")
        plugins.append(PluginFound(plugin=name, distribution=distribution, version=version, hooks=hooks))
    return plugins


@click.command("list")
@click.argument("role", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print plugins, their hooks and components as JSON.")
@plugins_option
def list_all(role: tuple[str, ...], plugins: Sequence[str], as_json: bool) -> int:
    """List the components of every role, or those of one ROLE with their summaries, and plugins that did not load.

    ROLE is such as perturber or metric; without it, the names of all components are listed.
    """
    from rich.table import Table

    loaded = load_plugins(plugins)
    if as_json:
        terminal.say(json.dumps(_as_json(loaded), indent=2))
        return 0
    registries = {registry.role: registry for registry in loaded.plugins.all_registries()}
    if role:
        table = Table("name", "plugin", "summary")
        table.columns[2].no_wrap, table.columns[2].overflow = True, "ellipsis"  # a line each: `show` has all of it
        for entry in registries[_find_role(" ".join(role), list(registries))]:
            table.add_row(entry.spec.name, entry.distribution, entry.spec.summary)
    else:
        table = Table("role", "", "names")
        for name, registry in registries.items():
            names = sorted(entry.spec.name for entry in registry)
            table.add_row(name, str(len(names)), ", ".join(names))
    terminal.show(table)
    problems = [
        f"{fault.plugin} ({fault.distribution} {fault.version}): {fault.message}" for fault in loaded.plugins.problems
    ]
    print_problems([*problems, *module_problems(loaded.plugins)])
    if role:
        terminal.say("One of them, with its options: jrh plugins show NAME")
    else:
        terminal.say("Those of one role, with summaries: jrh plugins list ROLE")
    return 0


def _find_role(written: str, roles: Sequence[str]) -> str:
    """Return the role that is meant: `data-source` and `perturbers` are roles too.

    Raises:
        JrhError: there is none of that name.
    """
    name = written.lower().replace("-", " ").replace("_", " ")
    role = next((role for role in roles if name in (role, f"{role}s")), None)
    if role is None:
        raise JrhError(f"no role '{written}'\n{did_you_mean(name, roles)}Roles: {', '.join(roles)}")
    return role


def module_problems(plugins: Plugins) -> Iterator[str]:
    """Yield an error message for every component whose declared module does not exist."""
    for registry in plugins.registries():
        yield from filter(None, map(module_problem, registry))


def module_problem(entry: Entry[Any]) -> str:
    """Return an error message if the module of a declared factory does not exist; otherwise an empty text.

    Looks for the module without importing it, so that `jrh plugins list` can afford it for every component.
    """
    declared = entry.spec.factory
    if not isinstance(declared, str):
        return ""
    module = declared.partition(":")[0]
    try:
        # A local plugin may name a module next to it, which is importable only while its factory is.
        with import_from_working_directory(entry):
            known = module in sys.modules or importlib.util.find_spec(module) is not None
    except Exception:  # a package on the way may be broken in any way
        known = False
    return "" if known else str(wrong_factory(entry, f"no module '{module}' exists"))


def print_problems(problems: list[str]) -> None:
    """Print what is wrong with plugins and components."""
    if problems:
        terminal.say(f"\n{len(problems)} problem{'s' * (len(problems) != 1)}:")
    for problem in problems:
        terminal.say(f"  {problem}")


def _as_json(loaded: Loaded) -> dict[str, Any]:
    """Return the plugins with their hooks and components, and what did not load."""
    entries = [(registry.role, entry) for registry in loaded.plugins.all_registries() for entry in registry]

    def components(plugin: PluginFound) -> list[dict[str, str]]:
        return [
            {"role": role, "name": entry.spec.name, "summary": entry.spec.summary}
            for role, entry in entries
            if (entry.distribution, entry.plugin) == (plugin.distribution, plugin.plugin)
        ]

    return {
        "jrh": __version__,
        "api_version": API_VERSION,
        "plugins": [asdict(plugin) | {"components": components(plugin)} for plugin in plugins_found(loaded)],
        "problems": [asdict(problem) for problem in loaded.plugins.problems],
    }


@click.command("show")
@click.argument("name")
@plugins_option
def show(name: str, plugins: Sequence[str]) -> int:
    """Show a component with its options; NAME is `name` or `distribution/name`."""
    registries = load_plugins(plugins).plugins.all_registries()
    entries = [(registry.role, entry) for registry in registries for entry in registry]
    matches = [(role, entry) for role, entry in entries if name in (entry.spec.name, entry.qualified)]
    if not matches:
        # Only close names are shown: a full list of all components would hide the hint.
        names = sorted({entry.spec.name for _, entry in entries})
        hint = did_you_mean(name, names)
        raise JrhError(f"no component is named '{name}'\n{hint}Run `jrh plugins list` for all {len(names)} names.")
    for role, entry in matches:
        _describe(role, entry)
    return 0


def _describe(role: str, entry: Any) -> None:
    terminal.say(f"{role} {entry.qualified} {entry.version}\n{entry.spec.summary}\n")
    if not getattr(entry.spec, "default", True):
        terminal.say("Runs only where a suite names it.\n")
    # A flag is declared and never built: it has no options.
    if effect := getattr(entry.spec, "effect", None):
        terminal.say(f"Effect on claims: {effect.value}.\n")
        return
    options = attrs.fields(entry.spec.options)
    if not options:
        terminal.say("No options.")
    for option in options:
        default = "required" if option.default is attrs.NOTHING else f"default {_format_default(option.default)}"
        terminal.say(f"  {option.name} ({_type(option.type)}; {default})")
        text = option.metadata.get("help", "")
        if text:
            terminal.say(f"      {text}")
    if getattr(entry.spec, "measures", ()):
        terminal.say("\nMeasures:\n")
    for measure in getattr(entry.spec, "measures", ()):
        better = f"; better: {measure.better}" if measure.better else ""
        better += "; on request" if measure.on_request else ""
        terminal.say(f"  {measure.name} ({measure.unit}{better})\n      {measure.formula}")
    if entry.spec.starter:
        terminal.say("\nIn a suite:\n")
        terminal.say(entry.spec.starter.rstrip("\n"))
    terminal.say()


def _format_default(default: Any) -> str:
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        # A factory that takes the instance cannot be called without one.
        return "a new one" if default.takes_self else repr(default.factory())
    if isinstance(default, tuple):
        return "[" + ", ".join(map(_format_default, default)) + "]"
    return repr(getattr(default, "value", default))


def _type(kind: Any) -> str:
    return (
        kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind)).replace("jrh.values.option_values.", "")
    )
