"""The rubric store, a SQLite file: rubrics in versions, responses, and what people graded by which version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from attrs import frozen
from jrh import Item, JrhError, Scale, ScaleKind, Task

from acme_judge.options import RubricTask, StoreOptions

OLDER = "older rubric"


def rows(path: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query.

    Raises:
        JrhError: the file is no rubric store.
    """
    try:
        # Read only: a path that is mistyped makes no new file.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as store:
            return store.execute(sql, values).fetchall()
    except sqlite3.Error as error:
        raise JrhError(f"cannot read the rubric store '{path}': {error}") from error


@frozen
class RubricMode:
    """Makes a task of a rubric."""

    section: RubricTask

    def tasks(self, name: str, report: Callable[..., None]) -> list[Task]:
        """Return the rubric's task; a rubric that the store does not have is a mistake of the suite."""
        rubric, version = self.section.rubric.split("@")
        sql = "SELECT instruction, text, grades FROM rubrics WHERE name = ? AND version = ?"
        for instruction, text, grades in rows(self.section.store, sql, rubric, int(version)):
            return [
                Task(
                    name=name,
                    instruction=instruction,
                    rubric=text,
                    scale=Scale(kind=ScaleKind.ORDINAL, labels=tuple(grades.split(","))),
                )
            ]
        report(f"the store has no rubric '{self.section.rubric}'")
        return []

    def expand_items(self, items: Iterable[Item], _task: Any, _problem: Callable[[str], None]) -> Iterator[Item]:
        """Yield the items as they are."""
        yield from items


@frozen
class GradedResponses:
    """Reads the responses that people graded by a rubric, in the order of their ids."""

    options: StoreOptions

    def read(self) -> Iterator[Item]:
        """Yield an item per response. A grade by an older version of the rubric counts, in a stratum of its own."""
        rubric, version = self.options.rubric.split("@")
        sql = (
            "SELECT id, request, response, grade, author, version FROM responses "
            "WHERE rubric = ? AND version <= ? ORDER BY id"
        )
        for key, request, response, grade, author, graded_by in rows(self.options.path, sql, rubric, int(version)):
            yield Item(
                id=str(key),
                fields={"request": request, "response": response},
                gold=grade,
                gold_source="one-person",
                group=author,
                stratum=OLDER if graded_by < int(version) else "this rubric",
                origin=f"{self.options.path.name}:{key}",
            )
