"""Reports: their sections, which reporters write them, and documents on the disk: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeAlias

from attrs import evolve, fields_dict

from jrh.document.convert import to_text
from jrh.document.yaml_reader import parse_document
from jrh.errors import RAISED, JrhError, PluginError, Problem, StoreError, SuiteError
from jrh.plugins.protocols import Logger
from jrh.plugins.registry import Entry, Registry
from jrh.plugins.specs import ReporterSpec, ReportTarget, SectionSpec
from jrh.running.building import Builder
from jrh.running.outcome import Written
from jrh.running.without_suite import resolve_entry
from jrh.suite.resolved import Resolved
from jrh.text.redact import error_line
from jrh.values.json_values import Json
from jrh.values.report import ComponentUsed, RunReport
from jrh.values.sections import FindingRef, Importance, MeasureRef, Section, TablePart, TextPart

_ORDER: Final = tuple(Importance)


def with_sections(report: RunReport, builder: Builder, log: Logger) -> RunReport:
    """Return the report with the sections of all loaded plugins; one that breaks is a note."""
    sections: list[Section] = []
    notes: list[str] = []
    # Not in the order of loading, which installing another plugin may change.
    for entry in sorted(builder.plugins.sections, key=lambda entry: entry.spec.order):
        try:
            sections += _sections(entry, report, builder)
        except RAISED as error:  # one section must not cost the others
            log.warning("section raised", section=entry.spec.name, error=repr(error))
            notes.append(f"section '{entry.spec.name}' could not be written: {error_line(error)}")
    # The sort is stable: sections of the same importance stay in the order their plugins ask for.
    sections.sort(key=lambda section: _ORDER.index(section.importance))
    return evolve(report, sections=tuple(sections)).add_notes(notes)


def _sections(entry: Entry[SectionSpec], report: RunReport, builder: Builder) -> Iterator[Section]:
    # The JSON Schema of results knows no other kinds: a part of one would make every report invalid.
    kinds = (TablePart, TextPart, *entry.spec.part_kinds())
    for section in builder.build_default(entry, None).sections(report):
        if not isinstance(section, Section):
            raise TypeError(f"it yields {type(section).__name__}, not Section")
        check_section(section, report)
        for part in section.parts:
            if not isinstance(part, kinds):
                raise TypeError(f"it has a {type(part).__name__}, which its declaration does not list under kinds")
        if section.parts:
            yield evolve(section, name=entry.spec.name, title=entry.spec.title)


def check_section(section: Section, report: RunReport) -> None:
    """Refuse a section that no report could hold, or that refers to what the report does not have.

    Raises:
        TypeError: a value is no text.
        ValueError: a reference leads nowhere, or it is about a task or a judge that the report does not have.
    """
    if section.task not in {"", *(summary.task.name for summary in report.tasks)}:
        raise ValueError(f"it is about the task '{section.task}', which the report does not have")
    if section.judge not in {"", *report.judges}:
        raise ValueError(f"it is about the judge '{section.judge}', which the report does not have")
    for cell in (cell for part in section.parts for table in part.tables() for row in table.rows for cell in row.cells):
        if isinstance(cell, MeasureRef) and not 0 <= cell.measure < len(report.measures):
            raise ValueError(f"it refers to measure {cell.measure}; the report has {len(report.measures)}")
        if isinstance(cell, FindingRef) and not 0 <= cell.finding < len(report.findings):
            raise ValueError(f"it refers to finding {cell.finding}; the report has {len(report.findings)}")
    # What cannot be written as JSON would break the data report, where nothing names the plugin.
    to_text(section)


def find_reporters(
    registry: Registry[ReporterSpec],
    remembered: Sequence[ComponentUsed] | None,
    *,
    formats: Sequence[str] = (),
    settings: Sequence[str] = (),
) -> tuple[Resolved[ReporterSpec], ...]:
    """Find the reporters and their options.

    Args:
        registry: the reporters that are installed.
        remembered: those the suite named, with their options, of which the loaded ones count; None: it named none.
        formats: names of reporters; where empty, those the suite named, or the defaults.
        settings: options as `REPORTER.OPTION=VALUE`; the value is read as in a suite file.

    Raises:
        JrhError: a format is not installed, an option is wrong, or a setting is of a reporter that does not write.
    """
    known = {component.component: component.options for component in remembered or ()}
    if formats:
        entries = [registry.find(name) for name in dict.fromkeys(formats)]
    elif remembered is not None:
        loaded = {entry.qualified: entry for entry in registry}
        entries = [loaded[component] for component in known if component in loaded]
    else:
        entries = [entry for entry in registry if entry.spec.default]
    options: dict[str, dict[str, Json]] = {entry.qualified: dict(known.get(entry.qualified, {})) for entry in entries}
    for setting in settings:
        _set(options, entries, setting)
    return tuple(_resolve_reporter(entry, options[entry.qualified]) for entry in entries)


def _in_full(reporter: Resolved[ReporterSpec]) -> Resolved[ReporterSpec]:
    """Set the option `full` of a reporter that prints to the terminal, if it has one."""
    spec = reporter.entry.spec
    if spec.target is not ReportTarget.TERMINAL or "full" not in fields_dict(spec.options):
        return reporter
    return evolve(reporter, options=evolve(reporter.options, full=True))


def _makes_document(reporter: Resolved[ReporterSpec]) -> bool:
    return reporter.entry.spec.target is not ReportTarget.TERMINAL


def _set(options: dict[str, dict[str, Json]], entries: Sequence[Entry[Any]], setting: str) -> None:
    key, equals, text = setting.partition("=")
    name, dot, option = key.rpartition(".")
    if not (equals and dot and name and option):
        raise _wrong(setting, "write `REPORTER.OPTION=VALUE`, such as `markdown.details=false`")
    matches = [entry.qualified for entry in entries if name in (entry.spec.name, entry.qualified)]
    if not matches:
        writing = ", ".join(entry.spec.name for entry in entries)
        raise _wrong(setting, f"no report is written by '{name}'; these write: {writing or 'none'}")
    try:
        options[matches[0]][option] = parse_document(text, key).value
    except SuiteError as error:
        raise _wrong(setting, error.problems[0].message) from None


def _wrong(setting: str, message: str) -> SuiteError:
    return SuiteError([Problem(message=message, source=f"--set {setting}")])


def _resolve_reporter(entry: Entry[ReporterSpec], options: Mapping[str, Json]) -> Resolved[ReporterSpec]:
    try:
        return resolve_entry(entry, entry.spec.name, options)
    except JrhError as error:
        raise JrhError(f"reporter '{entry.spec.name}': {error}") from error


Content: TypeAlias = str | bytes | Iterable[bytes] | Mapping[str, str | bytes]
"""What a reporter returns for the disk: text, bytes, chunks of bytes, or files by name."""


def write_document(path: Path, content: Content) -> Path:
    """Write what a reporter made; an old file is replaced only by a whole new one.

    Args:
        path: the file, or the directory where the content is a mapping; it is made where it is missing. Files of other
            names that lie in a directory stay.
        content: the document.

    Raises:
        StoreError: it cannot be written.
        PluginError: a file of a directory has no plain name.
    """
    if not isinstance(content, Mapping):
        return _write(path, _chunks(content))
    # The names come from a plugin: none may lead out of the directory.
    odd = [name for name in content if PurePosixPath(name).name != name or "\\" in name or name in ("", ".", "..")]
    if odd:
        raise PluginError(f"'{odd[0]}' is not a plain file name")
    make_directory(path)
    # File by file: a directory cannot be replaced at once, and files of other names in it stay.
    for name, part in content.items():
        _write(path / name, _chunks(part))
    return path


def make_directory(path: Path) -> Path:
    """Make a directory where it is missing, and return it.

    Raises:
        StoreError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make '{path}': {error.strerror or error}") from error
    return path


def _chunks(content: str | bytes | Iterable[bytes]) -> Iterator[bytes]:
    if isinstance(content, str):
        # A lone surrogate, which JSON can hold, is no UTF-8.
        yield content.encode("utf-8", "replace")
    elif isinstance(content, bytes):
        yield content
    else:
        yield from content


def _write(path: Path, chunks: Iterator[bytes]) -> Path:
    # In the same directory, as a file is replaced at once only within a file system.
    partial = path.with_name(f".{path.name}.partial")
    try:
        # Open to those to whom its directory is: a run directory is its user's alone.
        mode = path.parent.stat().st_mode & 0o666
        partial.unlink(missing_ok=True)  # not written through: a run directory that somebody sent may hold links
        with open(partial, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            for chunk in chunks:
                file.write(chunk)
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write '{path}': {error.strerror or error}") from error
    finally:
        # The first error is the one to show.
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return path


def write_reports(
    builder: Builder,
    report: RunReport,
    run_dir: Path,
    log: Logger,
    *,
    full: bool = False,
    shown: RunReport | None = None,
    answer: Callable[[str], object] = str,
) -> Written:
    """Let every reporter of the suite write; one that breaks costs nothing but its own report.

    `full` asks the reporters of the terminal for everything they have. They are shown `shown` where it is given, and
    `answer` is called with what they made before each of the others, which take a while.
    """
    terminal: list[str] = []
    files: list[Path] = []
    problems: list[str] = []
    unwritten: list[StoreError] = []
    reporters = sorted(builder.resolved.reporters, key=_makes_document)
    for resolved in map(_in_full, reporters) if full else reporters:
        spec: ReporterSpec = resolved.entry.spec
        if _makes_document(resolved):
            answer("\n".join(terminal))
        try:
            content = builder.build(resolved).render(report if _makes_document(resolved) else shown or report)
            if spec.target is ReportTarget.TERMINAL:
                terminal.append(content if isinstance(content, str) else content.decode("utf-8"))
            else:  # that of a notebook too, where a suite names it
                files.append(write_document(run_dir / spec.filename, content))
        except StoreError as error:  # the others are still written; then this one is said
            unwritten.append(error)
        except RAISED as error:
            log.warning("reporter raised", reporter=resolved.use.name, error=repr(error))
            problems.append(f"reporter '{resolved.use.name}' failed: {error_line(error)}")
    if unwritten:
        raise unwritten[0]
    return Written(terminal="\n".join(terminal), files=tuple(files), problems=tuple(problems))
