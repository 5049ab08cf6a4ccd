"""Do the work of `jrh import`: find the tool, bring verdicts into a run directory, say what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jrh import JrhError, Json, Status, SuiteError
from jrh.text import count_noun, say, say_next
from jrh.values import ImportedLog
from jrh_interchange import import_records, measurement_gaps, read_export, read_settings, tools_of

from jrh_import.mapping import Format, ImportFile
from jrh_import.tables import read_table
from jrh_import.verdicts import read_verdicts

_EXPORTS: Final = (".json", ".jsonl", ".ndjson", ".eval")
"""Suffixes of what tools export."""


def detect_tool(file: Path, options: Mapping[str, Json], plugins: Sequence[str]) -> str | None:
    """Return the tool that wrote a file or a folder, and say so; None where no importer takes it.

    Raises:
        JrhError: several do.
    """
    # Descriptions are YAML, and a table of another kind needs one: neither is shown to the importers.
    if not file.is_dir() and not (file.is_file() and file.suffix.lower() in _EXPORTS):
        return None
    tools = tools_of(file, options, plugins)
    # Importing it as the wrong tool would give wrong verdicts without an error.
    if len(tools) > 1:
        raise JrhError(f"'{file}' may be from {' or '.join(tools)}; name the tool with --from")
    if tools:
        say(f"'{file}' was written by {tools[0]}: read with --from {tools[0]}.")
    return tools[0] if tools else None


def import_export(
    file: Path, source: str, options: Mapping[str, Json], run_dir: Path | None, plugins: Sequence[str]
) -> int:
    """Import the export of a tool, and say what came of it; return the exit code."""
    log = read_export(file, source, options, plugins)
    # `.` has no name until it is resolved.
    name = file.resolve().name if file.is_dir() else file.stem
    not_read = [f"Not imported from {source}: {'; '.join(log.unmapped)}."] if log.unmapped else []
    items = {record.item_id for record in log.records}
    target = _import_log(
        log, name, run_dir, len(items), plugins=plugins, notes=(*log.notes, *not_read), metrics=log.metrics
    )
    lost = sum(record.status is not Status.OK for record in log.records)
    if lost:
        say(f"Missing: {lost} of {len(log.records)}; they have a status instead of a label.")
    for note in log.notes:
        say(note)
    _say_list("Not mapped", log.unmapped)
    say_what_to_do(target, measurement_gaps(log.tasks, log.records))
    return 0


def import_described(file: Path, run_dir: Path | None, plugins: Sequence[str]) -> int:
    """Import the table that a description leads to, and say what came of it; return the exit code."""
    mapping = read_description(file)
    tasks = mapping.build_tasks()
    table = read_table(mapping.path, mapping.table_format(), mapping.delimiter, neutralised=mapping.is_neutralised())
    log = read_verdicts(table, mapping, tasks)
    target = _import_log(
        log,
        mapping.name,
        run_dir,
        len({(record.task, record.item_id) for record in log.records}),
        notes=mapping.notes,
        plugins=plugins,
        level=mapping.level,
        resamples=mapping.resamples,
        seed=mapping.seed,
        # The file, not the value: mistakes in it are reported with their lines.
        metrics=None if mapping.metrics is None else file,
        findings=mapping.findings,
    )
    say_what_to_do(target, measurement_gaps(tasks, log.records))
    return 0


def _import_log(log: ImportedLog, name: str, run_dir: Path | None, items: int, **settings: Any) -> Path:
    """Write a run directory, and say how many verdicts it holds; return the directory."""
    target = run_dir or Path("runs") / name
    count = import_records(target, name, log.tasks, log.records, items=log.items, origins=log.origins, **settings)
    judges = len({record.judge for record in log.records})
    say(f"Imported {count} verdicts of {count_noun(judges, 'judge')} on {count_noun(items, 'item')} into {target}.")
    return target


def say_what_to_do(target: Path, gaps: Sequence[str]) -> None:
    """Say what the log does not allow to measure, and what to do with what was imported."""
    _say_list("Not measurable from this log", gaps)
    say_next("report", target)


def _say_list(heading: str, entries: Sequence[str]) -> None:
    if entries:
        say("\n- ".join([f"\n{heading}:", *entries]))


_SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Suffixes of import files."""
_TABLES: Final = tuple(f".{kind.value}" for kind in Format)
# Beginnings of messages of the kernel, which tell a table from a broken import file.
_NO_MAPPING: Final = "expected a mapping"
_NO_PATH: Final = "missing key 'path'"
_EXPORTED: Final = "If another tool exported it, name the tool, such as `--from promptfoo`."
_SMALLEST: Final = """\
  name: {name}
  path: {path}
  task: {{scale: {{labels: ["YES", "NO"]}}}}
  columns: {{item: id, judge: model, label: verdict, gold: human}}
"""


def read_description(file: Path) -> ImportFile:
    """Read an import file.

    Raises:
        JrhError: It is not an import file; if it looks like the table itself, the text shows a minimal import file.
    """
    if file.exists() and not file.is_file():  # reading a pipe waits until somebody writes to it
        raise JrhError(f"'{file}' cannot be read: it is not a regular file")
    # The usual first attempt is to import the table itself: show the file that is needed.
    if file.suffix.lower() in _TABLES and file.is_file():
        exported = f"{_EXPORTED} " if file.suffix.lower() == ".jsonl" else ""
        raise JrhError(f"'{file}' is a table. {exported}{_minimal_example(file)}")
    try:
        return read_settings(file, ImportFile)
    except SuiteError as error:
        if file.suffix.lower() == ".json" and any(problem.message == _NO_PATH for problem in error.problems):
            raise JrhError(f"'{file}' is not an import file: it has no key `path`. {_EXPORTED}") from error
        if file.is_file() and (file.suffix.lower() not in _SUFFIXES or _is_no_mapping(error)):
            raise JrhError(f"{error}\n{_minimal_example(file.with_name('verdicts.csv'))}") from error
        raise


def _is_no_mapping(error: SuiteError) -> bool:
    # A list or a text at the top is no import file at all; any other mistake is one in an import file.
    only, *more = error.problems
    return not more and only.message.startswith(_NO_MAPPING) and (only.line or 1, only.column or 1) == (1, 1)


def _minimal_example(table: Path) -> str:
    description = table.with_suffix(".yaml").name
    # JSON is YAML: names with quotes or colons stay valid.
    smallest = _SMALLEST.format(name=json.dumps(table.stem), path=json.dumps(table.name))
    return (
        "`jrh import` takes a YAML file that says where the table is and what its columns mean. A minimal one, "
        f"'{description}' in the same directory:\n\n{smallest}\n"
        "Replace `id`, `model`, `verdict` and `human` with your own columns; leave `gold` out without gold labels."
    )
