"""What a plan has to know of each case, kept while cases are made, so that their texts are not read again for it."""

from __future__ import annotations

import struct
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from jrh.document.convert import unstructure
from jrh.hashing import content_id
from jrh.text.transcripts import without_passed_through
from jrh.values.cases import Case
from jrh.values.items import Task

_ROW: Final = struct.Struct("<16s16s16sQ?")
_IN_MEMORY: Final = 1 << 20
"""Bytes that are held before a temporary file takes them: of some 18,000 cases."""
_AT_ONCE: Final = 1000
"""Rows that are read at once."""


class AskedCase(NamedTuple):
    """A case as a plan sees it."""

    id: str
    task: str
    question: str
    """Equal for cases that differ in nothing a judge reads."""
    condition: str
    """Names the test, item and condition."""
    repeats: int
    unseen: bool
    """It changes only what a judge that reads no prompt never sees."""

    @classmethod
    def of(cls, case: Case, task: Task) -> AskedCase:
        """Return what a plan has to know of a case of a task."""
        condition = content_id(case.test, case.item_id, unstructure(case.condition), unstructure(case.sampling))
        return cls(case.id, case.task, question_id(case), condition, case.repeats, _unseen(case, task))


def question_id(case: Case) -> str:
    """Return the id of the question as put: equal for cases that differ in nothing a judge reads.

    How a model samples is left out: what a case sets may be what the suite sets for the model anyway. So is what the
    messages of a transcript only pass through: two runs of an agent that said the same have other message ids.
    """
    fields = {name: without_passed_through(value) for name, value in case.fields.items()}
    return content_id(case.task, fields, unstructure(case.prompt), unstructure(case.presented_task))


def _unseen(case: Case, task: Task) -> bool:
    settings = case.sampling.temperature, case.sampling.reasoning_effort, case.condition.output or None
    # What is asked about a criterion is in the fields, too.
    reworded = case.presented_task is not None and case.presented_task != task.presented(case.fields)
    return case.prompt is not None or reworded or any(each is not None for each in settings)


class AskedCases:
    """The cases of one test over one task in order, as a plan sees them; many wait in a temporary file."""

    def __init__(self, task: Task) -> None:
        """Start without cases."""
        self._task = task
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="jrh-plan-")  # noqa: SIM115 - as long as this
        weakref.finalize(self, self._file.close)

    def add(self, cases: Iterable[Case]) -> None:
        """Add cases, which have the ids that their content gives them."""
        rows = (AskedCase.of(case, self._task) for case in cases)
        packed = (
            _ROW.pack(*map(bytes.fromhex, (row.id, row.question, row.condition)), row.repeats, row.unseen)
            for row in rows
        )
        self._file.write(b"".join(packed))

    def clear(self) -> None:
        """Forget all cases."""
        self._file.seek(0)
        self._file.truncate()

    def __iter__(self) -> Iterator[AskedCase]:
        """Yield the cases in order; after this no more are added."""
        self._file.seek(0)
        while some := self._file.read(_AT_ONCE * _ROW.size):
            for case_id, question, condition, repeats, unseen in _ROW.iter_unpack(some):
                yield AskedCase(case_id.hex(), self._task.name, question.hex(), condition.hex(), repeats, unseen)
