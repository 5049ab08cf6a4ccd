"""Test the contracts of what carries a run's results out: reporters and exporters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import chdir
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import ClassVar, Final

from jrh.plugins.specs import ExporterSpec, ReporterSpec, ReportTarget, Spec
from jrh.values.report import RunReport

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import ACTING, SIMULATED, empty_report, hostile_report, report_marking_simulated, sample_report
from jrh_testing.samples import sample_tasks

_MARKUP: Final = frozenset({".html", ".htm", ".xhtml", ".svg", ".xml", ".md"})
"""Ends of names of files that a browser or a Markdown viewer shows."""


class ReporterContract(ComponentContract):
    """Contract tests for every reporter, on runs with many findings and none."""

    role: ClassVar[type[Spec]] = ReporterSpec
    not_text: ClassVar[str] = ""
    """Why the document is no text that can be searched; empty: it is."""

    def render(self, base: Path, report: RunReport) -> str | bytes | Mapping[str, str | bytes]:
        """Build the reporter and render the report, chunks put together."""
        return _join(self.build_component(base).render(report))

    def contents(self, base: Path, report: RunReport) -> Mapping[str, bytes]:
        """Render the report as files, by name; a document is one file."""
        rendered = self.render(base, report)
        files = rendered if isinstance(rendered, Mapping) else {self.spec.filename: rendered}
        return {name: part.encode() if isinstance(part, str) else part for name, part in files.items()}

    def texts(self, base: Path, report: RunReport) -> Mapping[str, str]:
        """Render the report as texts, by name of the file."""
        return {name: content.decode("utf-8") for name, content in self.contents(base, report).items()}

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
        reporter = self.build_component(base)
        first = _join(reporter.render(report))
        assert _join(reporter.render(report)) == first, "the second document differs"
        assert self.render(base, sample_report()) == first, "the document of an equal run differs"

    def test_judges_are_named_and_simulated_ones_marked(self, base: Path) -> None:
        """If this fails: a reader cannot tell simulated answers from measured ones; use `report.simulated`."""
        report = report_marking_simulated()
        # Everything else is equal in the two reports, so a difference can only be the mark.
        same = self.contents(base, report) == self.contents(base, report_marking_simulated(frozenset()))
        assert not same, "the report is the same if the judge is simulated and if it is not"
        if self.not_text:
            return
        texts = self.texts(base, report)
        lacking = [judge for judge in report.judges if judge not in "".join(texts.values())]
        assert not lacking, f"the report does not name {', '.join(lacking)}"
        for name, text in texts.items():
            named = any(judge in text for judge in SIMULATED)
            assert not named or "simulated" in text.casefold(), f"{_quote(name)} does not mark the simulated judge"

    def test_names_that_act_are_shown_as_text(self, base: Path) -> None:
        """If this fails: names come from other people's files; escape them for the format, as `jrh.text` does."""
        report = hostile_report()
        if self.not_text:
            assert self.render(base, report), "the report of a run with odd names is empty"
            return
        for name, text in self.texts(base, report).items():
            # Also in the names of files: a directory is listed on a terminal.
            acting = [repr(sign) for sign in ACTING if sign in name or sign in text]
            assert not acting, f"{_quote(name)} has {', '.join(acting)} of a name as it is"
            markup = sorted(set(_hostile_markup(text, PurePosixPath(name).suffix)))
            assert not markup, f"names make {', '.join(markup)} in {_quote(name)}"

    def test_a_file_has_a_name(self) -> None:
        """If this fails: a reporter with target FILE or DIRECTORY needs a plain `filename`, one without directories."""
        if self.spec.target is ReportTarget.TERMINAL:
            return
        name = self.spec.filename
        assert name, "the reporter has no filename"
        assert PurePosixPath(name).name == name, f"'{name}' is not a plain file name"

    def test_a_directory_holds_files_with_plain_names(self, base: Path) -> None:
        """If this fails: a reporter with target DIRECTORY returns plain names -> contents; no other does."""
        for report in (sample_report(), hostile_report()):
            rendered = self.render(base, report)
            assert isinstance(rendered, Mapping) is (self.spec.target is ReportTarget.DIRECTORY), (
                "not as the target says"
            )
            names = rendered if isinstance(rendered, Mapping) else ()
            odd = [name for name in names if PurePosixPath(name).name != name]
            assert not odd, f"{odd[0]!r} is not a plain file name"

    def test_a_terminal_gets_text(self, base: Path) -> None:
        """If this fails: a reporter with target TERMINAL has to return text, not bytes."""
        if self.spec.target is ReportTarget.TERMINAL:
            assert isinstance(self.render(base, sample_report()), str), "bytes cannot be printed"


def _quote(name: str) -> str:
    return f"'{name}'" if name else "the report"


def _hostile_markup(text: str, suffix: str) -> list[str]:
    """Return the elements and attributes that only a name of the hostile report can have made."""
    hostile: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            hostile.extend(name for name in (tag, *dict(attrs)) if "hostile" in name)

    if suffix in _MARKUP:
        reader = Reader()
        reader.feed(re.sub(r"\\[!-/:-@\[-`{-~]", "", text) if suffix == ".md" else text)  # Markdown has escapes
        reader.close()
    return hostile


def _join(rendered: object) -> str | bytes | Mapping[str, str | bytes]:
    if isinstance(rendered, str | bytes | Mapping):
        return rendered
    # A document may come in chunks of bytes, such as a page too long to build as one text.
    assert isinstance(rendered, Iterable), f"render() returns {type(rendered).__name__}"
    chunks = list(rendered)
    assert all(isinstance(chunk, bytes) for chunk in chunks), "a document in chunks is of bytes"
    return b"".join(chunks)


class ExporterContract(ComponentContract):
    """Contract tests for every exporter.

    The working directory is empty; a tool behind a network overrides `tool_contents`.
    """

    role: ClassVar[type[Spec]] = ExporterSpec

    def export(self, base: Path, report: RunReport) -> list[str]:
        """Build the exporter and export the report; return its sentences."""
        attached = [base / "attached" / f"report.{name}" for name in self.spec.attach]
        for file in attached:
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"A report as {file.suffix}.\n", encoding="utf-8")
        work = base / "work"
        work.mkdir(exist_ok=True)
        # The contract looks into an empty working directory afterwards: nothing else can be there.
        with chdir(work):
            return list(self.build_component(base).export(report, attached))

    def tool_contents(self, base: Path) -> Mapping[str, bytes]:
        """Return what the other tool holds, by name: the files in the working directory."""
        return {file.name: file.read_bytes() for file in sorted((base / "work").rglob("*")) if file.is_file()}

    def test_an_export_says_what_went_where(self, base: Path) -> None:
        """If this fails: yield at least one sentence, each of one line, and write or send something."""
        sentences = self.export(base, sample_report())
        assert sentences, "no sentence says what was exported"
        assert all(isinstance(sentence, str) and sentence.strip() and "\n" not in sentence for sentence in sentences), (
            sentences
        )
        assert any(self.tool_contents(base).values()), "nothing was exported"

    def test_exporting_twice_adds_nothing(self, base: Path) -> None:
        """If this fails: derive names and ids from the run, so that the second export replaces the first."""
        self.export(base, sample_report())
        # A copy: `tool_contents` may return what the second export changes.
        first = dict(self.tool_contents(base))
        self.export(base, sample_report())
        assert dict(self.tool_contents(base)) == first, "the second export of the same run differs from the first"

    def test_simulated_judges_are_marked(self, base: Path) -> None:
        """If this fails: a reader of the other tool cannot tell simulated answers from measured ones.

        Ask `report.simulated`: a flag of a measure need not be there, and a column that always says no marks nothing.
        """
        self.export(base, report_marking_simulated(frozenset()))
        before = dict(self.tool_contents(base))
        self.export(base, report_marking_simulated())
        changed = {name: content for name, content in self.tool_contents(base).items() if before.get(name) != content}
        assert changed, "the export is the same if a judge is simulated and if it is not"
        for name, content in changed.items():
            named = any(judge.encode() in content for judge in SIMULATED)
            assert not named or b"simulated" in content.lower(), f"'{name}' does not mark the simulated judge"
        assert b"simulated" in b"\n".join(changed.values()).lower(), "no simulated judge is marked"

    def test_an_empty_run_is_exported(self, base: Path) -> None:
        """If this fails: a run may end before it finds anything; export that."""
        assert self.export(base, empty_report()), "no sentence about an empty run"
