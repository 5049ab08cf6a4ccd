"""Test the contract of every declared stage."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

from jrh.plugins.loading import load_plugins
from jrh.plugins.registry import Entry
from jrh.plugins.specs import Spec, StageSpec
from jrh.running.declared_stages import in_order
from jrh.running.stage_work import work_of_store
from jrh.running.stages.summary import Summary, remember
from jrh.store.run_store import Store
from jrh.values.records import RecordTable
from jrh.values.report import RunReport

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import empty_report


class StageContract(ComponentContract):
    """Contract tests for every stage, in a run that has stored nothing."""

    role: ClassVar[type[Spec]] = StageSpec

    def test_the_order_can_be_kept(self) -> None:
        """If this fails: `after` and `before` contradict each other, or the order of jrh's own stages."""
        entry: Entry[Any] = Entry(spec=self.spec, distribution="its-plugin", version="1", plugin="its-plugin")
        placed = [stage.spec.name for stages in in_order([entry]).values() for stage in stages]
        assert placed == [self.spec.name]

    def test_a_run_without_records_is_no_error_and_its_report_stays_a_report(self, base: Path) -> None:
        """If this fails: a run may stop before anything is stored; have nothing to do then, or say what is missing."""
        report = empty_report()
        summary = Summary(
            suite=report.suite, run_id=report.run_id, version=report.version, seed=0, level=report.level, resamples=100,
            tasks=(), judges=(), simulated=(), tests=(), components=(),
        )  # fmt: skip
        # A real store: a stage declares tables, and its SQL is part of what can fail.
        store = Store.open(base / "run", report.suite)
        try:
            remember(store, summary)
            work = work_of_store(load_plugins(), store, summary, records=RecordTable.from_records(()))
            stage = self.build_component(base)
            if stage.applies(work):
                outcome = asyncio.run(stage.run(work))
                # An incomplete stage makes the exit code 3, which has no explanation without a note.
                assert outcome.complete or outcome.notes, "the stage is not complete and does not say why"
            assert isinstance(stage.report(report, work), RunReport), "`report` does not return the report"
        finally:
            store.close()
