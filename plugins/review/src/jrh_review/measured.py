"""Findings and measures of a run: as stored, or computed once where an import has none."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from attrs import define, field, frozen
from jrh import Measure, open_run
from jrh.running import RunFindings, StoredRun

from jrh_review.lenses import KEYS


@frozen(kw_only=True)
class _Computed:
    findings: RunFindings
    measures: tuple[Measure, ...]
    """Of whole tests, under a lens."""


@define
class Measured:
    """Reads findings and measures; what had to be computed is kept while the records stay the same."""

    _kept: dict[tuple[Path, str], _Computed] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def findings(self, run: StoredRun, path: Path) -> RunFindings | None:
        """Return the findings; None where the run has not come to them."""
        return run.findings() or (self._computed(run, path).findings if run.state().imported else None)

    def measures(self, run: StoredRun, path: Path, task: str) -> tuple[Measure, ...]:
        """Return the measures of whole tests of a task that a lens shows."""
        if run.findings() is None and run.state().imported:
            return tuple(each for each in self._computed(run, path).measures if each.task == task)
        return run.measures(task, KEYS)

    def _computed(self, run: StoredRun, path: Path) -> _Computed:
        key = path, run.version()
        with self._lock:  # two tabs, one computation
            if key not in self._kept:
                self._kept.clear()
                with open_run(path, measure=True) as report:
                    shown = [each for each in report.measures if each.name in KEYS and not each.cell]
                    found = RunFindings(findings=report.findings, family=report.family)
                self._kept[key] = _Computed(findings=found, measures=tuple(shown))
            return self._kept[key]
