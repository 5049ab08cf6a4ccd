"""The modes of judging: those of jrh, declared as plugins declare theirs, and the one that a section `task` is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import frozen

from jrh.document.convert import collect
from jrh.document.nodes import Node
from jrh.document.option_types import field_names
from jrh.document.positions import Document, Location
from jrh.document.yaml_reader import read_document
from jrh.errors import JrhError, SuiteError
from jrh.plugins.factories import make
from jrh.plugins.protocols import TaskMode
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import ModeSpec
from jrh.suite.syntax import WrittenTask, unfit_name
from jrh.values.items import Item, Mode, Task
from jrh.version import __version__

T = TypeVar("T")


@frozen
class OneVerdict:
    """One verdict on every item of the data, in the mode that is written or that the scale implies."""

    written: WrittenTask

    def tasks(self, name: str, report: Callable[..., None]) -> Sequence[Task]:
        """Return the only task."""
        try:
            return (self.written.task(name),)
        except JrhError as error:
            report(str(error), "mode")
            return ()

    def expand_items(self, items: Iterable[Item], task: Task, problem: Callable[[str], None]) -> Iterable[Item]:  # noqa: ARG002
        """Return the items as they are."""
        return items


_SHOWN: Final[Mapping[Mode, str]] = {
    Mode.POINTWISE: "one response",
    Mode.PAIRWISE: "two responses or more",
    Mode.TRANSCRIPT: "the transcript of an agent",
}
OWN: Final = tuple(
    Entry(
        spec=ModeSpec(name=mode.value, summary=f"one verdict on {shown}", options=WrittenTask, factory=OneVerdict),
        distribution="jrh-core",
        version=__version__,
        plugin="jrh",
    )
    for mode, shown in _SHOWN.items()
)
"""The modes of jrh; the first one is that of a section without `mode`."""


def all_modes(plugins: Plugins) -> Registry[ModeSpec]:
    """Return the modes of jrh and of plugins."""
    return Registry(plugins.modes.role, (*OWN, *plugins.modes), plugins.problems)


def read_tasks(node: Node, name: str, plugins: Plugins) -> tuple[Sequence[Task], TaskMode | None]:
    """Read a section `task` in its mode: one task or several, and what makes their items."""
    try:
        chosen = _mode_of(node, all_modes(plugins))
    except JrhError as error:
        node.report(str(error), "mode")
        return (), None
    written: Any = node.try_read(chosen.spec.options)
    if written is None:
        return (), None
    known = len(node.problems)
    try:
        mode: TaskMode = make(chosen, written, None)
        tasks = tuple(mode.tasks(name, node.report))
    except SuiteError as error:
        node.problems.extend(error.problems)
        return (), None
    except JrhError as error:
        node.report(str(error))
        return (), None
    for task in tasks:
        if task.name != name and (unfit := unfit_name(task.name)):
            node.report(unfit)
    return (tasks if len(node.problems) == known else ()), mode


def _mode_of(node: Node, modes: Registry[ModeSpec]) -> Entry[ModeSpec]:
    """Return the mode that has a key of the section to itself, or else the one that `mode` names."""
    usual = field_names(WrittenTask)
    for entry in modes:
        if any(key in node.value for key in field_names(entry.spec.options) if key not in usual):
            return entry
    written = node.value.get("mode")
    return modes.find(written) if isinstance(written, str) else OWN[0]


def read_file(path: Path, kind: type[T], check: Callable[[T], Iterable[tuple[Location, str]]] | None = None) -> T:
    """Read a YAML or JSON file that a section names as a type, strictly.

    Args:
        path: the file.
        kind: attrs classes, lists of them and so on, as the options of components.
        check: finds what is wrong with the value, each with the keys and positions of its place.

    Raises:
        SuiteError: with every mistake of the file, each with its line and column.
    """
    document: Document = read_document(path)
    value, problems = collect(document.value, kind, base=path.parent, document=document)
    if value is not None and check is not None:
        problems = [document.wrong(at, message) for at, message in check(value)]
    if problems or value is None:
        raise SuiteError(problems)
    return value
