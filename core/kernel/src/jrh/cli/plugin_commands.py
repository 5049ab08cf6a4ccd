"""Load the commands of plugins: entry points of the group `jrh.commands`.

An entry point's name is the command, its value a click command; `plugins.new` adds `new` to `jrh plugins`.
Listing commands reads the metadata of what is installed and imports nothing; a command is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click

from jrh.errors import PluginError
from jrh.plugins.entry_points import COMMANDS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class ExtendedGroup(click.Group):
    """A command group that plugins add to; a command of a plugin is imported when it is called."""

    own_commands: ClassVar[Mapping[str, str]] = {}
    """The group's own commands -> their lines of the help."""

    def extra_commands(self) -> Mapping[str, list[EntryPoint]]:
        """Return the commands that plugins add: for `jrh plugins`, entry points named such as `plugins.new`."""
        return plugin_commands(self.name or "")

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the group's own commands in the order of use, then those of plugins."""
        return list(dict.fromkeys([*self.own_commands, *self.extra_commands()]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command of a plugin."""
        points = self.extra_commands().get(cmd_name)
        return load(points) if points else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        builtin = self.own_commands
        commands = self.extra_commands().items()
        if builtin:
            with formatter.section("Commands"):
                formatter.write_dl(list(builtin.items()))
        if lines := [(name, summary_of(points)) for name, points in commands if name not in builtin]:
            with formatter.section("Plugin commands"):
                formatter.write_dl(lines)


def plugin_commands(group: str = "") -> Mapping[str, list[EntryPoint]]:
    """Return the commands of plugins, by name; several plugins may provide the same name.

    Args:
        group: a group of commands, such as `plugins`, whose further commands are meant; empty: `jrh` itself.
    """
    from importlib.metadata import entry_points

    commands: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=COMMANDS), key=lambda point: (point.name, _distribution(point))):
        inside, _, name = point.name.rpartition(".")
        # A dot in the name of an entry point puts the command into a group.
        if inside != group:
            continue
        known = commands.setdefault(name, [])
        # A distribution that lies twice on the path provides its commands once.
        if all((point.value, _distribution(point)) != (other.value, _distribution(other)) for other in known):
            known.append(point)
    return commands


def summary_of(points: list[EntryPoint]) -> str:
    """Return the help line of a command: the first paragraph of its docstring, or what its distribution says."""
    if len(points) > 1:
        return f"Provided by several plugins: {', '.join(map(_distribution, points))}."
    (point,) = points
    if paragraph := _first_paragraph(point):
        return paragraph
    metadata = point.dist.metadata if point.dist else None
    stated = str(metadata["Summary"]) if metadata and "Summary" in metadata else ""
    return f"{(stated or f'Provided by {_distribution(point)}').rstrip('.')}."


def _first_paragraph(point: EntryPoint) -> str:
    """Read the summary of a command from its source, without importing it; empty if there is none."""
    # Parsed, because importing every plugin for its help line would make `--help` slow.
    import ast
    from importlib.util import find_spec

    try:
        spec = find_spec(point.module)
        tree = ast.parse(Path(spec.origin).read_bytes() if spec and spec.origin else b"")
    except Exception:  # a plugin's package may be broken in any way, but `--help` must still work
        return ""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == point.attr)
    docstring = next((ast.get_docstring(node) for node in functions), None) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def load(points: list[EntryPoint]) -> click.Command:
    """Import a command.

    Raises:
        PluginError: several plugins bring it, it cannot be imported, or it is no click command.
    """
    name = points[0].name
    if len(points) > 1:
        raise PluginError(
            f"the command '{name}' is provided by several plugins: {', '.join(map(_distribution, points))}; "
            "uninstall all but one"
        )
    try:
        command = points[0].load()
    except (Exception, SystemExit) as error:  # a plugin's import may fail in any way
        raise PluginError(
            f"the command '{name}' of {_distribution(points[0])} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(command, click.Command):
        raise PluginError(
            f"the command '{name}' of {_distribution(points[0])} is a {type(command).__name__}, not a click command"
        )
    return command


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"
