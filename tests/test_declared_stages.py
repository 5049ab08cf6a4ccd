"""A declared stage runs at its place, and what it makes of cases is what judges are asked about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh import JrhError
from jrh.plugins import StageSpec
from jrh.plugins.registry import Entry
from jrh.running.declared_stages import in_order

PLUGIN = """
from attrs import evolve
from jrh import DataSourceSpec, Item, Judgement, JudgeSpec, Status, Verdict, hookimpl
from jrh.plugins import Stage, StageOutcome, StageSpec

ASKED = []

class Words:
    def read(self):
        for word in ("one", "two", "three"):
            yield Item(id=word, fields={"request": "Count.", "response": word}, gold="YES")

class Yes:
    async def judge(self, question):
        ASKED.append(question.fields["response"])
        return Judgement(verdict=Verdict(status=Status.OK, presented="YES"))

class Revise(Stage):
    async def run(self, work):
        return StageOutcome(complete=COMPLETE, notes=("One word is left out.",), cases=self.count)

    @staticmethod
    def count(case):
        if case.item_id == "one":
            return None
        return evolve(case, fields={**case.fields, "response": "TWO"}) if case.item_id == "two" else case

@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="words", summary="", factory=lambda options, context: Words())

@hookimpl
def jrh_judges():
    yield JudgeSpec(name="yes", summary="", factory=lambda options, context: Yes())

@hookimpl
def jrh_stages():
    yield StageSpec(name="revise", summary="", after=("perturb",), before=("judge",), factory=Revise)
"""
SUITE = {
    "name": "words",
    "data": {"source": "words"},
    "task": {"scale": {"labels": ["YES", "NO"]}},
    "tests": ["format"],
    "judges": ["yes"],
    "reference": {"repeats": 1},
}


def entry(name: str, after: tuple[str, ...], before: tuple[str, ...] = ()) -> Entry[Any]:
    spec = StageSpec(name=name, summary="", after=after, before=before, factory="a:B")
    return Entry(spec=spec, distribution=f"jrh-{name}", version="1", plugin=name)


def run(tmp_path: Path, *, complete: bool = True) -> Any:
    plugin = tmp_path / "revising.py"
    plugin.write_text(PLUGIN.replace("COMPLETE", str(complete)), encoding="utf-8")
    return jrh.run(SUITE, plugins=[str(plugin)], run_dir=tmp_path / "run", use_cache=False)


def test_judges_are_asked_about_what_the_stage_made_of_the_cases(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert (first.exit_code, first.message) == (0, "")
    assert set(first.records.text("item_id")) == {"two", "three"}
    assert "One word is left out." in first.report.notes
    with jrh.open_report(tmp_path / "run") as report:
        shown = report.evidence.cases(report.records.text("case_id"))
        assert {each.fields["response"] for each in shown.values() if each.item_id == "two"} == {"TWO"}
    again = run(tmp_path)
    assert list(again.records.text("trial_id")) == list(first.records.text("trial_id"))


def test_a_run_with_a_stage_that_is_not_complete_can_be_continued(tmp_path: Path) -> None:
    result = run(tmp_path, complete=False)
    assert (result.exit_code, result.message) == (3, "One word is left out.")
    assert len(result.records) > 0


def test_stages_run_between_those_they_name_and_in_the_order_they_state() -> None:
    stages = [entry("late", ("judge",)), entry("second", ("perturb", "first", "gone")), entry("first", ("perturb",))]
    placed = {place: [each.spec.name for each in some] for place, some in in_order(stages).items()}
    assert placed == {"load": [], "perturb": ["first", "second"], "judge": ["late"]}


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([entry("a", ("b",)), entry("b", ("a",))], "the stages a, b wait for each other"),
        ([entry("a", ("judge",), ("perturb",))], "stage 'a' cannot run before 'perturb'"),
    ],
)
def test_an_order_that_cannot_be_kept_is_an_error(stages: list[Entry[Any]], message: str) -> None:
    with pytest.raises(JrhError, match=message):
        in_order(stages)
