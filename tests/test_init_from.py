"""`jrh init-from` makes a suite of a configuration of the Judge Reliability Harness, and `jrh plan` takes it.

The configurations are written here after the keys of that program's own (`inputs/configs`, `src/configs`).
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh_measuring import escape_controls
from jrh_testing import Project, call

pytestmark = pytest.mark.slow

EVALUATION = {"template": "single_judge", "autograder_model_name": "openai/gpt-4o-mini", "metric": "accuracy_score"}
SYNTHETIC = {
    "generation_model_name": "openai/gpt-4o-mini",
    "validation_model_name": "openai/gpt-4.1-mini",
    "max_tokens_generation": 1200,
    "max_tokens_validation": 900,
    "use_similarity_filter": True,
    "similarity_threshold": 0.9,
    "sample_num_from_orig": 2,
    "target_num_per_bucket": 3,
    "rescore_sample_size": 2,
    "initial_temp": 1.0,
    "num_seed_examples_per_generation": 1,
    "temp_increment": 0.1,
    "max_temp_cap": 1.3,
    "max_consecutive_failures": 3,
    "seed": 87,
}


def written(folder: Path, dataset: str, tests: list[str], **others: object) -> Path:
    admin = {
        "module_name": "module",
        "dataset_config": {
            "dataset_name": dataset,
            "default_params_path": {"instruction": "instruction.txt", "rubric": others.pop("rubric", "rubric.txt")},
            "default_params": {"lowest_score": "1", "highest_score": "6"},
            "use_original_data_as_expected": others.pop("ungraded", False),
        },
        "perturbation_config": {
            "use_HITL_process": True,
            "tests_to_run": tests,
            "preprocess_columns_map": {"request": "ask", "response": "text", "expected": "human"},
        },
        "evaluation_config": EVALUATION | {"tests_to_evaluate": tests[:1]} | others.pop("evaluation", {}),  # type: ignore[operator]
    }
    path = folder / "inputs" / "configs" / "config.yml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump({"admin": admin, "synthetic_data_params": SYNTHETIC, **others}), encoding="utf-8")
    data = folder / "inputs" / "data" / "module"
    data.mkdir(parents=True)
    (data / "instruction.txt").write_text("Decide whether it helps.", encoding="utf-8")
    (data / "rubric.txt").write_text("1: it helps.", encoding="utf-8")
    return path


def table(folder: Path, labels: list[str]) -> None:
    with (folder / "inputs" / "data" / "module" / "items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["ask", "text", "human", "note"])
        writer.writerows(
            ["How?", f"Text number {number}. It has some words.", label, ""] for number, label in enumerate(labels)
        )


def suite_after(folder: Path, config: Path) -> tuple[str, dict[str, Any]]:
    outcome = call(Project(folder), "init-from", str(config), "suite.yaml")
    assert outcome.exit_code == 0, outcome.stderr
    text = (folder / "suite.yaml").read_text(encoding="utf-8")
    return text, yaml.safe_load(text)


def test_a_binary_benchmark(tmp_path: Path) -> None:
    names = ["label_flip", "format_invariance_1", "format_invariance_3", "semantic_paraphrase", "answer_ambiguity"]
    names += ["verbosity_bias_long", "stochastic_stability"]
    stability = {"sample_num_from_orig": 2, "number_of_seeds": 2, "repetitions": 3, "seed": 87}
    config = written(tmp_path, "items.csv", names, test_stochastic_stability_config=stability)
    table(tmp_path, ["0", "1", "1", "0"])
    text, suite = suite_after(tmp_path, config)
    assert suite["data"] == {
        "source": "csv",
        "path": "inputs/data/module/items.csv",
        "columns": {"request": "ask", "response": "text", "label": "human"},
    }
    assert suite["task"]["scale"] == {"labels": ["1", "0"]}
    few = {"sample": {"n": 2, "seed": 87}}
    assert suite["tests"] == [
        {"format": {"variants": ["blank-lines", "indent"], **few}},
        {"verbosity": {"model": "writer", "variants": ["long"], **few}},
        {"label-flip": {"model": "writer", "validate": [{"llm-label": {"model": "checker"}}], **few}},
        {"paraphrase": {"model": "writer", **few}},
        {"answer-again": {"model": "writer", **few}},
        {"stochastic": {"seeds": 2, "repeats": 3, **few}},
    ]
    assert suite["models"]["checker"] == {"provider": "litellm", "model": "openai/gpt-4.1-mini", "max_tokens": 900}
    assert "# Not mapped: admin.evaluation_config.metric: accuracy_score." in text
    assert "# Not mapped: synthetic_data_params.rescore_sample_size: 2" in text
    assert "# Not mapped: admin.perturbation_config.use_HITL_process: True." in text
    plan = call(Project(tmp_path), "plan", "suite.yaml")
    assert plan.exit_code == 0, plan.stdout + plan.stderr
    assert "label-flip" in plan.stdout + plan.stderr
    again = call(Project(tmp_path), "init-from", str(config), "suite.yaml")
    assert again.exit_code == 2
    assert "exists already; use --force" in again.stderr


def test_an_ordinal_benchmark_with_judges_and_no_labels(tmp_path: Path) -> None:
    judges: object = [{"name": "one", "model": "openai/gpt-4o-mini"}, {"name": "two", "model": "openai/gpt-4.1-mini"}]
    config = written(
        tmp_path,
        "items.csv",
        ["synthetic_ordinal"],
        ungraded=True,
        evaluation={"template": "single_autograder", "judges": judges},
    )
    table(tmp_path, ["", "", "", ""])
    _, suite = suite_after(tmp_path, config)
    assert suite["data"]["gold_from"] == "one"
    assert suite["task"]["scale"] == {"ordinal": [1, 6]}
    assert [each["name"] for each in suite["judges"]] == ["one", "two"]
    assert suite["tests"] == [
        {
            "synthetic-ordinal": {
                "model": "writer",
                "grader": "checker",
                "examples": 1,
                "initial_temperature": 1.0,
                "temperature_step": 0.1,
                "max_temperature": 1.3,
                "attempts_per_temperature": 3,
                "max_to_seeds": 0.9,
                "max_to_kept": 0.9,
                "sample": {"n": 3, "seed": 87},
            }
        }
    ]  # fmt: skip
    plan = call(Project(tmp_path), "plan", "suite.yaml")
    assert plan.exit_code == 0, plan.stdout + plan.stderr


def test_agents(tmp_path: Path) -> None:
    agentic = {
        "input_log_path": "./inputs/data/module/runs.eval",
        "rubric_path": "./inputs/data/module/rubric.json",
        "target_rubric_ids": ["calm"],
        "max_edit_rounds": 15,
        "max_summary_messages": 60,
        "planner": {"model": "openai/gpt-5", "temperature": 1.0},
    }
    config = written(
        tmp_path,
        "runs.eval",
        ["agent_perturbation", "agent_positives"],
        rubric="rubric.json",
        test_agent_perturbation_config=agentic,
    )
    data = tmp_path / "inputs" / "data" / "module"
    (data / "rubric.json").write_text(
        json.dumps([{"id": "calm", "instructions": "The agent stays calm."}]), encoding="utf-8"
    )
    text, suite = suite_after(tmp_path, config)
    assert "# To do: 'runs.eval' was not found; put it at the path below." in text
    assert suite["data"] == {"source": "inspect", "path": "inputs/data/module/runs.eval"}
    assert suite["task"]["criteria"] == {"file": "inputs/data/module/rubric.json", "targets": ["calm"]}
    assert suite["models"]["planner"] == {"provider": "litellm", "model": "openai/gpt-5", "temperature": 1.0}
    options = {"model": "writer", "planner": "planner", "max_rounds": 10}
    assert suite["tests"] == [{"agent-perturbation": options}, {"agent-positives": options}]
    # Everything but the log is in order.
    plan = call(Project(tmp_path), "plan", "suite.yaml")
    assert plan.exit_code == 2
    assert "runs.eval" in plan.stdout + plan.stderr
    assert "max_rounds" not in plan.stdout + plan.stderr


def test_what_is_no_configuration_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text("name: something\n", encoding="utf-8")
    outcome = call(Project(tmp_path), "init-from", "config.yml")
    assert outcome.exit_code == 2
    assert "has no admin.dataset_config.dataset_name" in outcome.stderr
    assert not (tmp_path / "suite.yaml").exists()


def test_no_setting_is_dropped_without_a_word_and_no_value_becomes_yaml(tmp_path: Path) -> None:
    own: dict[str, object] = {"planets": {"mars": 1}, "evaluation": {"moon": 2, "metric": "x\njudges: []\n# y\u202e"}}
    own["evaluation"] = own["evaluation"] | {"autograder_model_name": "openai/gpt\u202e\x9b"}  # type: ignore[operator]
    config = written(tmp_path, "items.csv", ["stochastic_stability"], **own)
    table(tmp_path, ["1", "0"])
    text, suite = suite_after(tmp_path, config)
    comments = [line for line in text.splitlines() if line.startswith("# Not mapped: ")]
    assert "# Not mapped: planets: ...." in comments
    assert "# Not mapped: admin.evaluation_config.moon: 2." in comments
    assert suite["judges"] == [{"name": "judge", "judge": "llm", "model": "judge"}]
    assert suite["models"]["judge"]["model"] == "openai/gpt\u202e\x9b"
    assert escape_controls(text) == text, "a reader would see another suite than jrh reads"
