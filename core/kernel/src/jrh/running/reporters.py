"""Which reporters write the reports of a run that is there: no suite is at hand, only what the run remembers of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, fields_dict

from jrh.document.convert import structure
from jrh.document.yaml_reader import parse_document
from jrh.errors import JrhError, Problem, SuiteError
from jrh.plugins.registry import Entry, Registry
from jrh.plugins.specs import ReporterSpec, ReportTarget
from jrh.suite.definition import Use
from jrh.suite.resolved import Resolved
from jrh.values.json_values import Json
from jrh.values.report import ComponentUsed


def chosen_reporters(
    registry: Registry[ReporterSpec],
    remembered: Sequence[ComponentUsed] | None,
    *,
    formats: Sequence[str] = (),
    settings: Sequence[str] = (),
) -> tuple[Resolved[ReporterSpec], ...]:
    """Find the reporters and their options.

    Args:
        registry: the reporters that are installed.
        remembered: those the suite named, with their options; None: it named none.
        formats: names of reporters; where empty, those the suite named, or the defaults.
        settings: options as `REPORTER.OPTION=VALUE`; the value is read as in a suite file.

    Raises:
        JrhError: a reporter is not installed, an option is wrong, or a setting is of a reporter that does not write.
    """
    known = {each.component: each.options for each in remembered or ()}
    if formats:
        entries = [registry.find(name) for name in dict.fromkeys(formats)]
    elif remembered is not None:
        entries = [registry.find(each.component) for each in remembered]
    else:
        entries = [entry for entry in registry if entry.spec.default]
    options: dict[str, dict[str, Json]] = {entry.qualified: dict(known.get(entry.qualified, {})) for entry in entries}
    for setting in settings:
        _set(options, entries, setting)
    return tuple(_resolved(entry, options[entry.qualified]) for entry in entries)


def in_full(reporters: Sequence[Resolved[ReporterSpec]]) -> tuple[Resolved[ReporterSpec], ...]:
    """Set the option `full` of the reporters that print to the terminal and have one."""
    return tuple(
        evolve(each, options=evolve(each.options, full=True)) if _can_be_full(each) else each for each in reporters
    )


def _can_be_full(reporter: Resolved[ReporterSpec]) -> bool:
    spec = reporter.entry.spec
    return spec.target is ReportTarget.TERMINAL and "full" in fields_dict(spec.options)


def _set(options: dict[str, dict[str, Json]], entries: Sequence[Entry[Any]], setting: str) -> None:
    key, equals, text = setting.partition("=")
    name, dot, option = key.rpartition(".")
    if not (equals and dot and name and option):
        raise _wrong(setting, "write `REPORTER.OPTION=VALUE`, such as `markdown.details=false`")
    found = [entry.qualified for entry in entries if name in (entry.spec.name, entry.qualified)]
    if not found:
        writing = ", ".join(entry.spec.name for entry in entries)
        raise _wrong(setting, f"no report is written by '{name}'; these write: {writing or 'none'}")
    try:
        options[found[0]][option] = parse_document(text, key).value
    except SuiteError as error:
        raise _wrong(setting, error.problems[0].message) from None


def _wrong(setting: str, message: str) -> SuiteError:
    return SuiteError([Problem(message=message, source=f"--set {setting}")])


def _resolved(entry: Entry[ReporterSpec], options: Mapping[str, Json]) -> Resolved[ReporterSpec]:
    try:
        read: object = structure(dict(options), entry.spec.options)
    except JrhError as error:
        raise JrhError(f"reporter '{entry.spec.name}': {error}") from error
    return Resolved(use=Use(name=entry.spec.name, component=entry.qualified), entry=entry, options=read)
