"""Test the contract of every reporter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import ClassVar

from jrh.plugins.specs import ReporterSpec, ReportTarget, Spec
from jrh.values.report import RunReport

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import empty_report, sample_report
from jrh_testing.samples import sample_tasks


class ReporterContract(ComponentContract):
    """Contract tests for every reporter, on runs with many findings and none."""

    role: ClassVar[type[Spec]] = ReporterSpec
    not_text: ClassVar[str] = ""
    """Why the document is no text that can be searched; empty: it is."""

    def render(self, base: Path, report: RunReport) -> str | bytes | Mapping[str, str | bytes]:
        """Build the reporter and render the report, chunks put together."""
        return _whole(self.built(base).render(report))

    def text(self, base: Path, report: RunReport) -> str:
        """Render the report as text; the files of a directory one after the other."""
        rendered = self.render(base, report)
        parts = rendered.values() if isinstance(rendered, Mapping) else (rendered,)
        return "\n".join(part if isinstance(part, str) else part.decode("utf-8") for part in parts)

    def test_an_empty_run_is_reported(self, base: Path) -> None:
        """If this fails: a run may end before it finds anything; report that."""
        assert self.render(base, empty_report()), "the report of an empty run is empty"

    def test_every_kind_of_task_is_reported(self, base: Path) -> None:
        """If this fails: labels, levels, pairs or transcripts are not foreseen."""
        for task in sample_tasks():
            assert self.render(base, sample_report(task)), f"the report of a {task.mode.value} task is empty"

    def test_the_same_run_gives_the_same_bytes(self, base: Path) -> None:
        """If this fails: a clock, a set or something random is in the document."""
        report = sample_report()
        reporter = self.built(base)
        first = _whole(reporter.render(report))
        assert _whole(reporter.render(report)) == first, "the second document differs"
        assert self.render(base, sample_report()) == first, "the document of an equal run differs"

    def test_judges_are_named_and_simulated_ones_marked(self, base: Path) -> None:
        """If this fails: a reader cannot tell simulated answers from measured ones."""
        if self.not_text:
            return
        report = sample_report()
        text = self.text(base, report)
        lacking = [judge for judge in report.judges if judge not in text]
        assert not lacking, f"the report does not name {', '.join(lacking)}"
        assert "simulated" in text.casefold(), "the report does not mark the simulated judge"

    def test_a_file_has_a_name(self) -> None:
        """If this fails: a reporter with target FILE or DIRECTORY needs a plain `filename`, one without directories."""
        if self.spec.target is ReportTarget.TERMINAL:
            return
        name = self.spec.filename
        assert name, "the reporter has no filename"
        assert PurePosixPath(name).name == name, f"'{name}' is not a plain file name"

    def test_a_directory_holds_files_with_plain_names(self, base: Path) -> None:
        """If this fails: a reporter with target DIRECTORY returns plain names -> contents; no other does."""
        rendered = self.render(base, sample_report())
        assert isinstance(rendered, Mapping) is (self.spec.target is ReportTarget.DIRECTORY), "not as the target says"
        odd = [name for name in rendered if PurePosixPath(name).name != name] if isinstance(rendered, Mapping) else []
        assert not odd, f"'{odd[0]}' is not a plain file name"

    def test_a_terminal_gets_text(self, base: Path) -> None:
        """If this fails: a reporter with target TERMINAL has to return text, not bytes."""
        if self.spec.target is ReportTarget.TERMINAL:
            assert isinstance(self.render(base, sample_report()), str), "bytes cannot be printed"


def _whole(rendered: object) -> str | bytes | Mapping[str, str | bytes]:
    if isinstance(rendered, str | bytes | Mapping):
        return rendered
    assert isinstance(rendered, Iterable), f"render() returns {type(rendered).__name__}"
    chunks = list(rendered)
    assert all(isinstance(chunk, bytes) for chunk in chunks), "a document in chunks is of bytes"
    return b"".join(chunks)
