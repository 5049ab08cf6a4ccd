"""`jrh init`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from jrh.cli.shared_options import allowed, plugins_option
from jrh.errors import JrhError
from jrh.plugins.loading import load_plugins
from jrh.text.telling import say


@click.command("init")
@click.argument("path", type=click.Path(path_type=Path), default=Path("suite.yaml"))
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@plugins_option
def command(path: Path, force: bool, plugins: str) -> int:
    """Write a commented, ready-to-run suite to PATH (default: suite.yaml). It needs no key and no network."""
    from jrh.suite.starter import starter_suite

    text = starter_suite(load_plugins(allowed(plugins)).plugins, path.stem)
    if path.is_dir():
        raise JrhError(f"'{path}' is a directory; name a file, such as {path / 'suite.yaml'}")
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise JrhError(f"'{path}' exists already; use --force to overwrite it") from None
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error
    say(f"Wrote {path}. Next: {shlex.join(['jrh', 'run', str(path)])}")
    return 0
