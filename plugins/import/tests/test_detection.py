"""`jrh import FILE` without `--from`: the tool is found by reading, and what could be several is said."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jrh.errors import JrhError
from jrh_interchange import read_objects, tools_of
from jrh_testing import Inside, loop_over

pytestmark = pytest.mark.inside
EXPORTS = sorted((Path(__file__).parent / "exports").glob("*.json*"))


@loop_over("path", EXPORTS, ids=lambda path: path.name)
def test_every_export_is_of_one_tool(path: Path) -> None:
    (tool,) = tools_of(path, {})
    assert tool.replace("-", "_") == path.name.partition(".")[0].removesuffix("_feedback").removesuffix("_spans")


def test_what_is_imported_is_the_same_with_and_without_the_tool(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    export = next(path for path in EXPORTS if path.name == "promptfoo.json")
    options = ("--metric", "output", "--gold", "metadata.human")
    told = [
        project.run("import", str(export), *more, *options, "--run-dir", f"run-{len(more)}")
        for more in ((), ("--from", "promptfoo"))
    ]
    assert [each.exit_code for each in told] == [told[1].exit_code] * 2
    first, rest = told[0].stdout.split("\n", 1)
    assert first == f"'{export}' was written by promptfoo: read with --from promptfoo."
    assert rest.replace("run-0", "run-2") == told[1].stdout


def test_a_file_of_several_tools_names_them(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    plugin = (
        "from jrh import JrhError, hookimpl\nfrom jrh_interchange import ScoreOptions\n"
        "from jrh.plugins import ImporterSpec\n"
        "class Asks:\n    def __init__(self, options): pass\n    def read(self, path): raise JrhError('say which')\n"
        "@hookimpl\ndef jrh_importers():\n    for name in ('one', 'two'):\n"
        "        yield ImporterSpec(name=name, summary='s', options=ScoreOptions, factory=Asks)\n"
    )
    project.write("mine.py", plugin)
    project.write("log.json", json.dumps({"x": 1}))
    done = project.run("import", "log.json", "--plugins", "mine.py")
    assert done.exit_code == 2
    assert "'log.json' may be from one or two; name the tool with --from" in done.stderr


def test_a_file_of_no_tool_is_still_explained(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("log.jsonl", '{"x": 1}\n')
    done = project.run("import", "log.jsonl")
    assert done.exit_code == 2
    assert "'log.jsonl' is a table. If another tool exported it, name the tool" in done.stderr


@pytest.mark.parametrize("text", ["", "\n", "[]", "nul", '[{"id": "x"}]'], ids=range(5))
def test_a_broken_file_is_of_no_tool(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    assert "judgesense" not in tools_of(path, {})


@pytest.mark.parametrize("text", ["[" * 100_000, '{"list": [' + "[1, " * 400_000], ids=["small", "large"])
def test_a_file_beyond_a_limit_is_refused_once_for_all_tools(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(JrhError, match="nested too deeply: more than 100 levels"):
        tools_of(path, {})


def _long(tmp_path: Path, name: str, rows: int, tail: str = "") -> Path:
    """An export of promptfoo, or feedback of LangSmith, with many rows; `tail` comes after them."""
    text = next(path for path in EXPORTS if path.name == name).read_text(encoding="utf-8")
    path = tmp_path / name
    if name.endswith(".jsonl"):
        lines = text.splitlines()
        many = [lines[number % len(lines)].replace('"id": "', f'"id": "{number}') for number in range(rows)]
        path.write_text("\n".join(many) + "\n" + tail, encoding="utf-8")
    else:
        document = json.loads(text)
        own = document["results"]["results"]
        document["results"]["results"] = [{**own[number % len(own)], "id": f"{number}"} for number in range(rows)]
        path.write_text(json.dumps(document) + tail, encoding="utf-8")
    return path


def test_the_first_lines_of_a_large_file_tell_whose_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _long(tmp_path, "langsmith_feedback.jsonl", 4000)
    opened: list[int] = []
    monkeypatch.setattr("jrh_import.exports.reader.read_objects", lambda file, *within: _noted(opened, file, *within))
    assert path.stat().st_size > 2_000_000
    assert tools_of(path, {}) == ("langsmith",)
    assert opened
    assert max(opened) <= 1_000_100


def test_a_document_is_looked_at_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _long(tmp_path, "promptfoo.json", 1000)
    assert tools_of(path, {}) == ("promptfoo",)
    monkeypatch.setattr("jrh_interchange.export_reading.LARGEST_LOOKED_AT", 100_000)
    assert tools_of(path, {}) == ()


def _noted(opened: list[int], file: Path, *within: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    opened.append(file.stat().st_size)
    return read_objects(file, *within)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "' + "]}," * 400_000 + '", "list": [1, 2]}',
        "[" + '{"x": "' + "\\" * 1_200_000,
        "]}" * 700_000,
        '{"x": 1,' + " " * 1_200_000 + '"y": 2}',
        "\n" * 1_200_000,
    ],
    ids=["brackets in a text", "backslashes", "closing only", "no list", "empty lines"],
)
def test_a_large_file_that_is_none_ends_soon(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    started = time.process_time()
    assert "promptfoo" not in tools_of(path, {})
    assert time.process_time() - started < 10


def test_a_pipe_without_a_tool_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    for name in ("log.json", "log.yaml"):
        os.mkfifo(tmp_path / name)
        done = project.run("import", name)
        assert (done.exit_code, done.stderr) == (2, f"jrh: '{name}' cannot be read: it is not a regular file\n")
