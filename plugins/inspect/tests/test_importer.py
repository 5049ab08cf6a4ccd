"""Verdicts of logs that Inspect itself wrote (`make_logs.py`), checked against counting by hand."""

import json

import pytest
from jrh import JrhError, Status
from jrh_inspect import plugin
from jrh_interchange import read_export
from jrh_testing import ImporterContract, Inside

pytestmark = pytest.mark.inside


class TestInspectLog(ImporterContract):
    plugin = plugin
    component = "inspect"
    export = "judged.eval"
    options = {
        "metric": "model_graded_qa",
        "gold": "metadata.human",
    }
    missing = 2

    @pytest.fixture(autouse=True)
    def _log(self, made):
        type(self).files = {"judged.eval": (made / "judged.eval").read_bytes()}


def test_a_grade_that_cannot_be_read_is_missing_and_every_epoch_is_an_item(made):
    found = read_export(made / "judged.eval", "inspect", {"metric": "model_graded_qa", "gold": "metadata.human"})
    graded = {record.item_id: (record.canonical, record.gold, record.status) for record in found.records}
    assert len(graded) == len(found.records) == 12
    said = {"1": "pass", "2": "fail", "3": "pass", "4": "pass", "5": None, "6": "fail"}
    human = {"1": "pass", "2": "fail", "3": "fail", "4": "pass", "5": "pass", "6": "fail"}
    assert graded == {
        f"s{name}#{epoch}": (said[name], human[name], Status.OK if said[name] else Status.UNPARSABLE)
        for name in said
        for epoch in (1, 2)
    }
    assert {record.group for record in found.records} == {f"s{name}" for name in said}
    assert {record.judge for record in found.records} == {"mockllm/grader"}
    assert "GRADE: C" in next(record.rationale for record in found.records if record.item_id == "s1#1")
    assert found.unmapped[0] == "other metrics: includes"


def test_the_report_has_the_numbers_that_counting_gives(made, tmp_path):
    project = Inside(tmp_path)
    log = str(made / "judged.eval")
    done = project.run("import", log, "--from", "inspect", "--metric", "model_graded_qa", "--gold", "metadata.human")
    assert "Missing: 2 of 12" in done.stdout, done.output
    assert project.run("report", "runs/judged", "--format", "json").exit_code == 0
    measures = {
        each["name"]: each
        for each in json.loads(project.read("runs/judged/report.json"))["measures"]
        if not each["cell"]
    }
    # By hand: of 10 grades 8 are right; the grader says pass 6 times, people 4 times.
    assert measures["gold-accuracy"]["estimate"] == pytest.approx(8 / 10)
    assert measures["gold-accuracy"]["missing"] == {"unparsable": 2}
    chance = (6 / 10) * (4 / 10) + (4 / 10) * (6 / 10)
    assert measures["gold-kappa"]["estimate"] == pytest.approx((8 / 10 - chance) / (1 - chance))


def test_the_model_is_the_judge_where_its_output_is_the_verdict(made):
    scale = ",".join(f"answer {name}" for name in range(1, 7))
    found = read_export(made / "judged.eval", "inspect", {"metric": "output", "scale": scale})
    assert {(record.item_id, record.canonical, record.gold) for record in found.records} == {
        (f"s{name}", f"answer {name}", "answer 1" if name < 4 else "answer 4") for name in range(1, 7)
    }
    assert {(record.judge, record.repeat) for record in found.records} == {("mockllm/model", 0), ("mockllm/model", 1)}
    assert {(record.prompt_tokens, record.completion_tokens) for record in found.records} == {(3, 2)}
    short = read_export(made / "judged.eval", "inspect", {"metric": "output", "scale": "answer 1,answer 4"})
    assert {record.item_id for record in short.records if record.status is Status.UNPARSABLE} == {
        "s2",
        "s3",
        "s5",
        "s6",
    }


def test_several_scorers_are_listed_and_failed_samples_are_counted(made):
    with pytest.raises(JrhError, match=r"choose one with --metric: model_graded_qa \(12 verdicts\), includes"):
        read_export(made / "judged.eval", "inspect", {})
    found = read_export(
        made / "made.json", "inspect", {"gold": "metadata.language", "labels": {"en": "pass", "fr": "fail"}}
    )
    assert any("ended with an error, unscored: 2" in note for note in found.notes)
    assert len(found.records) == 4
