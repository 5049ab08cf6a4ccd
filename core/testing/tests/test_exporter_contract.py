"""The exporter contract fails on a planted mistake of every kind."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from jrh.plugins import ExporterSpec
from jrh_testing import ExporterContract


class Sound:
    """A sound exporter."""

    def export(self, report, attached):
        marks = [f"{judge} simulated" if judge in report.simulated else judge for judge in report.judges]
        Path("out.txt").write_text("\n".join([report.suite, *marks, *(file.read_text() for file in attached)]))
        yield "Wrote out.txt."


class Silent(Sound):
    def export(self, report, attached):
        list(super().export(report, attached))
        return ()


class Twice(Sound):
    counter = itertools.count()

    def export(self, report, attached):
        Path(f"again-{next(self.counter)}.txt").write_text("more")
        return super().export(report, attached)


class Unmarked(Sound):
    def export(self, report, attached):
        Path("out.txt").write_text("\n".join(report.judges))
        yield "Wrote out.txt."


class MarkedByFlags(Unmarked):
    def export(self, report, attached):
        yield from super().export(report, attached)
        Path("flags.txt").write_text(" ".join(flag for measure in report.measures for flag in measure.flags))


class ConstantColumn(Unmarked):
    def export(self, report, attached):
        yield from super().export(report, attached)
        Path("table.csv").write_text("judge,simulated\n" + "".join(f"{judge},no\n" for judge in report.judges))


class MarkedElsewhere(Sound):
    def export(self, report, attached):
        yield from super().export(report, attached)
        count = len(report.simulated)
        Path("list.txt").write_text("\n".join([*report.judges, str(count)]))


class NeedsRecords(Sound):
    def export(self, report, attached):
        yield f"{len(report.measures) / len(report.records)} measures a record."
        yield from super().export(report, attached)


def contract(exporter):
    class Plugin:
        @staticmethod
        def jrh_exporters():
            yield ExporterSpec(name="planted", summary="an exporter", factory=exporter, attach=("json",))

    class Planted(ExporterContract):
        plugin = Plugin
        component = "planted"

    return Planted()


MISTAKES = [
    (Silent, "test_an_export_says_what_went_where", AssertionError),
    (Twice, "test_exporting_twice_adds_nothing", AssertionError),
    (Unmarked, "test_simulated_judges_are_marked", AssertionError),
    (MarkedByFlags, "test_simulated_judges_are_marked", AssertionError),
    (ConstantColumn, "test_simulated_judges_are_marked", AssertionError),
    (MarkedElsewhere, "test_simulated_judges_are_marked", AssertionError),
    (NeedsRecords, "test_an_empty_run_is_exported", ZeroDivisionError),
]


@pytest.mark.parametrize(("exporter", "name", "error"), MISTAKES)
def test_a_mistake_fails_the_test_that_is_about_it(exporter, name, error, tmp_path):
    (tmp_path / "planted").mkdir()
    getattr(contract(Sound), name)(tmp_path)
    with pytest.raises(error):
        getattr(contract(exporter), name)(tmp_path / "planted")
