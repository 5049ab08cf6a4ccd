"""`jrh plugins`: its commands are those of plugins."""

from __future__ import annotations

import click

from jrh.cli import plugin_commands


@click.group("plugins", cls=plugin_commands.ExtendedGroup)
def command() -> None:
    """List installed components and plugins that failed to load."""
