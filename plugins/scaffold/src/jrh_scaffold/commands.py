"""`jrh plugins new`."""

from __future__ import annotations

from pathlib import Path

import click
from jrh.text import say

from jrh_scaffold.writing import SUMMARIES, Named, write_file, write_package


@click.command("new")
@click.argument("kind", type=click.Choice(list(SUMMARIES)))
@click.argument("name")
@click.option("--single-file", is_flag=True, help="One .py file for --plugins instead of a package.")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where to write it.  [default: the working directory]",
)
@click.option("--summary", default="", help="One line for `jrh plugins list`.")
def command(kind: str, name: str, single_file: bool, directory: Path, summary: str) -> int:
    """Write a plugin that works: a package with options, an example, tests and a workflow, or one file.

    NAME is what a suite will write, such as `polite`; the package is then `jrh-polite`.
    """
    named = Named.of(kind, name, summary)
    if single_file:
        path = write_file(named, directory)
        say(f"Wrote {path}. Next: jrh plugins show {named.name} --plugins {path}")
    else:
        named.check_free()
        path = write_package(named, directory)
        say(f"Wrote {path}. Next: pip install -e '{path}[dev]', then read {path / 'README.md'}")
    return 0
