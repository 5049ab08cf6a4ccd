"""Load the commands of plugins: entry points of the group `jrh.commands`.

An entry point's name is the command, its value a click command. Before a dot it may have what a person wants with it
(`PURPOSES`): `decide.gate` is `jrh gate`, listed under "Decide". `plugins.new` adds `new` to `jrh plugins`.
Listing commands reads the metadata of what is installed and imports nothing; a command is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import click

from jrh.errors import PluginError
from jrh.plugins.entry_points import COMMANDS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


PURPOSES: Final = {
    "start": "Start",
    "run": "Prepare and run",
    "look": "Look",
    "decide": "Decide",
    "extend": "Extend",
}
"""What a person wants -> the heading of these commands in the help, in this order."""


class ExtendedGroup(click.Group):
    """A command group that plugins add to; a command of a plugin is imported when it is called."""

    own_commands: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """The group's own commands -> what a person wants with them, and their lines of the help."""

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest a similar command for an unknown one."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from jrh.document.positions import did_you_mean

            hint = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"No such command '{args[0]}'. {hint}".rstrip(), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands by what a person wants, without importing them."""
        sections: dict[str, list[tuple[str, str]]] = {purpose: [] for purpose in (*PURPOSES, "")}
        for name, (purpose, line) in sorted(self.listed_commands().items()):
            sections[purpose if purpose in PURPOSES else ""].append((name, line))
        for purpose, lines in sections.items():
            if lines:
                with formatter.section(PURPOSES.get(purpose, "Further commands" if self.own_commands else "Commands")):
                    formatter.write_dl(lines)

    def listed_commands(self) -> Mapping[str, tuple[str, str]]:
        """Return what a person wants with each command, and its line of the help."""
        extra = {
            name: (split_name(points[0].name)[0], summary_of(points)) for name, points in self.extra_commands().items()
        }
        return {**extra, **self.own_commands}


def plugin_commands(group: str = "") -> Mapping[str, list[EntryPoint]]:
    """Return the commands of plugins, by name; several plugins may provide the same name.

    Args:
        group: a group of commands, such as `plugins`, whose further commands are meant; empty: `jrh` itself.
    """
    from importlib.metadata import entry_points

    commands: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=COMMANDS), key=lambda point: (point.name, _distribution(point))):
        purpose_or_group, name = split_name(point.name)
        if ("" if purpose_or_group in PURPOSES else purpose_or_group) != group:
            continue
        known = commands.setdefault(name, [])
        # A distribution that lies twice on the path provides its commands once.
        if all((point.value, _distribution(point)) != (other.value, _distribution(other)) for other in known):
            known.append(point)
    return commands


def split_name(point: str) -> tuple[str, str]:
    """Return what is before the last dot in the name of an entry point, a purpose or a group, and the command."""
    before, _, command = point.rpartition(".")
    return before, command


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
    _, name = split_name(points[0].name)
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
