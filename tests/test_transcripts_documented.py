"""The examples of docs/transcripts.md, run as they are."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest
from jrh_testing import ChatServer, Project
from support.keys import KEY_VARIABLE
from support.looking import query, report

pytestmark = pytest.mark.inside
ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "transcripts.md").read_text(encoding="utf-8")


@pytest.fixture
def documented(project: Project) -> Project:
    """A project with the files of the page."""
    for name, text in re.findall(r"```\w+ (\S+)\n(.*?)```", PAGE, re.DOTALL):
        project.write(name, text)
    return project


def test_the_first_suite_is_judged_and_its_edits_are_exported(documented: Project) -> None:
    done = documented.run("run", "suite.yaml")
    assert done.exit_code == 0, done.output
    assert [task["task"]["name"] for task in report(documented, "runs/agents")["tasks"]] == ["agents.truthful"]
    done = documented.run("export-transcripts", "runs/agents", "--jsonl", "edited.jsonl")
    assert done.exit_code == 0, done.output
    count = query(documented, "runs/agents", "SELECT count(*) FROM cases WHERE test != 'reference'")[0][0]
    assert done.stdout == f"Wrote {count} edited transcripts to edited.jsonl.\n"
    assert count > 0


def test_the_python_example_prints_what_the_page_shows() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (shown,) = re.findall(r"```\n(\[1\].*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "transcripts.md", "exec"), {})
    assert printed.getvalue() == shown


def test_the_suite_over_a_log_is_judged_and_written_back(documented: Project, inspect_logs: Path) -> None:
    logs = documented.path / "logs"
    logs.mkdir()
    shutil.copy(inspect_logs / "made.eval", logs / "made.eval")
    with ChatServer('{"rationale": "[7] agrees.", "verdict": "satisfies"}') as server:
        suite = documented.read("inspect.yaml").replace("https://api.openai.com/v1", server.url)
        documented.write("inspect.yaml", suite.replace("OPENAI_API_KEY", KEY_VARIABLE))
        done = documented.run("run", "inspect.yaml", "--yes")
        assert done.exit_code == 0, done.output
        assert server.count > 0
    (command,) = re.findall(r"jrh (export-transcripts .*)", PAGE)
    done = documented.run(*command.split())
    assert done.exit_code == 0, done.output
    assert (documented.path / "edited.eval").is_file()
    assert (documented.path / "edited.jsonl").is_file()
