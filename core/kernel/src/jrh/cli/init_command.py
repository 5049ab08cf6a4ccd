"""`jrh init`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from jrh.cli.shared_options import allowed, plugins_option
from jrh.plugins.loading import load_plugins
from jrh.text.telling import say


@click.command("init")
@click.argument("path", type=click.Path(path_type=Path), default=Path("suite.yaml"))
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@plugins_option
def command(path: Path, force: bool, plugins: str) -> int:
    """Write a commented, ready-to-run suite to PATH (default: suite.yaml). It needs no key and no network."""
    from jrh.suite.starter import starter_suite, write_suite

    text = starter_suite(load_plugins(allowed(plugins)).plugins, path.stem)
    write_suite(path, text, force=force)
    say(f"Wrote {path}. Next: {shlex.join(['jrh', 'run', str(path)])}")
    return 0
