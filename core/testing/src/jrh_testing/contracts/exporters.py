"""Test the contract of every exporter."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import ClassVar

from jrh.plugins.specs import ExporterSpec, Spec
from jrh.values.report import RunReport

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import SIMULATED, empty_report, marked_report, sample_report


class ExporterContract(ComponentContract):
    """Contract tests for every exporter. The working directory is empty; a tool behind a network overrides `held`."""

    role: ClassVar[type[Spec]] = ExporterSpec

    def sent(self, base: Path, report: RunReport) -> list[str]:
        """Build the exporter and export the report; return its sentences."""
        spec = self.spec
        assert isinstance(spec, ExporterSpec)
        attached = [base / "attached" / f"report.{name}" for name in spec.attach]
        for file in attached:
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"A report as {file.suffix}.\n", encoding="utf-8")
        work = base / "work"
        work.mkdir(exist_ok=True)
        with chdir(work):
            return list(self.built(base).export(report, attached))

    def held(self, base: Path) -> Mapping[str, bytes]:
        """Return what the other tool holds, by name: the files in the working directory."""
        return {file.name: file.read_bytes() for file in sorted((base / "work").rglob("*")) if file.is_file()}

    def test_an_export_says_what_went_where(self, base: Path) -> None:
        """If this fails: yield at least one sentence, each of one line, and write or send something."""
        told = self.sent(base, sample_report())
        assert told, "no sentence says what was exported"
        assert all(isinstance(each, str) and each.strip() and "\n" not in each for each in told), told
        assert any(self.held(base).values()), "nothing was exported"

    def test_exporting_twice_adds_nothing(self, base: Path) -> None:
        """If this fails: derive names and ids from the run, so that the second export replaces the first."""
        self.sent(base, sample_report())
        first = dict(self.held(base))
        self.sent(base, sample_report())
        assert dict(self.held(base)) == first, "the second export of the same run differs from the first"

    def test_simulated_judges_are_marked(self, base: Path) -> None:
        """If this fails: a reader of the other tool cannot tell simulated answers from measured ones.

        Ask `report.simulated`: a flag of a measure need not be there, and a column that always says no marks nothing.
        """
        self.sent(base, marked_report(frozenset()))
        before = dict(self.held(base))
        self.sent(base, marked_report())
        changed = {name: content for name, content in self.held(base).items() if before.get(name) != content}
        assert changed, "the export is the same if a judge is simulated and if it is not"
        for name, content in changed.items():
            named = any(judge.encode() in content for judge in SIMULATED)
            assert not named or b"simulated" in content.lower(), f"'{name}' does not mark the simulated judge"
        assert b"simulated" in b"\n".join(changed.values()).lower(), "no simulated judge is marked"

    def test_an_empty_run_is_exported(self, base: Path) -> None:
        """If this fails: a run may end before it finds anything; export that."""
        assert self.sent(base, empty_report()), "no sentence about an empty run"
