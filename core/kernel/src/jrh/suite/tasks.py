"""What a suite asks and of which items: `data` and `task`, or `tasks`."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from jrh.document.nodes import Node
from jrh.errors import JrhError, SuiteError
from jrh.plugins.registry import Plugins
from jrh.suite.definition import DataUse, TaskUse
from jrh.suite.parse_entry import read_flat_entry
from jrh.suite.rubrics import read_rubric
from jrh.suite.syntax import DATA, WrittenCriteriaTask, WrittenTask, unfit_name
from jrh.values.scales import ScaleKind
from jrh.values.types import Mode, Task


@frozen(kw_only=True)
class Section:
    """What could be read of one `data` and `task`."""

    tasks: Sequence[Task] = ()
    """One, or one per entry of a rubric file."""
    data: DataUse | None = None

    def uses(self) -> list[TaskUse]:
        """Return the tasks with their data, where both could be read."""
        return [] if self.data is None else [TaskUse(task=task, data=self.data) for task in self.tasks]


def read_tasks(suite: Node, name: str, plugins: Plugins) -> list[Section]:
    """Read all tasks of a suite; the only one has the suite's name."""
    if "tasks" not in suite.value:
        return [read_task(suite, name, plugins)]
    for key in ("data", "task"):
        if key in suite.value:
            suite.report("cannot be combined with `tasks`; move it into one of the tasks", key)
    sections = [_named_task(entry, plugins) for entry in suite.entries("tasks")]
    if suite.value["tasks"] == []:
        suite.report("name at least one task", "tasks")
    return sections


def read_task(node: Node, name: str, plugins: Plugins) -> Section:
    """Read a mapping that holds `data` and `task`."""
    data = None if (section := node.section("data")) is None else read_data(section, plugins)
    tasks = () if (section := node.section("task")) is None else _read_question(section, name)
    return Section(tasks=tasks, data=data)


def read_data(node: Node, plugins: Plugins) -> DataUse | None:
    """Read a section `data`."""
    if DATA.key not in node.value:
        node.report("missing key 'source': name the data source, such as `source: csv`")
        return None
    written = read_flat_entry(node, DATA, plugins)
    return None if written is None else DataUse(**written.common(), sample=written.settings.sample)


def read_name(node: Node) -> str:
    """Read the key `name`, which has to be there and to be fit for one."""
    name = node.required("name", str, default="")
    if node.value.get("name") == "":
        node.report("the name is empty", "name")
    elif name and (unfit := unfit_name(name)):
        node.report(unfit, "name")
    return name


def _named_task(node: Node, plugins: Plugins) -> Section:
    if not node.is_mapping("a mapping with name, data and task"):
        return Section()
    node.allow_keys(("name", "data", "task"))
    return read_task(node, read_name(node), plugins)


def _read_question(node: Node, name: str) -> Sequence[Task]:
    """Read a section `task`."""
    if "criteria" in node.value:
        return _read_criteria(node, name)
    written = node.try_read(WrittenTask)
    if written is None:
        return ()
    try:
        return (written.task(name),)
    except JrhError as error:
        node.report(str(error), "mode")
        return ()


def _read_criteria(node: Node, name: str) -> Sequence[Task]:
    """Read a task for every entry of a rubric file."""
    written = node.try_read(WrittenCriteriaTask)
    if written is None:
        return ()
    scale = written.scale.scale() if written.scale else None
    if written.mode is Mode.PAIRWISE or (scale is not None and scale.kind is ScaleKind.PAIRWISE):
        node.report("criteria are judged one answer at a time; neither `mode` nor `scale` can be pairwise")
        return ()
    if not written.criteria.file.is_file():
        node.report(f"there is no file '{written.criteria.file}'", "criteria", "file")
        return ()
    try:
        rubric = read_rubric(written.criteria.file)
    except SuiteError as error:
        node.problems.extend(error.problems)
        return ()
    entries, unknown = rubric.chosen(written.criteria.targets)
    for position, message in unknown:
        node.report(message, "criteria", "targets", position)
    return [
        entry.task(name, instruction=written.instruction.content, scale=scale, mode=written.mode) for entry in entries
    ]
