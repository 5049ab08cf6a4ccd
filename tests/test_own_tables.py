"""`jrh init --data` suggests the tests and judges that the data allow: what it writes can be planned and runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jrh_testing import Inside, loop_over

_RIGHT = "The capital is Paris. It is the largest city there and the seat of the government with 2 airports."
_WRONG = "I believe that the answer is Madrid which is a city known for many things and good food."


def _table(header: str, labels: Sequence[object] = (), other: str = "") -> str:
    """Return a csv file of 12 rows: a question, an answer, perhaps another answer, and a label."""
    lines = [header]
    for row in range(12):
        answers = [f"{_RIGHT if row % 3 else _WRONG} Case {row}.", *([f"{other} Answer {row}."] if other else [])]
        label = [str(labels[row % len(labels)])] if labels else []
        lines.append(",".join([f"What is the capital of country {row}?", *answers, *label]))
    return "\n".join(lines) + "\n"


_TABLES = {
    "two words": (_table("question,answer,verdict", ("correct", "wrong")), [], ["12 rows with a label"]),
    "three words": (
        _table("question,answer,grade", ("bad", "fair", "good")),
        [],
        ["Left out: label-flip (the scale has 3"],
    ),
    "no labels": (_table("prompt,completion"), ["--scale", "YES,NO"], ["Left out: label-flip", "Left out: baseline"]),
    "levels": (_table("question,answer,rating", (1, 2, 3, 4, 5)), [], ["scale: 1, 2, 3, 4, 5."]),
    "levels without labels": (_table("prompt,completion"), ["--scale", "1-5"], ["Left out: label-flip (no cases: the"]),
    "pairs": (
        _table("question,answer_1,answer_2,winner", ("A", "B", "tie"), _WRONG),
        [],
        ["Left out: label-flip (no cases: this error could improve the other response of the pair"],
    ),
}
"""Name -> the file, flags, and parts of what init says."""


def _write_suite(project: Inside, name: str) -> str:
    text, flags, said = _TABLES[name]
    project.write("table.csv", text)
    written = project.run("init", "--data", "table.csv", *flags, "--force")
    assert written.exit_code == 0, written.output
    assert [part for part in said if part not in written.stdout] == []
    return (project.path / "suite.yaml").read_text(encoding="utf-8")


@loop_over("name", list(_TABLES))
def test_the_suite_written_for_a_table_can_be_planned(tmp_path: Path, name: str) -> None:
    project = Inside(tmp_path)
    suite = _write_suite(project, name)
    assert ("# Left out: label-flip" in suite) == any("label-flip" in part for part in _TABLES[name][2])

    planned = project.run("plan", "suite.yaml")
    assert planned.exit_code == 0, planned.output
    assert "has no cases" not in planned.output


@loop_over("name", ["three words", "levels without labels", "pairs"])
def test_the_suite_written_for_a_table_runs(tmp_path: Path, name: str) -> None:
    project = Inside(tmp_path)
    _write_suite(project, name)
    ran = project.run("run", "suite.yaml", "--run-dir", f"runs/{name}")
    assert ran.exit_code == 0, ran.output


def test_a_table_that_a_run_refuses_gets_no_suite(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("table.csv", _table("question,answer,verdict", ("correct", "wrong")) + "Who?,,wrong\n")
    outcome = project.run("init", "--data", "table.csv")
    assert outcome.exit_code == 2
    assert "column 'answer' (response) is empty" in outcome.stderr
    assert "Read 13 rows: response = answer" in outcome.stderr
    assert not (tmp_path / "suite.yaml").exists()
