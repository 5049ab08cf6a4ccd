"""`jrh init`, `jrh schema` and `jrh plugins doctor`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from jrh import JrhError
from jrh.cli.shared_options import plugins_option
from jrh.plugins.loading import load_plugins
from jrh.text import terminal

UNSOUND: Final = 3
"""Exit code of `jrh plugins doctor` where something is wrong."""


@click.command("init")
@click.argument("path", type=click.Path(path_type=Path), default=Path("suite.yaml"))
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@click.option("--preset", metavar="NAME", help="Begin with the data and task of a benchmark, such as llmbar.")
@click.option("--protocol", metavar="NAME", help="Write the suite of a protocol, such as minimum: a judge card.")
@click.option(
    "--data",
    metavar="PLACE",
    help="Your table (csv, tsv, jsonl, parquet, xlsx): columns and scale are guessed. With --preset: your copy of the "
    "benchmark, a file or folder; without it, the run downloads one.",
)
@click.option(
    "--column",
    "columns",
    metavar="TARGET=COLUMN",
    multiple=True,
    help="With --data: what a column is, such as label=grade; label= for none. Repeatable.",
)
@click.option(
    "--scale",
    metavar="SCALE",
    help="With --data: the scale, 1-6 or YES,NO; words in order: 'ordinal: poor, fair, good'.",
)
@click.option(
    "--label",
    "labels",
    metavar="TEXT=LABEL",
    multiple=True,
    help="With --data: what a text in the label column means, such as 1=A; empty: no label. Repeatable.",
)
@click.option(
    "--option",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="With --data: an option of the data source, such as encoding=latin-1 or delimiter=;. Repeatable.",
)
@click.option(
    "--judge",
    "judges",
    metavar="VENDOR/MODEL",
    multiple=True,
    help="A chat model that judges, such as openai/gpt-4o-mini; else the suite has one as a comment. Repeatable.",
)
@plugins_option
def init(
    path: Path,
    force: bool,
    preset: str | None,
    protocol: str | None,
    data: str | None,
    columns: tuple[str, ...],
    scale: str | None,
    labels: tuple[str, ...],
    settings: tuple[str, ...],
    judges: tuple[str, ...],
    plugins: Sequence[str],
) -> int:
    """Write a commented, ready-to-run suite to PATH (default: suite.yaml). Without --judge, it needs no key."""
    # In the command, as in the other ones: each needs another part of the package, and all of them share this file.
    from jrh_authoring.starter import LABELS, OwnTable, starter_suite, write_suite

    if (columns or scale or labels or settings) and (data is None or preset is not None):
        raise click.UsageError("--column, --scale, --label and --option go with --data FILE")
    if protocol and preset:
        raise click.UsageError("--protocol reads the items, and a preset may download them; choose one")
    table = written = None
    if data is not None:
        # A path on the command line is relative to the working directory, one in a suite to the suite.
        folder, place = path.absolute().parent, Path(data).absolute()
        written = (place.relative_to(folder) if place.is_relative_to(folder) else place).as_posix()
        if preset is None:
            table = OwnTable(
                path=Path(data),
                written=written,
                columns=_read_pairs("--column", "TARGET=COLUMN, such as label=grade", columns),
                scale=scale,
                labels=_read_pairs("--label", "TEXT=LABEL, such as 1=A", labels),
                settings=_read_pairs("--option", "KEY=VALUE, such as encoding=latin-1", settings),
            )
    loaded = load_plugins(plugins)
    text, said = starter_suite(
        loaded, path.stem, preset=preset, data=written, table=table, chat=judges, protocol=protocol
    )
    # Before the file is written: what was guessed is of use where it cannot be.
    for sentence in said:
        terminal.say(sentence)
    write_suite(path, text, force=force)
    terminal.say(f"Wrote {path}.")
    if f"{path.stem}{LABELS}" in text and not path.with_name(f"{path.stem}{LABELS}").exists():
        terminal.say_next("label", path, "--name", "first", "--name", "second")
    else:
        terminal.say_next("run", path)
    return 0


def _read_pairs(option: str, form: str, written: tuple[str, ...]) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in written]
    for entry, (key, equals, _) in zip(written, pairs, strict=True):
        if not (key.strip() and equals):
            raise click.UsageError(f"{option}: write {form}; got '{entry}'")
    return {key.strip(): value for key, _, value in pairs}


@click.command("schema")
@click.argument("what", type=click.Choice(["suite", "record", "results"]), default="suite")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Write all schemas to a directory.")
@plugins_option
def schema(what: str, output: Path | None, plugins: Sequence[str]) -> int:
    """Print the JSON Schema of suites (with the options of all installed components), records, or the JSON report."""
    from jrh_authoring.suite_schema import record_schema, results_schema, suite_schema, write_schemas

    installed = load_plugins(plugins).plugins
    if output is not None:
        try:
            paths = list(write_schemas(output, installed))
        except OSError as error:
            raise JrhError(f"cannot write into '{output}': {error.strerror or error}") from error
        for path in paths:
            terminal.say(f"Wrote {path}")
        return 0
    makers = {"suite": suite_schema, "results": results_schema}
    printed = makers[what](installed) if what in makers else record_schema()
    terminal.say(json.dumps(printed, indent=2, ensure_ascii=False), data=True)
    return 0


@click.command("doctor")
@plugins_option
def doctor(plugins: Sequence[str]) -> int:
    """Examine what is installed: versions, what did not load and why, unusable components, names that clash.

    Imports all components and builds those whose options have defaults. Exit code 3 for problems.
    """
    from importlib.metadata import version
    from platform import python_version

    from jrh import API_VERSION, __version__
    from jrh.cli import COMMANDS
    from rich.table import Table

    from jrh_authoring.doctor import examine, problems
    from jrh_authoring.listing import plugins_found, print_problems

    loaded = load_plugins(plugins)
    terminal.say(f"jrh {__version__}, plugin API {API_VERSION}, Python {python_version()}, attrs {version('attrs')}")
    table = Table("plugin", "version", "hooks")
    for plugin in plugins_found(loaded):
        table.add_row(plugin.distribution, plugin.version, ", ".join(plugin.hooks))
    terminal.show(table)
    components = examine(loaded.plugins)
    wrong = [*problems(loaded, list(COMMANDS)), *components.wrong]
    print_problems(wrong)
    if not wrong:
        terminal.say("No problems.")
    if components.unseen:
        terminal.say(f"\nNot examined, because only a suite can build them: {', '.join(components.unseen)}.")
        terminal.say("`jrh plan` examines the components of a suite.")
    return UNSOUND if wrong else 0
