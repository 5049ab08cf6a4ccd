"""Failed runs in the shape of Who&When; the files are made here."""

from __future__ import annotations

import json
from typing import ClassVar

import jrh_evidence.plugin
import pytest
from jrh import JrhError, Mode, read_transcript
from jrh_authoring import render_transcript
from jrh_testing import DataSourceContract, Inside, build, sample_task

pytestmark = pytest.mark.inside
RUN = {
    "question": "How many?",
    "history": [
        {"content": "How many are there?", "role": "human"},
        {"content": "I count {{ three }}.", "role": "assistant", "name": "Counter"},
        {"content": "Fine.", "role": "Checker (thought)"},
    ],
    "mistake_agent": "Counter",
    "mistake_step": "1",
    "mistake_reason": "It miscounted.",
}


class TestSource(DataSourceContract):
    plugin = jrh_evidence.plugin
    component = "failed-runs"
    required_options = ("path",)
    task = sample_task(Mode.TRANSCRIPT)
    options: ClassVar = {"path": "runs.json"}
    files: ClassVar = {"runs.json": json.dumps([RUN, RUN])}


def read(path, text, **options):
    (path / "runs.json").write_text(text, encoding="utf-8")
    made = build(
        jrh_evidence.plugin,
        "failed-runs",
        options={"path": str(path / "runs.json"), **options},
        task=sample_task(Mode.TRANSCRIPT),
    )
    return list(made.read())


def test_the_gold_label_is_the_number_that_the_judge_sees(tmp_path):
    (item,) = read(tmp_path, json.dumps([RUN]))
    assert item.gold == "2"
    assert (
        "[2] assistant\n    Counter: I count {{ three }}."
        in render_transcript(read_transcript(item.fields["transcript"])).text
    )
    (other,) = read(tmp_path, json.dumps(RUN), gold="agent")
    assert other.gold == "Counter"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "runs.json: not JSON"),
        ("[1]", "runs.json[0]: expected an object with a list of messages"),
        (json.dumps([{**RUN, "mistake_step": "9"}]), "mistake_step '9' is not a step from 0 to 2"),
        (json.dumps([{**RUN, "history": [{"role": "x"}]}]), "history[0]: expected an object with the text `content`"),
    ],
)
def test_a_file_of_another_shape_is_one_message_with_its_place(tmp_path, text, words):
    with pytest.raises(JrhError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)


def test_a_suite_in_another_folder_finds_its_runs(tmp_path):
    project = Inside(tmp_path)
    project.write("inner/runs.json", json.dumps([RUN]))
    project.write(
        "inner/suite.yaml",
        "name: far\n"
        "data: {source: failed-runs, path: runs.json}\n"
        "task: {mode: transcript, scale: {ordinal: [1, 5]}}\n"
        "judges: [simulated]\n",
    )
    done = project.run("plan", "inner/suite.yaml")
    assert done.exit_code == 0, done.output
