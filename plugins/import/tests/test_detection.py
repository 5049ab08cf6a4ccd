"""`jrh import FILE` without `--from`: the tool is found by reading, and what could be several is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jrh.importing import tools_of
from jrh_testing import Inside

pytestmark = pytest.mark.inside
EXPORTS = sorted((Path(__file__).parent / "exports").glob("*.json*"))


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.name)
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
        "from jrh import JrhError, hookimpl\nfrom jrh.importing import ScoreOptions\n"
        "from jrh.plugins import ImporterSpec\n"
        "class Asks:\n    def __init__(self, options): pass\n    def read(self, path): raise JrhError('say which')\n"
        "@hookimpl\ndef jrh_importers():\n    for name in ('one', 'two'):\n"
        "        yield ImporterSpec(name=name, summary='s', options=ScoreOptions, factory=Asks)\n"
    )
    project.write("mine.py", plugin)
    project.write("log.json", json.dumps({"x": 1}))
    done = project.run("import", "log.json", "--plugins", "mine.py")
    assert done.exit_code == 2
    assert "'log.json' may be of one or two: say with --from which" in done.stderr


def test_a_file_of_no_tool_is_still_explained(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("log.jsonl", '{"x": 1}\n')
    done = project.run("import", "log.jsonl")
    assert done.exit_code == 2
    assert "'log.jsonl' is a table. If another tool exported it, name the tool" in done.stderr


@pytest.mark.parametrize("text", ["", "\n", "[]", "nul", '[{"id": "x"}]', "[" * 100_000], ids=range(6))
def test_a_broken_file_is_of_no_tool(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    assert "judgesense" not in tools_of(path, {})
