"""`jrh init --data` on small tables as people have them: it says what it guessed, and what it writes can be planned."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from jrh_testing import ChatServer, Inside, loop_over

_RIGHT = "The capital is Paris. It is the largest city there, has 2 airports, and the seat of the government is there."
_WRONG = "I believe that the answer is Madrid, which is a city known for many things, 12 theatres and good food."
_ROWS = 12


def _table(header: str, *columns: Sequence[object], delimiter: str = ",") -> str:
    """Return a csv file: a question and an answer per row, then the columns that are given."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow(header.split(","))
    for row in range(_ROWS):
        texts = [f"What is the capital of country {row}?", f"{_RIGHT if row % 3 else _WRONG} Case {row}."]
        writer.writerow([*texts, *(column[row % len(column)] for column in columns)])
    return file.getvalue()


def _pairs(one: str, other: str, label: str, labels: Sequence[object]) -> str:
    other_texts = [f"{_WRONG} Answer {row}." for row in range(_ROWS)]
    return _table(",".join(filter(None, ["question", one, other, label])), other_texts, *([labels] if label else []))


def _objects(**columns: Sequence[object]) -> str:
    rows = [
        {"input": f"What is {row}?", "output": f"{_RIGHT} Case {row}."}
        | {name: values[row % len(values)] for name, values in columns.items()}
        for row in range(_ROWS)
    ]
    return "\n".join(map(json.dumps, rows))


_YES = ("yes", "no")
_TABLES = {
    "words": (_table("question,answer,verdict", ("correct", "incorrect")), [], ["Positive label: correct."]),
    "ordinal numbers": (_table("question,answer,rating", (1, 2, 3, 4, 5)), [], ["scale: 1, 2, 3, 4, 5."]),
    "three words": (
        _table("question,answer,grade", ("bad", "fair", "good")),
        [],
        ["Left out: label-flip", "in order?"],
    ),
    "three words in order": (
        _table("question,answer,grade", ("poor", "fair", "good")),
        ["--scale", "ordinal: poor, fair, good"],
        ["scale: poor, fair, good."],
    ),
    "no labels": (_table("prompt,completion"), ["--scale", "YES,NO"], ["No labels", "Left out: baseline"]),
    "levels without labels": (
        _table("prompt,completion"),
        ["--scale", "1-5"],
        ["Left out: label-flip", "No id column"],
    ),
    "decimals": (
        _table("question,answer,score", (1.25, 2.5, 3.75, 5.0)),
        [],
        ["rounded to whole numbers", "2, 3, 4, 5."],
    ),
    "decimal commas": (
        _table("question,answer,score", ("1,0", "2,5", "3,5", "5,0"), delimiter=";").replace(",answer", ";answer"),
        [],
        ["from 1,0 to 5,0: rounded to whole numbers", "scale: 1, 2, 3, 4, 5."],
    ),
    "few groups": (
        _table("question,answer,label,topic", _YES, ("sport", "art")),
        [],
        ["count as dependent: 2 groups make wide intervals. Independent? --column group= --column stratum=topic"],
    ),
    "groups that are none": (
        _table("question,answer,label,topic", _YES, ("sport", "art")),
        ["--column", "group=", "--column", "stratum=topic"],
        ["stratum = topic"],
    ),
    "decimals on a range": (_table("question,answer,score", (1.2, 9.7, 4.4)), ["--scale", "0-10"], ["from 1.2 to 9.7"]),
    "decimals as no labels": (
        _table("question,answer,score", (0.2, 0.7, 0.4)),
        ["--scale", "0-10", "--column", "label="],
        ["Not used: score."],
    ),
    "0 and 1": (_table("question,answer,label", (0, 1)), [], ["scale: 1, 0.", "Positive label: 1."]),
    "0 and 1 as levels": (_table("question,answer,label", (0, 1)), ["--scale", "0-1"], ["scale: 0, 1."]),
    "booleans": (_objects(is_correct=(True, False)), [], ["Positive label: true."]),
    "missing labels": (
        _table("question,answer,label", ("yes", "n/a", "no", "NA")),
        [],
        ["No label: n/a, NA.", "6 rows"],
    ),
    "one label": (
        _table("question,answer,label", ("YES",)),
        ["--scale", "YES,NO"],
        ["All 12 labels are YES: agreement cannot be measured.", "Left out: baseline"],
    ),
    "other case": (_table("question,answer,label", _YES), ["--scale", "YES,NO"], ["Labels: no = NO, yes = YES."]),
    "repeated ids": (
        _table("question,answer,uid,label", (10, 11, 10), _YES),
        [],
        ["uid repeats ('10' 8 times): rows are"],
    ),
    "repeated id": (
        _table("question,answer,id,label", (10, 11, 10), _YES),
        [],
        ["id repeats ('10' 8 times): rows are"],
    ),
    "unused columns": (_table("question,answer,label,notes", _YES, ("x",)), [], ["Not used: notes."]),
    "bytes of Windows": (_table("question,answer,label", ("schön", "übel")), [], ["read as cp1252"]),
    "models named": (
        _pairs("Model A response", "Model B response", "Winner", ("model_a", "model_b", "tie")),
        [],
        ["response_b = Model B response", "Labels: model_a = A, model_b = B."],
    ),
    "numbers of options": (
        _pairs("response1", "response2", "preference", (0, 1, 2)),
        [],
        ["Labels: 0 = tie, 1 = A, 2 = B.", "Left out: label-flip"],
    ),
    "first and second": (_pairs("answer_1", "answer_2", "winner", ("first", "second")), [], ["first = A, second = B"]),
    "pairs without labels": (_pairs("response_a", "response_b", "", ()), [], ["Scale: A, B."]),
    "chosen": (_pairs("chosen", "rejected", "", ()), [], ["Every pair has the label A"]),
    "own words of a comparison": (
        _pairs("response_a", "response_b", "winner", ("x", "y")),
        ["--label", "x=A", "--label", "y=B"],
        ["Labels: x = A, y = B."],
    ),
    "semicolons": (
        _table("question,answer,label", _YES, delimiter=";").replace(",answer", ";answer"),
        [],
        ["scale: yes"],
    ),
}
"""Name -> the file, flags, and parts of what init says."""


def _write(project: Inside, name: str) -> tuple[str, Sequence[str], Sequence[str]]:
    text, flags, said = _TABLES[name]
    file = "table.jsonl" if text.startswith("{") else "table.csv"
    encoding = "cp1252" if "ö" in text else "utf-8"
    (project.path / file).write_bytes(text.encode(encoding))
    return file, flags, said


_PLANNED = {
    "words",
    "decimals",
    "decimal commas",
    "0 and 1",
    "missing labels",
    "one label",
    "bytes of Windows",
    "models named",
    "chosen",
}
"""Tables whose suite is planned, too: writing one has tried its tests."""


@loop_over("name", [pytest.param(name, id=name) for name in _TABLES])
def test_the_guesses_are_said_and_the_suite_can_be_planned(tmp_path: Path, name: str) -> None:
    project = Inside(tmp_path)
    file, flags, said = _write(project, name)

    written = project.run("init", "--data", file, *flags, "--force")
    assert written.exit_code == 0, written.stderr
    assert [part for part in said if part not in written.stdout] == []
    assert "Wrong? Use --column label=NAME or --scale 1-6 (add --force)." in written.stdout

    if name in _PLANNED:
        planned = project.run("plan", "suite.yaml")
        assert planned.exit_code == 0, planned.stderr
        assert "has no cases" not in planned.stdout + planned.stderr


@loop_over("name", ["levels without labels", "numbers of options", "repeated id"])
def test_the_suite_written_for_a_table_runs(tmp_path: Path, name: str) -> None:
    project = Inside(tmp_path)
    file, flags, _ = _write(project, name)
    assert project.run("init", "--data", file, *flags, "--force").exit_code == 0

    ran = project.run("run", "suite.yaml", "--limit", "6", "--run-dir", f"runs/{name}")
    assert ran.exit_code == 0, ran.stdout + ran.stderr


_UNCOMMENT = "# A chat model as judge: remove the first two characters of each line below.\n"


@loop_over("flags", [pytest.param([], id="as a comment"), pytest.param(["--judge", "openai/gpt-4o-mini"], id="active")])
def test_the_chat_model_that_init_writes_judges(tmp_path: Path, flags: Sequence[str]) -> None:
    project = Inside(tmp_path, {"OPENAI_API_KEY": "sk-test-1"})
    file, _, _ = _write(project, "ordinal numbers")
    written = project.run("init", "--data", file, *flags, "--force")
    hint = "Set the variable OPENAI_API_KEY to your key" if flags else "No chat model judges yet: uncomment the end of"
    assert hint in written.stdout

    suite = project.read("suite.yaml")
    assert ("simulated" not in suite) == bool(flags)
    before, found, commented = suite.partition(_UNCOMMENT)
    assert bool(found) != bool(flags)
    lines = commented.splitlines()
    assert all(line.startswith("# ") for line in lines)
    # The rubric, too: what a person completes is what the judge reads.
    suite = before.replace("  # rubric", "  rubric").replace("  #   1: ...", "    1: wrong\n")
    suite += "\n".join(line[2:] for line in lines) + "\n"
    with ChatServer("4", require_key="sk-test-1") as server:
        project.write("suite.yaml", suite.replace("https://api.openai.com/v1", server.url))
        ran = project.run("run", "suite.yaml", "--limit", "6", "--yes", "--set", "tests=[format]", "--no-cache")
        assert ran.exit_code == 0, ran.stdout + ran.stderr
        asked = server.requests
    assert {request["model"] for request in asked} == {"gpt-4o-mini"}
    assert all("1: wrong" in str(request["messages"]) for request in asked)
    assert "gpt-4o-mini" in ran.stdout


def test_every_model_that_is_named_judges_and_one_that_none_reaches_is_refused(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    file, _, _ = _write(project, "words")
    names = ["openai/gpt-4o-mini", "openai/gpt-4.1", "litellm/azure/gpt-4.1"]
    flags = [word for name in [*names, names[0]] for word in ("--judge", name)]
    assert project.run("init", "--data", file, *flags).exit_code == 0
    suite = yaml.safe_load(project.read("suite.yaml"))
    models = suite["models"]
    assert {name: (model["provider"], model["model"]) for name, model in models.items()} == {
        "gpt-4o-mini": ("openai-http", "gpt-4o-mini"),
        "gpt-4.1": ("openai-http", "gpt-4.1"),
        "litellm-azure-gpt-4.1": ("litellm", "azure/gpt-4.1"),
    }
    # The price is that of the model it was written for.
    assert [name for name, model in models.items() if "price" in model] == ["gpt-4o-mini"]
    assert [judge["model"] for judge in suite["judges"] if isinstance(judge, dict)] == [*models]

    refused = project.run("init", "other.yaml", "--data", file, "--judge", "gpt-4o-mini")
    assert refused.exit_code == 2
    assert "no installed plugin reaches 'gpt-4o-mini'" in refused.stderr
    assert "openai/MODEL" in refused.stderr
    assert "reaches '/x'" in project.run("init", "other.yaml", "--data", file, "--judge", "/x").stderr


@loop_over(
    "text, flags, message",
    [
        pytest.param(
            _pairs("response_a", "response_b", "winner", ("x", "y")), [], "--label x=A", id="labels of a pair unknown"
        ),
        pytest.param(
            _table("question,answer_1,label", _YES),
            [],
            'but response_b is missing: --column response_b=NAME, or --column "response=answer_1"',
            id="half a pair",
        ),
        pytest.param(
            _table("question,verdict_text,label", _YES),
            ["--column", "response_b=verdict_text"],
            "response_a is missing: --column response_a=NAME",
            id="half a pair named",
        ),
        pytest.param(_pairs("left", "right", "", ()), [], "left and right look like a pair", id="a pair by content"),
        pytest.param(
            _table("question,answer,label", _YES),
            ["--column", "labl=label"],
            "did you mean --column label=label?",
            id="target",
        ),
        pytest.param(
            _table("question,answer,label", _YES),
            ["--column", "gold=label"],
            "did you mean --column label=label?",
            id="target by another name",
        ),
        pytest.param(_table("question,answer,label", _YES), ["--option", "sheet=x"], "no option 'sheet'", id="option"),
        pytest.param(
            _table("question,answer,score", (0.1, 0.35)),
            ["--scale", "0-10"],
            "decimals from 0.1 to 0.35",
            id="decimals",
        ),
        pytest.param(_table("question,answer,label", ("YES",)), [], "all labels are YES; add --scale", id="one label"),
        pytest.param(
            _table("question,answer,label", _YES).replace(f'"{_WRONG} Case 0."', ""),
            [],
            "column 'answer' (response) is empty",
            id="no response in a row",
        ),
    ],
)
def test_where_a_table_stops_it_the_guess_and_the_flag_are_shown(
    tmp_path: Path, text: str, flags: Sequence[str], message: str
) -> None:
    project = Inside(tmp_path)
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    outcome = project.run("init", "--data", "table.csv", *flags)
    assert outcome.exit_code == 2
    assert message in outcome.stderr
    # Flags that are wrong are refused before the table is read.
    assert ("Read 12 rows: " in outcome.stderr) == (flags[:1] != ["--option"] and "did you mean" not in message)
    assert not (tmp_path / "suite.yaml").exists()
