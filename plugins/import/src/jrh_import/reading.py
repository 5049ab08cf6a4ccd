"""Read the import file and help users who pass the table instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from jrh import JrhError, SuiteError
from jrh_interchange import read_settings

from jrh_import.mapping import Format, ImportFile

_SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Suffixes of import files."""
_TABLES: Final = tuple(f".{each.value}" for each in Format)
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
    if file.suffix.lower() in _TABLES and file.is_file():
        exported = f"{_EXPORTED} " if file.suffix.lower() == ".jsonl" else ""
        raise JrhError(f"'{file}' is a table. {exported}{_told(file)}")
    try:
        return read_settings(file, ImportFile)
    except SuiteError as error:
        if file.suffix.lower() == ".json" and any(each.message == _NO_PATH for each in error.problems):
            raise JrhError(f"'{file}' is not an import file: it has no key `path`. {_EXPORTED}") from error
        if file.is_file() and (file.suffix.lower() not in _SUFFIXES or _is_no_mapping(error)):
            raise JrhError(f"{error}\n{_told(file.with_name('verdicts.csv'))}") from error
        raise


def _is_no_mapping(error: SuiteError) -> bool:
    only, *more = error.problems
    return not more and only.message.startswith(_NO_MAPPING) and (only.line or 1, only.column or 1) == (1, 1)


def _told(table: Path) -> str:
    description = table.with_suffix(".yaml").name
    smallest = _SMALLEST.format(name=json.dumps(table.stem), path=json.dumps(table.name))
    return (
        "`jrh import` takes a YAML file that says where the table is and what its columns mean. A minimal one, "
        f"'{description}' in the same directory:\n\n{smallest}\n"
        "Replace `id`, `model`, `verdict` and `human` with your own columns; leave `gold` out without gold labels."
    )
