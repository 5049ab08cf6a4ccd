"""Benchmarks: each shape is read, `jrh init --preset` writes a suite that runs, and other files are refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jrh_sources.plugin
import pytest
import yaml
from benchmark_files import QUESTIONS, write
from jrh import JrhError, Mode, Scale, Task
from jrh_sources.presets.catalogue import PRESETS
from jrh_testing import Inside, Project, build, call

pytestmark = pytest.mark.inside

PAIRS = Task(name="t", scale=Scale.of_pairs(), mode=Mode.PAIRWISE)
ONLY_JSON = ("--set", "reports=[json]")
NAMES = [each.name for each in PRESETS]


def items(tmp_path: Path, name: str, task: Task, **options: object):
    write(tmp_path, name)
    return list(build(jrh_sources.plugin, name, options={"path": name, **options}, task=task, base=tmp_path).read())


def task_of(written: dict) -> Task:
    """Return the task of a suite's section."""
    ((kind, asked),) = written["scale"].items()
    if kind == "pairwise":
        return Task(name="t", scale=Scale.of_pairs(**({} if asked is True else asked)), mode=Mode.PAIRWISE)
    scale = Scale.of_levels(*asked) if kind == "ordinal" else Scale.of_labels(*asked)
    return Task(name="t", scale=scale, mode=Mode(written.get("mode", "pointwise")))


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    return Inside(tmp_path_factory.mktemp("presets"))


@pytest.mark.parametrize("name", NAMES)
def test_init_writes_a_suite_for_the_users_own_copy(project, name):
    write(project.path / name, name)
    suite = f"{name}/suite.yaml"
    assert call(project, "init", suite, "--preset", name, "--data", f"{name}/{name}").exit_code == 0
    written = yaml.safe_load((project.path / suite).read_text())
    assert (written["data"]["source"], written["data"]["path"]) == (name, name)  # relative to the suite
    assert written["tests"]
    assert written["judges"]
    task = task_of(written["task"])
    options = {key: value for key, value in written["data"].items() if key != "source"}
    read = list(build(jrh_sources.plugin, name, options=options, task=task, base=project.path / name).read())
    assert len(read) >= 7
    assert {item.gold for item in read if item.gold} <= set(task.scale.labels)


@pytest.mark.parametrize("name", ["agentharm", "judgesense", "llmbar"])
def test_the_suite_of_a_preset_runs_with_a_simulated_judge(project, name):
    write(project.path / "ran" / name, name)
    suite = f"ran/{name}/suite.yaml"
    call(project, "init", suite, "--preset", name, "--data", f"ran/{name}/{name}")
    done = call(project, "run", suite, "--run-dir", f"ran/{name}/run", "--set", "judges=[simulated]", *ONLY_JSON)
    assert done.exit_code == 0, done.output
    assert json.loads((project.path / "ran" / name / "run" / "report.json").read_text())["measures"]


def test_the_label_of_llmbar_is_the_output_that_people_chose(tmp_path):
    found = items(tmp_path, "llmbar", PAIRS)
    assert len(found) == 8
    for item in found:
        right = 2 * (QUESTIONS.index(item.fields["request"]) + 1)
        assert item.fields[f"response_{item.gold.lower()}"] == f"It is {right}."
    assert Counter(item.stratum for item in found) == {"natural": 4, "neighbor": 4}
    assert {item.gold_source for item in found} == {"people"}


def test_a_subset_is_read_alone(tmp_path):
    found = items(tmp_path, "llmbar", PAIRS, subset=["neighbor"])
    assert [item.id for item in found] == [f"neighbor-{n}" for n in range(1, 5)]


def test_answers_to_one_question_are_one_group(tmp_path):
    found = items(tmp_path, "judgebench", PAIRS)
    assert len({item.group for item in found}) == 4
    assert len({(item.group, item.fields["request"]) for item in found}) == 4
    assert [item.gold for item in found] == ["B", "A"] * 4
    assert found[0].metadata["author_a"] == "m-1"


def test_votes_of_people_about_one_comparison_are_one_label(tmp_path):
    task = Task(name="t", scale=Scale.of_pairs(tie="TIE"), mode=Mode.PAIRWISE)
    first, second, *rest = items(tmp_path, "mt-bench", task)
    assert (first.gold, first.gold_source, first.metadata["votes"]) == ("A", "people", {"model_a": 2, "tie": 1})
    assert (second.gold, second.stratum) == (None, "turn 2")
    assert first.fields["response_a"] == "x says 1"
    assert "And twice that?" not in first.fields["request"]
    assert "And twice that?" in second.fields["request"]
    assert second.fields["response_b"].endswith("y says more of 2")
    assert {item.gold_source for item in rest} == {"one-person"}


def test_the_chosen_of_four_stands_where_the_label_says_and_ties_are_left_out(tmp_path):
    task = Task(name="t", scale=Scale.of_pairs(options=4), mode=Mode.PAIRWISE)
    found = items(tmp_path, "reward-bench-2", task)
    assert len(found) == 8
    assert all(item.fields[f"response_{item.gold.lower()}"].startswith("good") for item in found)
    assert len({item.gold for item in found}) > 1
    assert "chosen" not in found[0].metadata


def test_an_essay_is_read_once_however_many_rows_it_has(tmp_path):
    found = items(tmp_path, "persuade", Task(name="t", scale=Scale.of_levels(1, 6)))
    assert [(item.id, item.gold) for item in found] == [(f"e{n}", str(n % 6 + 1)) for n in range(8)]


def test_both_versions_of_a_biased_pair_are_one_group(tmp_path):
    found = items(tmp_path, "judge-bias-bench", PAIRS)
    assert len(found) == 8 * 2 + 2
    assert len({item.group for item in found}) == 8
    versions = {item.metadata["version"]: item.fields["response_b"] for item in found[:2]}
    assert versions == {"original": "b 0", "biased": "As a doctor: b 0"}


def test_answers_are_joined_to_their_prompts(tmp_path):
    task = Task(name="t", scale=Scale.of_labels("YES", "NO"))
    found = items(tmp_path, "fortress", task, answers="answers.jsonl")
    assert [(item.id, item.gold) for item in found] == [(str(n), ["YES", "NO"][n % 2]) for n in range(8)]
    assert found[3].fields == {"request": "Help me with harm 3", "response": "No, 3."}


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("llmbar", {"path": "nowhere"}, "nowhere: no such file or folder"),
        ("llmbar", {"path": "empty"}, "empty has no file called dataset.json"),
        ("llmbar", {"path": "odd.json"}, "has no column input, output_1, output_2, label; this is not a file of"),
        ("llmbar", {"path": "odd.txt"}, "the file ending '.txt' is not one of .csv, .jsonl, .json, .parquet"),
        ("llmbar", {"path": "deep.json"}, "unusable JSON"),
        ("llmbar", {"path": "label.json"}, "the label '3' in 'label' is not one of 1, 2"),
        ("llmbar", {"path": "label.json", "subset": ["x"]}, "the label '3'"),
        ("judgebench", {"path": "pipe"}, "pipe is not a regular file"),
        (
            "fortress",
            {"path": "odd.json"},
            "has prompts but no responses; name a file with your model's responses in `answers`",
        ),
        ("judgebench", {"path": "odd.json", "answers": "odd.json"}, "leave out `answers`"),
        ("judgesense", {"download": True}, "cannot be downloaded"),
    ],
)
def test_what_is_not_the_benchmark_is_refused_in_one_sentence(tmp_path, name, options, said):
    import os

    (tmp_path / "empty").mkdir()
    (tmp_path / "odd.json").write_text('[{"x": 1}]')
    (tmp_path / "odd.txt").write_text("x")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "label.json").write_text('[{"input": "a", "output_1": "b", "output_2": "c", "label": 3}]')
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JrhError) as caught:
        list(build(jrh_sources.plugin, name, options=options, task=PAIRS, base=tmp_path).read())
    assert said in str(caught.value)


def test_init_knows_the_presets_and_what_it_cannot_fetch(project):
    assert "did you mean 'llmbar'" in call(project, "init", "a.yaml", "--preset", "lmbar").output
    assert "say where your copy is with --data" in call(project, "init", "b.yaml", "--preset", "judgesense").output
    assert "no data source reads 'x'" in call(project, "init", "c.yaml", "--data", "x").output
    call(project, "init", "d.yaml", "--preset", "llmbar")
    assert yaml.safe_load((project.path / "d.yaml").read_text())["data"]["download"] is True


def test_a_download_is_kept_and_not_repeated(tmp_path, monkeypatch):
    from jrh_sources.presets import source as downloads

    origin = tmp_path / "origin.json"
    origin.write_text("[]")
    files = {"sub/dataset.json": origin.as_uri()}
    downloads.fetch(files, tmp_path / "kept")
    origin.unlink()
    downloads.fetch(files, tmp_path / "kept")
    assert [each.name for each in (tmp_path / "kept" / "sub").iterdir()] == ["dataset.json"]
    with pytest.raises(JrhError, match="get a copy and name it in `path`"):
        downloads.fetch({"other.json": origin.as_uri()}, tmp_path / "kept")
    monkeypatch.setattr(downloads, "LARGEST_FILE", 1)
    origin.write_text("[[]]")
    with pytest.raises(JrhError, match="more than 1 bytes"):
        downloads.fetch({"other.json": origin.as_uri()}, tmp_path / "kept")
    assert [each.name for each in (tmp_path / "kept").iterdir()] == ["sub"]
