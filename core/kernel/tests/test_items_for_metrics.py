"""Metrics are handed the items, so that findings about the data stand in the report; and items can be read alone."""

from __future__ import annotations

import json
from pathlib import Path

import jrh
import pytest
from jrh import JrhError
from jrh_testing import Project

PLUGIN = """
from jrh import DataSourceSpec, Item, JudgeSpec, Judgement, Measure, MetricSpec, Status, Verdict, hookimpl


class Two:
    def read(self):
        yield Item(id="one", fields={"request": "", "response": "a"}, gold="YES")
        yield Item(id="two", fields={"request": "", "response": "b"}, gold="NO")


class Always:
    async def judge(self, question):
        return Judgement(verdict=Verdict(status=Status.OK, presented="YES"))


class Names:
    def measure(self, records, context):
        for task, items in context.items.items():
            yield Measure(name="names", judge="", task=task, estimate=None, note=" ".join(item.id for item in items))


@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="two", summary="two items", factory=lambda options, context: Two())


@hookimpl
def jrh_judges():
    yield JudgeSpec(name="always", summary="always YES", factory=lambda options, context: Always())


@hookimpl
def jrh_metrics():
    yield MetricSpec(name="names", summary="names the items", factory=lambda options, context: Names())
"""
SUITE = {
    "name": "s",
    "data": {"source": "two"},
    "task": {"scale": {"labels": ["YES", "NO"]}},
    "judges": ["always"],
    "metrics": ["names"],
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write("plugin.py", PLUGIN)
    made.write("suite.json", json.dumps(SUITE))
    return made


def notes(project: Project) -> list[str]:
    measures = json.loads(project.read("run/report.json"))["measures"]
    return [each["note"] for each in measures if each["name"] == "names"]


@pytest.mark.slow
def test_a_metric_sees_the_items_of_a_run_and_of_a_report_written_again(project: Project) -> None:
    done = project.run("run", "suite.json", "--run-dir", "run", "--plugins", "plugin.py")
    assert done.exit_code == 0, done.output
    assert notes(project) == ["one two"]
    again = project.run("report", "run", "--plugins", "plugin.py")
    assert again.exit_code == 0, again.output
    assert notes(project) == ["one two"]


@pytest.mark.slow
def test_other_items_are_measured_anew(project: Project) -> None:
    command = ("run", "suite.json", "--run-dir", "run", "--plugins", "plugin.py")
    assert project.run(*command).exit_code == 0
    project.write("plugin.py", PLUGIN.replace('id="two"', 'id="second"'))
    assert project.run(*command).exit_code == 0
    assert notes(project) == ["one second"]


def test_items_are_read_without_a_run(project: Project) -> None:
    ((task, items),) = jrh.read_items(project.path / "suite.json", plugins=[str(project.path / "plugin.py")])
    assert task.name == "s"
    assert [item.id for item in items] == ["one", "two"]
    assert not (project.path / "runs").exists()


def test_data_that_cannot_be_used_is_refused_as_by_a_run(project: Project) -> None:
    project.write("plugin.py", PLUGIN.replace('gold="NO"', 'gold="MAYBE"'))
    with pytest.raises(JrhError, match="label 'MAYBE' is not on the scale YES, NO"):
        jrh.read_items(project.path / "suite.json", plugins=[str(project.path / "plugin.py")])
