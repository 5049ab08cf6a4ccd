"""The page about the two papers names only tests, examples and commands that are there, and all their settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
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


HERE: dict[str, tuple[Sequence[str], int, Sequence[str]]] = {
    "jrh plan examples/demo.yaml": (["plan", "demo.yaml"], 0, ["Intervals are for a rate of 0.5", "80% power"]),
    "jrh plan SUITE": (["plan", "demo.yaml"], 0, ["paraphrase"]),
    "jrh plan": (["plan", "demo.yaml"], 0, ["verbosity"]),
    "jrh run examples/demo.yaml": (["run", "demo.yaml", "--run-dir", "run"], 0, ["format", "paraphrase", "verbosity"]),
    "jrh run SUITE --run-dir RUN": (["run", "demo.yaml", "--run-dir", "run"], 0, ["No model was called"]),
    "jrh run SUITE --test NAME": (["run", "demo.yaml", "--test", "format", "--run-dir", "one"], 0, ["format"]),
    "jrh report RUN --format papers": (["report", "run", "--format", "papers"], 0, ["run/papers"]),
    "jrh gate": (["gate", "run", "--rule", "as-expected[format] >= 0", "--allow-missing", "0.9"], 5, ["Gate of demo"]),
    "jrh compare": (["compare", "run", "one"], 0, ["paired: 30 by id"]),
}
"""Command of the page -> how it is run here on the runs of one project, its exit code, and what it prints."""
RUN_BY = {
    "jrh export-transcripts": ("tests/test_inspect_end_to_end.py", '"export-transcripts", "run"'),
    "jrh import FOLDER --from judge-reliability-harness": (
        "plugins/import/tests/test_result_folder.py",
        '"--from", "judge-reliability-harness"',
    ),
    "jrh import LOG --from judgesense": ("plugins/import/tests/test_decisions.py", '"--from", "judgesense"'),
    "jrh import LOG --option runs=first-success": (
        "plugins/import/tests/test_listed_pairs.py",
        '"--option", "runs=first-success"',
    ),
    "jrh init-from CONFIG": ("tests/test_init_from.py", '"init-from", str(config)'),
    "jrh ping SUITE": ("tests/test_ping.py", '"ping", "suite.yaml"'),
    "jrh review RUN": ("tests/browser/test_review.py", '"review", str(run_dir)'),
    "python examples/judge-reliability-harness/run.py": ("tests/test_example_judge_reliability_harness.py", "run.py"),
    "python examples/judgesense/run.py": ("tests/test_example_judgesense.py", "run.py"),
}
"""Every other command: the test that runs it, and what is in there."""


def test_every_command_of_the_page_is_run_here_or_by_a_test_it_names() -> None:
    shown = set(re.findall(r"`((?:jrh|python) [^`]+)`", PAGE))
    assert shown == HERE.keys() | RUN_BY.keys()
    for path, mark in RUN_BY.values():
        assert mark in (ROOT / path).read_text(encoding="utf-8"), path
    # A command that shows a row is run where pytest finds it, and so is every test that shows one.
    named = {name for row in ROWS for name in re.findall(r"`((?:tests|plugins|core)/[^`]+)`", row.rsplit(" | ", 1)[1])}
    assert (
        sorted(name for name in named | {path for path, _ in RUN_BY.values()} if not collected_from(ROOT / name)) == []
    )


def collected_from(path: Path) -> list[str]:
    """Return the tests that pytest collects from a file or folder, by the rules of pyproject.toml."""
    files = [path] if path.is_file() else sorted(path.glob("test_*.py"))
    return [
        node.name
        for file in files
        if file.name.startswith("test_")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.name.startswith(("test_", "Test"))
    ]


def test_the_commands_print_what_the_rows_say(tmp_path: Path) -> None:
    suite = yaml.safe_load((ROOT / "examples" / "demo.yaml").read_text(encoding="utf-8"))
    # One task and six items: the whole demo takes ten times as long and prints the same (`tests/test_golden.py`).
    small = {**suite, "tasks": [{**task, "data": {**task["data"], "sample": {"n": 6}}} for task in suite["tasks"][1:2]]}
    (tmp_path / "demo.yaml").write_text(yaml.safe_dump(small), encoding="utf-8")
    for command, (arguments, code, printed) in HERE.items():
        outcome = call(Project(tmp_path), *arguments)
        assert outcome.exit_code == code, f"{command}: {outcome.output}"
        said = " ".join(outcome.output.split())
        assert [text for text in printed if text not in said] == [], f"{command}: {said}"
