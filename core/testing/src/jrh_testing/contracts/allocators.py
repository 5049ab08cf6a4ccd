"""Test the contract of every allocator."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import ClassVar, Final

import pytest
from jrh.plugins.specs import AllocatorSpec, Spec
from jrh.running.stages.allocation import records_shown
from jrh.values.records import RecordTable
from jrh.values.verdicts import COLUMNS

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import JUDGES, sample_records

MISSING: Final = pytest.mark.parametrize("missing", [0.0, 0.1, 1.0])
"""Share of the trials that have no verdict."""
_SILENT: Final = "never-asked"
"""A judge that is made for no task so far has no records."""


class AllocatorContract(ComponentContract):
    """Contract tests for every allocator, on records with the columns that a run shows it."""

    role: ClassVar[type[Spec]] = AllocatorSpec

    def records(self, missing: float) -> RecordTable:
        """Return the records of two judges as a run shows them."""
        rows = sample_records(missing=missing)
        columns = {name: [_plain(getattr(row, name)) for row in rows] for name in COLUMNS}
        # The columns that the declaration asks for: a run hides all others, so that no undeclared one is relied on.
        return records_shown(self.spec, [columns])

    def test_a_batch_has_items(self, base: Path) -> None:
        """If this fails: `batch` is the number of items of every task between two decisions, at least 1."""
        assert isinstance(self.build_component(base).batch, int)
        assert self.build_component(base).batch >= 1

    @MISSING
    def test_it_keeps_some_of_the_judges_that_were_asked(self, base: Path, missing: float) -> None:
        """If this fails: return names out of `judges`; a judge that was dropped before cannot come back."""
        allocator, records = self.build_component(base), self.records(missing)
        # None left is a legal state: all judges of a task may have been dropped before.
        for judges in ((*JUDGES, _SILENT), JUDGES[:1], ()):
            assert set(allocator.keep(judges, 1, records)) <= set(judges)

    @MISSING
    def test_what_it_decides_follows_from_its_arguments(self, base: Path, missing: float) -> None:
        """If this fails: a clock, chance or an earlier call has a say, so that a continued run may decide otherwise."""
        allocator, records = self.build_component(base), self.records(missing)
        first = [set(allocator.keep(JUDGES, batch, records)) for batch in (1, 2, 3)]
        # Backwards: a continued run asks again about batches that it has decided already.
        assert [set(allocator.keep(JUDGES, batch, records)) for batch in (3, 2, 1)] == first[::-1]
        assert [set(self.build_component(base).keep(JUDGES, batch, records)) for batch in (1, 2, 3)] == first


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value
