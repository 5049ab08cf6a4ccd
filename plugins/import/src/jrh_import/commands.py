"""Define the commands `jrh check`, `jrh import` and `jrh init-from`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from jrh.cli.shared_options import plugins_option, typed_words
from jrh.text import FiniteRange, say, say_next


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--from", "source", metavar="TOOL", help="The tool that exported FILE, such as promptfoo.")
@click.option("--metric", metavar="NAME", help="With --from: the metric whose scores are the verdicts, or `output`.")
@click.option("--gold", metavar="FIELD", help="With --from: the field with the labels of people.")
@click.option("--scale", metavar="LABELS", help="With --from: 1-6, or YES,NO.  [default: from the labels]")
@click.option("--threshold", type=FiniteRange(), help="With --from: scores from here on pass.")
@click.option("--judge", metavar="NAME", help="With --from: the judge's name.")
@click.option(
    "--label", "labels", metavar="TEXT=LABEL", multiple=True, help="With --from: what TEXT means. Repeatable."
)
@click.option(
    "--option", "more", metavar="KEY=VALUE", multiple=True, help="With --from: its other options. Repeatable."
)
@click.option(
    "--run-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Run directory to create.  [default: runs/<name>]",
)
@plugins_option
def import_table(
    file: Path,
    *,
    source: str | None,
    labels: tuple[str, ...],
    more: tuple[str, ...],
    run_dir: Path | None,
    plugins: Sequence[str],
    **given: str | float | None,
) -> int:
    """Import verdicts that another tool collected as a run directory for `jrh report`.

    FILE is what the tool of --from exports: inspect, promptfoo, deepeval, langfuse, langsmith, phoenix, braintrust,
    mlflow, openai-evals, judgesense, judge-reliability-harness, or a tool that a plugin adds. Without --from,
    the tool is found by reading FILE; a YAML file says where a table is and what its columns mean.
    """
    # Imported inside the commands: `jrh --help` loads all of them.
    from jrh_interchange import read_pairs

    from jrh_import.importing import detect_tool, import_described, import_export

    read = {**given, "labels": _read_labels("--label", labels) or None, **read_pairs(more)}
    options = {name: value for name, value in read.items() if value is not None}
    # Options of --from are passed on: an importer that does not have them is not the one that is meant.
    if source is None:
        source = detect_tool(file, options, plugins)
    if source is not None:
        return import_export(file, source, options, run_dir, plugins)
    if options:
        raise click.UsageError(f"{', '.join(f'--{name}' for name in options)} belongs to --from")
    if file.is_dir():
        raise click.UsageError(
            f"'{file}' is a directory; give an import file, or name the tool that wrote it with --from"
        )
    return import_described(file, run_dir, plugins)


def _read_labels(option: str, pairs: Sequence[str]) -> dict[str, str]:
    """Read `TEXT=LABEL`; the last equals sign divides, as labels of a scale seldom hold one."""
    for pair in pairs:
        text, equals, label = pair.rpartition("=")
        if not (equals and text.strip() and label.strip()):
            raise click.UsageError(f"{option}: write TEXT=LABEL, such as accurate=YES; got '{pair}'")
    return {text.strip(): label.strip() for text, _, label in (pair.rpartition("=") for pair in pairs)}


@click.command("init-from")
@click.argument("config", type=click.Path(path_type=Path))
@click.argument("path", type=click.Path(path_type=Path), default=Path("suite.yaml"))
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
def init_from(config: Path, path: Path, force: bool) -> int:
    """Write a suite to PATH (default: suite.yaml) from a CONFIG of the Judge Reliability Harness.

    Comments in the suite say which settings have no counterpart. Makes no model calls.
    """
    from jrh_authoring import write_suite

    from jrh_import.harness_config import read_config, suite_of

    write_suite(path, suite_of(read_config(config), path), force=force)
    say(f"Wrote {path}.")
    say_next("plan", path)
    return 0


@click.command("check")
@click.argument("table", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--judge", "judges", metavar="COLUMN", multiple=True, help="Column with verdicts. Repeatable.  [default: guessed]"
)
@click.option(
    "--human", metavar="COLUMN", default="", help="Column with the labels that people gave.  [default: guessed]"
)
@click.option("--item", metavar="COLUMN", help="Column that names the item.  [default: every row is an item]")
@click.option("--group", metavar="COLUMN", help="Column that names what items share, such as their source.")
@click.option("--repeat", metavar="COLUMN", help="Column that numbers reruns of an item.")
@click.option(
    "--covariate",
    "covariates",
    metavar="COLUMN",
    multiple=True,
    help="Column that verdicts may depend on: an author, or the responses, for their length. Repeatable.",
)
@click.option("--reruns", is_flag=True, help="Rows of one item are reruns, in file order.")
@click.option("--scale", metavar="SCALE", help="`ordinal: 1-5`, `labels: YES, NO` or `pairwise`.  [default: guessed]")
@click.option("--missing", metavar="TEXT", multiple=True, help="Text that means no verdict. Repeatable.")
@click.option(
    "--within",
    type=FiniteRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Target half-width of the interval; the answer says how many items it takes.",
)
@click.option(
    "--at-least",
    type=FiniteRange(0, 1),
    help="Agreement that is enough: the answer then starts with Yes, No or Undecided.",
)
@click.option("--format", "shown", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--write-import",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the import file that gives the same numbers with `jrh import`.",
)
def check(table: Path, *, shown: str, write_import: Path | None, **question: Any) -> int:
    """Check judges against people: does each agree with them well enough?

    TABLE is a csv, tsv, jsonl, parquet or xlsx file with a column of verdicts per judge and a column of labels by
    people. Without --judge or --human, all columns that are not named are guessed. Needs no suite and makes no model
    calls.

    Exit codes: 0 answered, 2 the table cannot be checked.
    """
    from jrh_import.checking.answers import answers_of
    from jrh_import.checking.check_request import CheckRequest
    from jrh_import.checking.measurement import check_table, write_import_file
    from jrh_import.checking.rendering import as_json, as_text

    checked = check_table(CheckRequest(path=table, **question))
    answers = answers_of(checked)
    say(as_json(checked, answers) if shown == "json" else as_text(checked, answers), data=shown == "json")
    if write_import is not None:
        write_import_file(checked, write_import)
        if shown == "text":
            say(f"Import file: {write_import}")
    if shown == "text" and write_import is not None:
        say_next("import", write_import)
    elif shown == "text":
        # The table, so that a report with all measures can be made of it.
        say_next("check", *typed_words(), "--write-import", table.with_suffix(".import.yaml"))
    return 0
