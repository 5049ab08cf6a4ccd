"""`jrh plugins`."""

from __future__ import annotations

from typing import Any

import click

from jrh.cli.shared_options import allowed, plugins_option
from jrh.errors import JrhError
from jrh.plugins.factories import missing_module
from jrh.plugins.loading import load_plugins
from jrh.text import telling


@click.group("plugins")
def command() -> None:
    """List installed components and plugins that failed to load."""


@command.command("list")
@plugins_option
def list_all(plugins: str) -> int:
    """List all components and the problems of plugins that did not load."""
    from rich.table import Table

    found = load_plugins(allowed(plugins)).plugins
    table = Table("role", "name", "plugin", "version", "summary")
    for registry in found.registries():
        for entry in registry:
            table.add_row(registry.role, entry.spec.name, entry.distribution, entry.version, entry.spec.summary)
    telling.show(table)
    problems = [f"{each.plugin} ({each.distribution} {each.version}): {each.message}" for each in found.problems]
    problems += [wrong for registry in found.registries() for entry in registry if (wrong := missing_module(entry))]
    if problems:
        telling.say(f"\n{len(problems)} problem{'s' * (len(problems) != 1)}:")
    for problem in problems:
        telling.say(f"  {problem}")
    return 0


@command.command("show")
@click.argument("name")
@plugins_option
def show(name: str, plugins: str) -> int:
    """Show a component with its options; NAME is `name` or `distribution/name`."""
    found = load_plugins(allowed(plugins)).plugins
    matches = [
        (registry.role, entry)
        for registry in found.registries()
        for entry in registry
        if name in (entry.spec.name, entry.qualified)
    ]
    if not matches:
        raise JrhError(_unknown(name, found))
    for role, entry in matches:
        _describe(role, entry)
    return 0


def _unknown(name: str, found: Any) -> str:
    from difflib import get_close_matches

    names = sorted({entry.spec.name for registry in found.registries() for entry in registry})
    close = get_close_matches(name, names, n=1)
    hint = f"Did you mean '{close[0]}'? " if close else ""
    return f"no component is named '{name}'\n{hint}Installed: {', '.join(names) or 'none'}."


def _describe(role: str, entry: Any) -> None:
    import attrs

    telling.say(f"{role} {entry.qualified} {entry.version}\n{entry.spec.summary}\n")
    if not getattr(entry.spec, "default", True):
        telling.say("Runs only where a suite names it.\n")
    options = attrs.fields(entry.spec.options)
    if not options:
        telling.say("No options.")
    for option in options:
        default = "required" if option.default is attrs.NOTHING else f"default {_shown(option.default)}"
        telling.say(f"  {option.name} ({_type(option.type)}; {default})")
        text = option.metadata.get("help", "")
        if text:
            telling.say(f"      {text}")
    if entry.spec.starter:
        telling.say("\nIn a suite:\n")
        telling.say(entry.spec.starter.rstrip("\n"))
    telling.say()


def _shown(default: Any) -> str:
    import attrs

    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return "a new one" if default.takes_self else repr(default.factory())
    if isinstance(default, tuple):
        return "[" + ", ".join(_shown(each) for each in default) + "]"
    return repr(getattr(default, "value", default))


def _type(kind: Any) -> str:
    return (
        kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind)).replace("jrh.values.option_values.", "")
    )
