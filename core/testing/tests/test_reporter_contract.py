"""The reporter contract fails on a planted mistake of every kind."""

from __future__ import annotations

import html
import itertools
import json
import re

import pytest
from jrh import Mode, ReporterSpec
from jrh.plugins import ReportTarget
from jrh.text import clean_text
from jrh_testing import ReporterContract, empty_report, hostile_report, sample_report
from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import ACTING


class Lines:
    """A sound reporter."""

    def render(self, report):
        marks = [f"{judge} (simulated)" if judge in report.simulated else judge for judge in report.judges]
        return "\n".join([*map(clean_text, [report.suite, *marks]), ""])


class DividesByRecords(Lines):
    def render(self, report):
        return super().render(report) + f"{report.planned / len(report.records)}\n"


class NoTranscripts(Lines):
    def render(self, report):
        if any(summary.task.mode is Mode.TRANSCRIPT for summary in report.tasks):
            raise KeyError("transcript")
        return super().render(report)


class Clock(Lines):
    counter = itertools.count()

    def render(self, report):
        return super().render(report) + f"at {next(self.counter)}\n"


class Unmarked(Lines):
    def render(self, report):
        return "\n".join([*map(clean_text, [report.suite, *report.judges]), ""])


class MarkedByFlags(Unmarked):
    def render(self, report):
        return super().render(report) + "".join(f"{measure.flags}\n" for measure in report.measures)


class AlwaysMarked(Unmarked):
    def render(self, report):
        return super().render(report) + "judges may be simulated\n"


class MarkedElsewhere(Lines):
    def render(self, report):
        return {"judges.txt": super().render(report), "more.txt": Unmarked().render(report)}


class Nameless(Lines):
    def render(self, report):
        return f"{clean_text(report.suite)}: {len(report.simulated)} judges are simulated\n"


class Raw(Lines):
    def render(self, report):
        return super().render(report) + report.suite


class NamesFiles(Lines):
    def render(self, report):
        return {f"{clean_text(report.suite)}.txt": super().render(report)}


class Attribute(Lines):
    quote = '"'

    def render(self, report):
        marks = "".join(f"<p>{html.escape(line)}</p>" for line in super().render(report).splitlines())
        name = html.escape(clean_text(report.suite), quote=False)
        return f"{marks}<p title={self.quote}{name}{self.quote}></p>"


class SingleQuoted(Attribute):
    quote = "'"


class Script(Lines):
    def render(self, report):
        marks = "".join(f"<p>{html.escape(line)}</p>" for line in super().render(report).splitlines())
        return f"<script>var suite = {json.dumps(clean_text(report.suite))}</script>{marks}"


class Bytes(Lines):
    def render(self, report):
        return super().render(report).encode()


class Chunks(Lines):
    def render(self, report):
        return (line.encode() + b"\n" for line in super().render(report).splitlines())


class Directory(Lines):
    name = "report.txt"

    def render(self, report):
        return {self.name: super().render(report)}


class Elsewhere(Directory):
    name = "../report.txt"


FILE, TERMINAL, DIRECTORY = ReportTarget.FILE, ReportTarget.TERMINAL, ReportTarget.DIRECTORY
PLANTED = [
    (DividesByRecords, FILE, "out.txt", "test_an_empty_run_is_reported"),
    (NoTranscripts, FILE, "out.txt", "test_every_kind_of_task_is_reported"),
    (Clock, FILE, "out.txt", "test_the_same_run_gives_the_same_bytes"),
    (Unmarked, FILE, "out.txt", "test_judges_are_named_and_simulated_ones_marked"),
    (Nameless, FILE, "out.txt", "test_judges_are_named_and_simulated_ones_marked"),
    (MarkedByFlags, FILE, "out.txt", "test_judges_are_named_and_simulated_ones_marked"),
    (AlwaysMarked, FILE, "out.txt", "test_judges_are_named_and_simulated_ones_marked"),
    (MarkedElsewhere, DIRECTORY, "out", "test_judges_are_named_and_simulated_ones_marked"),
    (Raw, FILE, "out.txt", "test_names_that_act_are_shown_as_text"),
    (Raw, TERMINAL, "", "test_names_that_act_are_shown_as_text"),
    (Lines, FILE, "out.html", "test_names_that_act_are_shown_as_text"),
    (Lines, FILE, "out.md", "test_names_that_act_are_shown_as_text"),
    (Attribute, FILE, "out.html", "test_names_that_act_are_shown_as_text"),
    (SingleQuoted, FILE, "out.html", "test_names_that_act_are_shown_as_text"),
    (Script, FILE, "out.html", "test_names_that_act_are_shown_as_text"),
    (Lines, FILE, "", "test_a_file_has_a_name"),
    (Lines, FILE, "../out.txt", "test_a_file_has_a_name"),
    (NamesFiles, DIRECTORY, "out", "test_a_directory_holds_files_with_plain_names"),
    (Elsewhere, DIRECTORY, "out", "test_a_directory_holds_files_with_plain_names"),
    (Directory, FILE, "out.txt", "test_a_directory_holds_files_with_plain_names"),
    (Lines, DIRECTORY, "out", "test_a_directory_holds_files_with_plain_names"),
    (Bytes, TERMINAL, "", "test_a_terminal_gets_text"),
]


def spec(cls, target, filename):
    return ReporterSpec(
        name="planted", summary="planted", factory=lambda options, context: cls(), target=target, filename=filename
    )


@pytest.mark.parametrize(("cls", "target", "filename", "test"), PLANTED)
def test_a_planted_mistake_fails_its_test_and_no_other(failing, cls, target, filename, test):
    assert failing(ReporterContract, "jrh_reporters", spec(cls, target, filename)) == [test]


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(ReporterContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert {test for *_, test in PLANTED} == own


@pytest.mark.parametrize(
    ("cls", "target", "filename"),
    [(Lines, TERMINAL, ""), (Bytes, FILE, "out.bin"), (Chunks, FILE, "out.csv"), (Directory, DIRECTORY, "out")],
)
def test_a_sound_reporter_passes_everything(failing, cls, target, filename):
    assert failing(ReporterContract, "jrh_reporters", spec(cls, target, filename)) == []


def test_a_document_that_is_no_text_may_say_so(failing):
    class Picture(Lines):
        def render(self, report):
            return b"\x89PNG\xff" + bytes(len(report.simulated))

    assert failing(ReporterContract, "jrh_reporters", spec(Picture, FILE, "a.png"), not_text="a picture") == []


def test_a_document_that_is_no_text_may_not_leave_the_mark_out(failing):
    class Picture(Lines):
        def render(self, report):
            return b"\x89PNG\xff"

    failed = failing(ReporterContract, "jrh_reporters", spec(Picture, FILE, "a.png"), not_text="a picture")
    assert failed == ["test_judges_are_named_and_simulated_ones_marked"]


class Escaped(Lines):
    def render(self, report):
        return "".join(f"<p title='{html.escape(line)}'></p>" for line in super().render(report).splitlines())


class Backslashes(Lines):
    def render(self, report):
        return re.sub(r"([<>])", r"\\\1", super().render(report))


@pytest.mark.parametrize(("cls", "filename"), [(Escaped, "a.html"), (Escaped, "a.svg"), (Backslashes, "a.md")])
def test_escaped_names_are_taken(failing, cls, filename):
    assert failing(ReporterContract, "jrh_reporters", spec(cls, FILE, filename)) == []


def test_the_hostile_report_has_an_acting_name_of_every_kind():
    report = hostile_report()
    names = (report.suite, report.tasks[0].task.name, *report.judges, report.tests[1], report.measures[0].task)
    names += (report.records.text("item_id")[0], report.records.text("judge")[0], report.attrition[0].test)
    for name in names:
        assert {each for each in ACTING if each in name} == set(ACTING)
        assert "<hostile>" in name
    assert set(report.simulated) < set(report.judges)


def test_the_sample_report_has_findings_and_the_empty_one_none():
    full, empty = sample_report(), empty_report()
    assert {measure.estimate for measure in full.measures} == {0.875, None}
    assert full.costs[1].unknown == 24
    assert full.planned - full.missing_records == len(full.records) == 96
    assert (len(empty.records), empty.measures, empty.judges) == (0, (), ())
