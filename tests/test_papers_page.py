"""The page about the two papers names only tests, examples and commands that are there, and all their settings."""

from __future__ import annotations

import re
from pathlib import Path

import click
import yaml
from jrh.cli import cli
from jrh_testing import Project, call

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| row", "|---"))]
SETTINGS = """
module_name time_stamp test_debug_mode output_file_format dataset_name default_params_path
use_original_data_as_expected min_score max_score use_HITL_process tests_to_run preprocess_columns_map
template autograder_model_name overwrite_results max_workers tests_to_evaluate metric bootstrap_size
bootstrap_repetitions get_cost_curves sample_num_from_orig number_of_seeds repetitions seed
generation_model_name validation_model_name max_tokens_generation max_tokens_validation use_similarity_filter
target_num_per_bucket similarity_threshold rescore_sample_size initial_temp num_seed_examples_per_generation
temp_increment max_temp_cap max_consecutive_failures input_log_path rubric_path target_rubric_ids
max_summary_messages max_edit_rounds trace_messages transcript_preprocessors autograder_default_params
score_targets objective pass_required planner editor summary verifier output
"""
"""Keys of the default configuration of RANDCorporation/judge-reliability-harness, and of its guide to agents."""


def test_every_file_it_names_exists() -> None:
    named = set(re.findall(r"`((?:tests|plugins|core|examples)/[\w/.-]+)`", PAGE))
    assert len(named) > 60
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_command_it_names_exists() -> None:
    named = set(re.findall(r"`jrh ([a-z-]+)", PAGE))
    assert {"run", "report", "plan", "review", "init-from", "import", "compare", "gate"} <= named
    assert named <= set(cli.list_commands(click.Context(cli)))
    scripts = set(re.findall(r"`python ([\w/.-]+)", PAGE))
    assert len(scripts) == 2
    assert all((ROOT / script).is_file() for script in scripts)
    targets = set(re.findall(r"`make ([a-z-]+)`", PAGE))
    assert all(re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M) for target in targets)


def test_every_row_says_where_it_is_and_what_shows_it() -> None:
    assert len(ROWS) > 160
    cells = {row: [cell.strip() for cell in row.strip("|").split(" | ")] for row in ROWS}
    assert [row for row, own in cells.items() if len([cell for cell in own if cell]) != 3] == []
    # Whatever jrh has is shown by a test or a command; only what it does not have may be without.
    assert [row for row, own in cells.items() if own[2] == "-" and not own[1].startswith("no")] == []
    assert [row for row, own in cells.items() if own[1].startswith("partly") or own[1] == "no"] == [], "no has a reason"
    assert [row for row, own in cells.items() if own[2] != "-" and "`" not in own[2]] == []


def test_every_setting_of_their_configuration_has_a_row() -> None:
    firsts = " ".join(row.split(" | ")[0] for row in ROWS)
    assert [name for name in SETTINGS.split() if not re.search(rf"\b{name}\b", firsts)] == []


RUN_BY = {
    "jrh run examples/demo.yaml": ("tests/support/golden.py", "demo.yaml"),
    "jrh plan examples/demo.yaml": ("tests/test_papers_page.py", "test_the_plan_of_the_demo_shows_its_rows"),
    "python examples/judgesense/run.py": ("tests/test_example_judgesense.py", "run.py"),
}
"""Command of the last column -> the test that runs it, and what is in there."""


def test_a_test_runs_every_command_that_shows_a_row() -> None:
    shown = {each for row in ROWS for each in re.findall(r"`((?:jrh|python) [^`]+)`", row.rsplit(" | ", 1)[1])}
    assert shown == set(RUN_BY)
    for path, mark in RUN_BY.values():
        assert mark in (ROOT / path).read_text(encoding="utf-8"), path


def test_the_plan_of_the_demo_shows_its_rows(tmp_path: Path) -> None:
    suite = yaml.safe_load((ROOT / "examples" / "demo.yaml").read_text(encoding="utf-8"))
    # One of its tasks: a plan of all takes four times as long and says the same.
    (tmp_path / "demo.yaml").write_text(yaml.safe_dump({**suite, "tasks": suite["tasks"][:1]}), encoding="utf-8")
    outcome = call(Project(tmp_path), "plan", "demo.yaml")
    assert outcome.exit_code == 0, outcome.output
    said = " ".join(outcome.output.split())
    for shown in ("Intervals are for a rate of 0.5", "80% power", "paraphrase"):
        assert shown in said, said
