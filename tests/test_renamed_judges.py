"""A judge is the same judge under another name: nothing is asked again, and the report is that of a fresh run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from jrh_testing import ChatServer, Inside, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report
from support.suites import llm_suite, openai_http, simulated_suite, write_items, write_suite

pytestmark = pytest.mark.slow

ITEMS = 4
COUNTING = "with open({log!r}, 'a') as log:\n    log.write('x')\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide items and an empty project whose runs are calls in this process."""
    made = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    write_items(made, ITEMS)
    return made


@contextmanager
def endpoint(asked: list[str]) -> Iterator[str]:
    """Serve a judge that says YES, and note what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"label": "YES"}')

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@contextmanager
def counted(project: Project, kind: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], Callable[[], int]]]:
    """Provide a suite's models and a judge of this kind without its name, and the times that it was asked."""
    log = project.path / "asked"
    log.touch()
    counting = COUNTING.format(log=str(log))
    if kind == "llm":
        with ChatServer("YES") as server:
            yield {"mini": openai_http(server.url)}, {"judge": "llm", "model": "mini"}, lambda: server.count
    elif kind == "http":
        asked: list[str] = []
        with endpoint(asked) as url:
            yield {}, {"judge": "http", "url": url}, lambda: len(asked)
    elif kind == "command":
        project.write("own.py", f"{counting}print('YES')\n")
        command = [sys.executable, "-S", "own.py"]
        yield {}, {"judge": "command", "command": command}, lambda: len(log.read_text())
    else:
        body = "".join(f"    {line}\n" for line in counting.splitlines())
        project.write("rules.py", f"def judge(question):\n{body}    return 'YES'\n")
        yield {}, {"judge": "function", "function": "rules.py:judge"}, lambda: len(log.read_text())


def run(project: Project, models: dict[str, Any], judges: Sequence[dict[str, Any]], run_dir: str = "run") -> set[str]:
    """Run the judges; return the names in the report."""
    suite = {key: value for key, value in llm_suite({}, models=models, judges=list(judges)).items() if value != {}}
    write_suite(project, suite)
    outcome = project.run("run", "suite.yaml", "--run-dir", run_dir, "--no-cache")
    assert outcome.exit_code == 0, outcome.output
    return {measure["judge"] for measure in report(project, run_dir)["measures"]} - {""}


@pytest.mark.parametrize("kind", ["llm", "function", "command", "http"])
def test_renaming_a_judge_asks_nothing_again(project: Project, kind: str) -> None:
    with counted(project, kind) as (models, judge, asked):
        for name in ("first", "second", "first"):
            assert run(project, models, [{"name": name, **judge}]) == {name}
            assert asked() == ITEMS
        assert one(project, "run", "SELECT count(*) FROM records") == ITEMS


@pytest.mark.parametrize("kind", ["llm", "function"])
def test_a_renamed_judge_has_the_report_of_a_fresh_run(project: Project, kind: str) -> None:
    """Everything of a report but times, which differ between two runs."""
    with counted(project, kind) as (models, judge, _):
        run(project, models, [{"name": "first", **judge}])
        run(project, models, [{"name": "second", **judge}])
        run(project, models, [{"name": "second", **judge}], "fresh")
    renamed, fresh = (report(project, name) for name in ("run", "fresh"))
    for part in ("measures", "costs", "spending", "findings", "warnings"):
        assert renamed[part] == fresh[part]


def test_two_judges_that_exchange_their_names_keep_their_own_verdicts(project: Project) -> None:
    with counted(project, "function") as (models, judge, asked):
        project.write("no.py", "def judge(question):\n    return 'NO'\n")
        other = {"judge": "function", "function": "no.py:judge"}
        run(project, models, [{"name": "a", **judge}, {"name": "b", **other}])
        run(project, models, [{"name": "b", **judge}, {"name": "a", **other}])
        assert asked() == ITEMS
    verdicts = query(project, "run", "SELECT DISTINCT judge, canonical FROM records ORDER BY judge")
    assert verdicts == [("a", "NO"), ("b", "YES")]


def test_equal_judges_under_two_names_answer_each_for_itself(project: Project) -> None:
    with counted(project, "function") as (models, judge, asked):
        both = [{"name": "a", **judge}, {"name": "b", **judge}]
        assert run(project, models, both) == {"a", "b"}
        assert asked() == 2 * ITEMS
        assert run(project, models, [both[0], {"name": "c", **judge}]) == {"a", "c"}
        assert asked() == 2 * ITEMS


def test_simulated_judges_of_equal_options_are_independent(project: Project) -> None:
    write_items(project, 40)
    judge = {"judge": "simulated", "accuracy": 0.5}
    write_suite(project, simulated_suite(judges=[{"name": "a", **judge}, {"name": "b", **judge}]))
    assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0
    both = "SELECT count(DISTINCT canonical) FROM records GROUP BY case_id ORDER BY 1 DESC LIMIT 1"
    assert one(project, "run", both) == 2
