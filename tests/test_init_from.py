"""`jrh init-from` makes a suite of a configuration of the Judge Reliability Harness, and `jrh plan` takes it.

The configurations are written here after the keys of that program's own (`inputs/configs`, `src/configs`).
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh_measuring import escape_controls
from jrh_review.decisions import Decision, ReviewAction
from jrh_review.desk import review_desk
from jrh_testing import ChatServer, Inside, Project, call, loop_over
from jrh_testing.server.answers import share
from jrh_testing.server.bodies import prompt_of
from support.agentic import Agents, plan
from support.keys import KEY, KEY_VARIABLE
from support.looking import report

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
    reviewed = ["format", "verbosity", "label-flip", "paraphrase", "answer-again"]
    assert suite["review"] == {"tests": reviewed}, "asking again leaves nothing to decide"
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
    few = {"sample": {"n": 2, "seed": 87}}
    options = {"model": "writer", "planner": "planner", "max_steps": 15, **few}
    assert suite["tests"] == [{"agent-perturbation": options}, {"agent-positives": options}]
    # Everything but the log is in order.
    plan = call(Project(tmp_path), "plan", "suite.yaml")
    assert plan.exit_code == 2
    assert "runs.eval" in plan.stdout + plan.stderr
    assert "max_steps" not in plan.stdout + plan.stderr


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


def agent_log(path: Path) -> None:
    """Write a log of two runs with reasoning, as Inspect stores it, without starting Inspect."""
    spec = {"created": "2026-01-01T00:00:00+00:00", "task": "agents", "dataset": {}, "model": "m/m", "config": {}}
    start = {"version": 2, "eval": spec, "plan": {}}
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", json.dumps({**start, "status": "success", "results": {}, "stats": {}}))
        log.writestr("_journal/start.json", json.dumps(start))
        for number in (1, 2):
            content = [{"type": "reasoning", "reasoning": "A secret."}, {"type": "text", "text": "I book it."}]
            asked = f"Book table {number}. (item-{number})"
            messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": content}]
            sample = {"id": number, "epoch": 1, "input": asked, "target": "", "messages": messages}
            log.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        summaries = [{"id": number, "epoch": 1, "input": "Book.", "target": ""} for number in (1, 2)]
        log.writestr("summaries.json", json.dumps(summaries))


ROLES = {stage: {"model": f"openai/{stage}", "temperature": 0.5} for stage in ("planner", "editor", "verifier")}
STUDIES: dict[str, dict[str, Any]] = {
    "essays": {
        "tests": ["synthetic_ordinal"],
        "evaluation": {"template": "single_autograder"},
        "labels": [str(number % 6 + 1) for number in range(6)],
    },
    # The defaults have a section for agents whatever the tests are.
    "binary": {
        "tests": ["label_flip"],
        "labels": ["0", "1"] * 2,
        "test_agent_perturbation_config": {"input_log_path": "./inputs/data/other/other.eval", "planner": None},
    },
    "agents": {
        "tests": ["label_flip", "agent_perturbation"],
        "labels": ["0", "1"] * 2,
        "test_agent_perturbation_config": {
            **ROLES,
            "input_log_path": "./inputs/data/logs/runs.eval",
            "rubric_path": "./inputs/data/logs/rubric.json",
            "max_edit_rounds": 20,
            "transcript_preprocessors": ["agent_helpers.preprocessors.drop_reasoning_traces"],
        },
    },
}
"""The shapes of the three study configurations and the defaults: tests, template, sections."""


def answer_any(body: Mapping[str, Any]) -> Any:
    """Answer as whoever is asked; every text names the label that it is made for."""
    prompt = prompt_of(body)
    if wanted := re.search(r"(?:gives level|has to answer:) (\d)", prompt):
        return json.dumps(
            {"response": f"A text worth {wanted[1]}. It has some words {share(prompt)}.", "changes": ["it"]}
        )
    if any(f"/{stage}" in str(body["model"]) for stage in ROLES) or "Summarise" in prompt:
        return Agents({(item, "planner"): plan((2, "say no")) for item in ("item-1", "item-2")})(body)
    worth = re.findall(r"worth (\d)", prompt)
    label = worth[-1] if worth else "satisfies" if "transcript" in prompt else "1"
    return json.dumps({"rationale": "So it is.", "verdict": label, "label": label, "level": label, "reason": "It is."})


@loop_over("study", STUDIES)
def test_an_equal_of_every_configuration_runs(tmp_path: Path, study: str) -> None:
    project = Inside(tmp_path / study, env={KEY_VARIABLE: KEY})
    settings = dict(STUDIES[study])
    labels = settings.pop("labels")
    config = written(project.path, "items.csv", settings.pop("tests"), **settings)
    table(project.path, labels)
    logs = project.path / "inputs" / "data" / "logs"
    logs.mkdir()
    agent_log(logs / "runs.eval")
    (logs / "rubric.json").write_text(json.dumps([{"id": "calm", "instructions": "It stays calm."}]), encoding="utf-8")
    text, suite = suite_after(project.path, config)
    assert "was not found" not in text
    with ChatServer(answer_any) as server:
        for model in suite["models"].values():
            model |= {"provider": "openai-http", "base_url": server.url, "api_key_env": KEY_VARIABLE}
        (project.path / "suite.yaml").write_text(yaml.safe_dump(suite | {"reports": ["json"]}), encoding="utf-8")
        asked = ("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--no-preflight", "--no-wait", "--yes")
        waiting = project.run(*asked)
        assert waiting.exit_code == 3, waiting.output
        assert "waiting for a decision before any judge is asked" in waiting.output
        with review_desk(project.path / "run") as desk:
            for case in desk.make_queue(None):
                decision = Decision(case_id=case.case_id, reviewer="Ann", made="", action=ReviewAction.ACCEPT)
                desk.decide(decision, desk.review(case.case_id).version("Ann"))
        finished = project.run(*asked)
        assert finished.exit_code == 0, finished.output
        requests = server.requests
    measured = {each["test"] for each in report(project, "run")["measures"]}
    assert measured >= {name for part in suite.get("tasks", [suite]) for test in part["tests"] for name in test}
    if study == "agents":
        assert [part["name"] for part in suite["tasks"]] == ["items", "agents"]
        assert suite["tasks"][1]["tests"][0]["agent-perturbation"]["max_steps"] == 20
        assert not any("A secret." in prompt_of(body) for body in requests)
        assert {body["model"] for body in requests} >= {stage["model"] for stage in ROLES.values()}
        assert {body["temperature"] for body in requests if body["model"] == "openai/planner"} == {0.5}


def test_prompts_alone_get_a_model_that_responds_and_the_suite_runs(tmp_path: Path) -> None:
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    config = written(tmp_path, "items.csv", ["format_invariance_1"])
    rows = "".join(f"Tell me about harm {number}.,x{number}\n" for number in range(4))
    (tmp_path / "inputs" / "data" / "module" / "items.csv").write_text(f"ask,kind\n{rows}", encoding="utf-8")
    text, suite = suite_after(tmp_path, config)
    assert (suite["data"]["prompts"], suite["responses"]) == (True, {"model": "target"})
    assert "# To do: name the model whose responses are judged: `target` in `models`." in text
    with ChatServer(lambda body: "No.\n\nI will not." if body["model"] == "openai/gpt-4o-mini" else "1") as server:
        suite["models"]["judge"]["model"] = "judge"
        del suite["review"]
        for model in suite["models"].values():
            model |= {"provider": "openai-http", "base_url": server.url, "api_key_env": KEY_VARIABLE}
        (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite | {"reports": ["json"]}), encoding="utf-8")
        done = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--no-preflight", "--yes")
    assert done.exit_code == 0, done.output
    assert "wrote the responses to 4 of 4 prompts" in " ".join(report(project, "run")["notes"])
