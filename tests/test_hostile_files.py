"""Files that never end, or are not what they seem, are refused; a reply that says two things says nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jrh.errors import ModelFault
from jrh_authoring import read_json
from jrh_chat.completions import read_completion
from jrh_testing import ChatServer, Inside, Project, loop_over
from support.keys import KEY, KEY_VARIABLE
from support.looking import one
from support.suites import llm_suite, openai_http, simulated_suite, write_items, write_suite

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices")  # noqa: PTH110
@pytest.mark.parametrize("kind", ["device", "pipe", "huge"])
@pytest.mark.parametrize("where", ["file", "data"])
def test_what_never_ends_is_refused_at_once(project: Project, kind: str, where: str) -> None:
    write_items(project, 2)
    path = project.path / "endless.jsonl"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(100 * 1024 * 1024)
    changes: dict[str, Any] = {"data": {"source": "jsonl", "path": "endless.jsonl"}}
    if where == "file":
        changes = {"task": {"instruction": {"file": "endless.jsonl"}, "scale": {"labels": ["YES", "NO"]}}}
    if (kind, where) == ("huge", "data"):
        pytest.skip("data may be large")
    write_suite(project, simulated_suite(**changes))
    outcome = project.run("plan", "suite.yaml", timeout=60)
    assert outcome.exit_code == 2, outcome.output
    assert "not a regular file" in outcome.stderr or "is larger than" in outcome.stderr


def test_utf16_is_named_as_such(project: Project) -> None:
    write_items(project, 2)
    project.write("rubric.txt", "Is it right?".encode("utf-16"))
    write_suite(
        project, simulated_suite(task={"instruction": {"file": "rubric.txt"}, "scale": {"labels": ["YES", "NO"]}})
    )
    assert "'rubric.txt' is UTF-16 text; save the file as UTF-8" in project.run("plan", "suite.yaml").stderr
    project.write("suite.yaml", project.read("suite.yaml").encode("utf-16"))
    assert "this is UTF-16 text; save the file as UTF-8" in project.run("plan", "suite.yaml").stderr


@loop_over(
    "said",
    [
        '{"verdict": "YES", "verdict": "NO"}',
        '{"verdict": "YES", "verdict": "YES"}',
        '{"a": 1, "a": 1, "inner": {"verdict": "YES"}}',
        '{"verdict": "NO"} {"verdict": "YES", "verdict": "YES"}',
    ],
)
def test_no_object_of_a_reply_with_a_key_twice_is_read(said: str) -> None:
    assert read_json(said) is None
    assert read_json(said, keys=("verdict",)) is None


def test_a_reply_whose_json_has_a_key_twice_is_unparsable(project: Project) -> None:
    said = '{"verdict": "YES", "verdict": "YES"}'
    project.env[KEY_VARIABLE] = KEY
    write_items(project, 1)
    with ChatServer(said) as server:
        judge = {"name": "mini", "judge": "llm", "model": "mini", "parser": "json"}
        write_suite(project, llm_suite(openai_http(server.url), judges=[judge]))
        project.run("run", "suite.yaml", "--run-dir", "run")
    assert one(project, "run", "SELECT status FROM records") == "unparsable"


def test_an_answer_of_another_judge_or_server_with_a_key_twice_is_no_verdict(inside: Inside) -> None:
    write_items(inside, 1)
    twice = '{"label": "YES", "label": "NO"}'
    inside.write("judge.py", f"print('{twice}')\n")
    judge = {"name": "own", "judge": "command", "command": ["python", "judge.py"]}
    write_suite(inside, simulated_suite(tests=[], judges=[judge]))
    assert inside.run("run", "suite.yaml", "--run-dir", "run").exit_code == 3, "no verdict from any judge"
    assert one(inside, "run", "SELECT status || ': ' || detail FROM records") == (
        "unparsable: key 'label' appears twice in one object"
    )
    body = b'{"choices": [{"message": {"content": "YES", "content": "NO"}, "finish_reason": "stop"}]}'
    with pytest.raises(ModelFault, match="ambiguous JSON: key 'content' appears twice in one object"):
        read_completion(body)


@loop_over(
    "name, text, place",
    [
        ("log.jsonl", '{"id": 1}\n{"id": 2, "score": 1, "score": 5}\n', "log.jsonl:2:"),
        ("log.json", '[{"id": 1},\n {"id": 2, "score": 1, "score": 5}]\n', "log.json:2:"),
        ("log.json", '{"data": [{"id": 2, "deep": {"score": 1, "score": 5}}]}\n', "log.json:1:"),
    ],
)
def test_an_imported_file_with_a_key_twice_is_refused(inside: Inside, name: str, text: str, place: str) -> None:
    inside.write(name, text)
    for importer in ("promptfoo", "langsmith", "deepeval", "mlflow", "phoenix"):
        done = inside.run("import", name, "--from", importer, "--run-dir", "run")
        assert done.exit_code == 2
        assert place in done.stderr
        assert "key 'score' appears twice in one object" in done.stderr, done.stderr
    assert not (inside.path / "run").exists()


DEEP = "[" * 200_000 + "]" * 200_000
ROW = '"id": "1", "response": "a", "judge": "j", "verdict": "YES", "gold": "YES"'

WIDE = (json.dumps(dict.fromkeys(map(str, range(50_000)), 1)) + "\n") * 2


@loop_over(
    "name, text, why",
    [
        ("deep.json", DEEP, "nested too deeply: more than 100 levels"),
        ("deep.json", '{"a":' * 200_000 + "1" + "}" * 200_000, "nested too deeply: more than 100 levels"),
        ("deep.jsonl", f'{{{ROW}, "a": {DEEP}}}\n{{{ROW}}}\n', "nested too deeply: more than 100 levels"),
        # Python reads as many; whatever works on the value later would not.
        (
            "deep.jsonl",
            f'{{{ROW}, "a": {DEEP[199_500:200_500]}}}\n{{{ROW}}}\n',
            "nested too deeply: more than 100 levels",
        ),
        ("wide.csv", ",".join(f"c{number}" for number in range(50_000)) + "\n", "50,000 columns, and at most 16,384"),
        ("wide.csv", "x," * 999_999 + "x\n", "1,000,000 columns, and at most 16,384"),
        ("wide.jsonl", WIDE, "50,000 keys, and at most 16,384"),
        ("half.jsonl", f'{{{ROW}, "text": "\\ud800 a"}}\n{{{ROW}}}\n', "contains half of a surrogate pair"),
        ("half.json", f'[{{{ROW}, "text": "\\udfff"}}]', "contains half of a surrogate pair"),
    ],
)
def test_a_file_beyond_a_limit_is_one_message_before_anything_is_created(
    inside: Inside, name: str, text: str, why: str
) -> None:
    inside.write(name, text)
    columns = "columns: {item: id, judge: judge, label: verdict, gold: gold}"
    inside.write("import.yaml", f"name: x\npath: {name}\ntask: {{scale: {{labels: ['YES', 'NO']}}}}\n{columns}\n")
    kind = name.partition(".")[2]
    source = {"source": kind, "path": name, "columns": {"response": "response"}}
    write_suite(inside, simulated_suite(data=source))
    described = [("import", "import.yaml"), ("run", "suite.yaml")] if kind != "json" else []
    exported = [("import", name), ("import", name, "--from", "langsmith")] if kind != "csv" else []
    for command in (*described, *exported):
        done = inside.run(*command, "--run-dir", "run")
        assert done.exit_code == 2, (command, done.output[-2000:])
        assert why in done.stderr, (command, done.stderr[-2000:])
        assert "Traceback" not in done.stderr
        assert len(done.stderr) < 3000
    assert not (inside.path / "run").exists()


@pytest.mark.parametrize("kind", ["device", "pipe"])
@pytest.mark.parametrize("source", ["parquet", "csv"])
def test_no_source_waits_for_what_never_ends(project: Project, kind: str, source: str) -> None:
    path = project.path / f"endless.{source}"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    write_suite(project, simulated_suite(data={"source": source, "path": path.name}))
    outcome = project.run("plan", "suite.yaml", timeout=60)
    assert outcome.exit_code == 2, outcome.output
    assert f"{path.name} is not a regular file" in outcome.stderr


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl"])
def test_an_imported_table_that_never_ends_is_refused(project: Project, name: str) -> None:
    os.mkfifo(project.path / name)
    task = {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}}
    write_suite(project, {"name": "table", "path": name, "task": task, "values": {"judge": "mini"}}, "import.yaml")
    outcome = project.run("import", "import.yaml", timeout=60)
    assert outcome.exit_code == 2, outcome.output
    assert f"{name}: cannot be read: it is not a regular file" in outcome.stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [("..", "has dots only"), (".", "has dots only"), ("n" * 400, "has 400 characters; choose one of at most 100")],
)
def test_a_name_that_no_directory_can_have_is_refused(project: Project, name: str, why: str) -> None:
    write_items(project, 2)
    write_suite(project, simulated_suite(name=name))
    outcome = project.run("run", "suite.yaml")
    assert outcome.exit_code == 2, outcome.output
    assert why in outcome.stderr
    assert sorted(path.name for path in project.path.iterdir()) == ["items.jsonl", "suite.yaml"]


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    project = Inside(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    write_items(project, 2)
    write_suite(project, simulated_suite(tests=[{"format": {"variants": ["spaces"]}}]))
    return project


@pytest.mark.parametrize(
    "command",
    [
        ("init-from", "pipe", "other.yaml"),
        ("label", "suite.yaml", "--name", "ann", "--import", "pipe"),
        ("label", "suite.yaml", "--labels", "pipe", "--export", "gold.csv"),
        ("plan", "labelled.yaml"),
    ],
)
def test_no_command_waits_for_a_file_that_never_ends(inside: Inside, command: tuple[str, ...]) -> None:
    data = {"source": "jsonl", "path": "items.jsonl", "labels_from": "pipe"}
    write_suite(inside, simulated_suite(data=data), "labelled.yaml")
    outcome = inside.run(*command)
    assert outcome.exit_code == 2, outcome.output
    assert "it is not a regular file" in outcome.stderr


@pytest.mark.parametrize("source", ["jsonl", "csv"])
def test_a_line_without_an_end_is_refused(inside: Inside, source: str) -> None:
    with (inside.path / f"long.{source}").open("wb") as file:
        file.truncate(70 * 1024 * 1024)
    write_suite(inside, simulated_suite(data={"source": source, "path": f"long.{source}"}))
    outcome = inside.run("plan", "suite.yaml")
    assert outcome.exit_code == 2, outcome.output
    assert f"long.{source}:1: this line has more than 67,108,863 characters" in outcome.stderr


LAUGHS = 'l0: &l0 ["ha", "ha"]\n' + "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 12)}]\n" for n in range(1, 12))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LAUGHS + "admin: {perturbation_config: {tests_to_run: *l11}, dataset_config: {dataset_name: x}}\n", "values"),
        ("admin: " + "[" * 20_000 + "]" * 20_000, "recursion"),
        ("x: " + "y" * 1_000_001, "larger than 1 MB"),
    ],
    ids=["a billion laughs", "deep nesting", "long"],
)
def test_a_hostile_configuration_of_another_program_is_one_message(inside: Inside, text: str, why: str) -> None:
    inside.write("config.yml", text)
    outcome = inside.run("init-from", "config.yml", "other.yaml")
    assert outcome.exit_code == 2, outcome.output
    assert len(outcome.stderr.splitlines()) == 1
    assert why in outcome.stderr
