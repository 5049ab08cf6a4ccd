"""Test the contract of every declared mode."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from attrs import evolve
from jrh.plugins.specs import ModeSpec, Spec
from jrh.suite.syntax import unfit_name
from jrh.values.items import Item, Task

from jrh_testing.contracts.base import ComponentContract

_NAME = "sample"


class ModeContract(ComponentContract):
    """Contract tests for every mode; `options` is a section `task`, and `items` fit its tasks."""

    role: ClassVar[type[Spec]] = ModeSpec

    def read(self, base: Path) -> tuple[Task, ...]:
        """Return the tasks of the section."""
        mistakes: list[str] = []
        tasks = tuple(self.build_component(base).tasks(_NAME, lambda message, *_: mistakes.append(message)))
        assert not mistakes, f"the section is refused: {mistakes[0]}"
        return tasks

    def expand(self, base: Path, task: Task, items: Iterable[Item] | None = None) -> list[Item]:
        """Return what the mode makes of items."""
        mistakes: list[str] = []
        expanded = list(
            self.build_component(base).expand_items(
                self.items_of(task) if items is None else items, task, mistakes.append
            )
        )
        assert not mistakes, f"an item is refused: {mistakes[0]}"
        return expanded

    def test_a_section_gives_tasks_with_names_that_begin_with_its_own(self, base: Path) -> None:
        """If this fails: name the only task as the section, and several `SECTION.PART`; a suite refers to them so."""
        names = [task.name for task in self.read(base)]
        assert names, "the section gives no task"
        assert len(set(names)) == len(names), "two tasks have the same name"
        for name in names:
            assert name == _NAME or name.startswith(f"{_NAME}."), f"'{name}' does not begin with '{_NAME}.'"
            assert not unfit_name(name), unfit_name(name)

    def test_reading_a_section_twice_gives_the_same(self, base: Path) -> None:
        """If this fails: a run that is continued would plan other questions."""
        assert self.read(base) == self.read(base)
        for task in self.read(base):
            assert self.expand(base, task) == self.expand(base, task)

    def test_items_have_distinct_ids_and_the_fields_that_a_judge_of_the_task_sees(self, base: Path) -> None:
        """If this fails: give each item of a response an id of its own, and keep the fields of the data."""
        for task in self.read(base):
            items = self.expand(base, task)
            assert items, "there is no item"
            assert len({item.id for item in items}) == len(items), "two items have the same id"
            for item in items:
                assert set(task.judged_fields) <= set(item.fields), f"item '{item.id}' lacks a judged field"
                assert item.gold is None or item.gold in task.scale, f"'{item.gold}' is not on the scale"

    def test_items_of_one_response_are_one_cluster(self, base: Path) -> None:
        """If this fails: the verdicts on a response depend on each other; give its items the group of the response."""
        for task in self.read(base):
            for response in self.items_of(task):
                # Without a group of its own the response itself has to be the group.
                groups = {item.group for item in self.expand(base, task, [evolve(response, group="")])}
                assert len(groups) == 1, f"the items of '{response.id}' are of {len(groups)} groups"
