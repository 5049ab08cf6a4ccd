"""The section contract fails on a planted mistake of every kind."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from jrh import hookimpl
from jrh.plugins import SectionSpec
from jrh.values import Column, MeasureRef, Row, Section, TablePart
from jrh_testing import SectionContract, sample_report

REPORT = sample_report()


def table(*places: int) -> TablePart:
    rows = tuple(Row(heads=("all",), cells=(MeasureRef(measure=place),)) for place in places)
    return TablePart(caption="A table", heads=("",), columns=(Column(heading="share"),), rows=rows)


class Sound:
    """A sound writer of sections."""

    def sections(self, report):
        if report.measures:
            yield Section(parts=(table(0),))


class Silent(Sound):
    def sections(self, report):
        return ()


class Beyond(Sound):
    def sections(self, report):
        yield Section(parts=(table(len(report.measures)),))


class OfNoTask(Sound):
    def sections(self, report):
        if report.measures:
            yield Section(task="somewhere", parts=(table(0),))


class Changing(Sound):
    times = 0

    def sections(self, report):
        type(self).times += 1
        if report.measures:
            yield Section(parts=(table(self.times % 2),))


class Undeclared(Sound):
    def sections(self, report):
        if report.measures:
            yield Section(parts=(table(*range(len(report.measures))),))


def contract_of(writer: type) -> SectionContract:
    @hookimpl
    def jrh_sections():
        name = REPORT.measures[0].name
        yield SectionSpec(name="mine", summary="mine", title="Mine", reads=(name,), factory=writer)

    class Contract(SectionContract):
        plugin = SimpleNamespace(jrh_sections=jrh_sections, __name__="mine")
        component = "mine"
        reports = (REPORT,)

    return Contract()


TESTS = [name for name in vars(SectionContract) if name.startswith("test_")]


@pytest.mark.parametrize("name", TESTS)
def test_a_sound_section_passes(name, tmp_path):
    contract = contract_of(Sound)
    getattr(contract, name)(tmp_path)


@pytest.mark.parametrize(
    ("writer", "name"),
    [
        (Silent, "test_it_shows_something"),
        (Beyond, "test_references_hold_in_every_report"),
        (OfNoTask, "test_references_hold_in_every_report"),
        (Changing, "test_the_same_report_gives_the_same_sections"),
        (Undeclared, "test_it_shows_what_it_declares_to_read"),
    ],
)
def test_a_mistake_fails(writer, name, tmp_path):
    with pytest.raises((AssertionError, ValueError)):
        getattr(contract_of(writer), name)(tmp_path)
