"""An edited component never shows the results of the one before, and the run says what is done again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh_testing import Outcome, Project

pytestmark = pytest.mark.inside
ITEMS = 8
VERDICTS = 2 * ITEMS
"""The reference condition, asked twice."""

JUDGE = """
from pathlib import Path
from words import WORD

def judge(question):
    with Path("calls").open("a") as calls:
        calls.write("x")
    return {answer}
"""

PERTURBER = """
from jrh import Draft, PerturberSpec, hookimpl

class Mark:
    async def perturb(self, item):
        return [Draft(fields={"response": item.fields["response"] + " ADDED"})]

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="mark", summary="adds a word", factory=Mark)
"""

METRIC = """
from jrh import Measure, MetricSpec, hookimpl

class Own:
    def measure(self, records, context):
        yield Measure(name="own", judge="f2", task=next(iter(context.tasks)), estimate=VALUE)

@hookimpl
def jrh_metrics():
    yield MetricSpec(name="own", summary="a number", factory=Own, default=True)
"""


@pytest.fixture
def site(project: Project) -> Project:
    """Provide items and a judge; runs are calls in this process."""
    return fill(project)


@pytest.fixture
def program(tmp_path: Path) -> Project:
    """Provide the same for runs in processes of their own, which find modules by PYTHONPATH."""
    return fill(Project(tmp_path))


def fill(project: Project) -> Project:
    """Write items, and a `function` judge that always says YES and counts its calls."""
    items = [{"id": str(n), "request": "2 + 2?", "response": f"It is {n}.", "label": "YES"} for n in range(ITEMS)]
    project.write("items.jsonl", "\n".join(json.dumps(item) for item in items))
    project.write("rules.py", JUDGE.replace("{answer}", '"YES"'))
    project.write("words.py", 'WORD = "YES"\n')
    return project


def suite(judge: dict[str, Any] | None = None, **more: Any) -> str:
    return yaml.safe_dump(
        {
            "name": "stale",
            "data": {"source": "jsonl", "path": "items.jsonl", "columns": {"label": "label"}},
            "task": {"instruction": "Right?", "rubric": "YES or NO", "scale": {"labels": ["YES", "NO"]}},
            "tests": [],
            "judges": [{"name": "f2", **(judge or {"judge": "function", "function": "rules.py:judge"})}],
            **more,
        }
    )


def run(site: Project, *more: str, code: int = 0) -> Outcome:
    done = site.run("run", "suite.yaml", "--run-dir", "run", *more)
    assert done.exit_code == code, done.stderr
    return done


def answers(site: Project) -> set[str | None]:
    return set(site.records("run").text("canonical"))


def calls(site: Project) -> int:
    return len(site.read("calls")) if (site.path / "calls").exists() else 0


def own(site: Project) -> list[float | None]:
    measures = json.loads(site.read("run/report.json"))["measures"]
    return [each["estimate"] for each in measures if each["name"] == "own"]


def notes(site: Project) -> str:
    return "\n".join(json.loads(site.read("run/report.json"))["notes"])


def test_an_edited_function_judge_is_asked_again_and_the_run_says_so(program: Project) -> None:
    program.write("suite.yaml", suite())
    run(program)
    again = run(program)
    assert (answers(program), calls(program)) == ({"YES"}, VERDICTS)
    assert "changed" not in again.stderr

    program.write("rules.py", JUDGE.replace("{answer}", '"NO"'))
    planned = program.run("plan", "suite.yaml", "--run-dir", "run")
    edited = run(program)

    said = f"judge 'f2' changed: {VERDICTS} verdicts will be asked again (code: rules.py)"
    assert said in edited.stderr
    assert said in planned.stdout
    assert said in program.read("run/log.jsonl")
    assert (answers(program), calls(program)) == ({"NO"}, 2 * VERDICTS)

    program.write("rules.py", JUDGE.replace("{answer}", '"YES"'))
    reverted = run(program)
    assert f"judge 'f2' changed: its {VERDICTS} verdicts are stored from an earlier run" in reverted.stderr
    assert (answers(program), calls(program)) == ({"YES"}, 2 * VERDICTS)


def test_an_edited_module_that_the_judge_imports_counts_and_so_does_a_comment(site: Project) -> None:
    site.write("rules.py", JUDGE.replace("{answer}", "WORD"))
    site.write("suite.yaml", suite())
    run(site)
    site.write("words.py", 'WORD = "NO"\n')
    edited = run(site)
    assert f"judge 'f2' changed: {VERDICTS} verdicts will be asked again (code: words.py)" in edited.stderr
    assert answers(site) == {"NO"}

    site.write("words.py", 'WORD = "NO"  # a comment\n')
    run(site)
    site.write("unrelated.py", "nothing = 1\n")
    run(site)
    assert calls(site) == 3 * VERDICTS


def test_a_judge_in_a_package_depends_on_the_whole_package(program: Project) -> None:
    program.write("own/__init__.py", "")
    program.write("own/rules.py", "from importlib import import_module\ndef judge(q):\n    return word().WORD\n")
    program.write("own/rules.py", program.read("own/rules.py") + "def word():\n    return import_module('own.late')\n")
    program.write("own/late.py", 'WORD = "YES"\n')
    program.write("suite.yaml", suite({"judge": "function", "function": "own.rules:judge"}))
    (program.path / "own" / "again").symlink_to(program.path / "own")  # a directory that contains itself
    env = {"PYTHONPATH": str(program.path)}
    assert program.run("run", "suite.yaml", "--run-dir", "run", env=env).exit_code == 0
    program.write("own/late.py", 'WORD = "NO"\n')
    edited = program.run("run", "suite.yaml", "--run-dir", "run", env=env)
    assert "(code: own/late.py)" in edited.stderr
    assert answers(program) == {"NO"}


def test_an_edited_local_perturber_makes_its_drafts_again(site: Project) -> None:
    site.write("mark.py", PERTURBER)
    site.write("suite.yaml", suite(tests=["mark"]))
    run(site, "--plugins", "mark.py")
    run(site, "--plugins", "mark.py")
    before = calls(site)

    site.write("mark.py", PERTURBER.replace("ADDED", "EDITED"))
    edited = run(site, "--plugins", "mark.py")

    again = f"{ITEMS} drafts of {ITEMS} items will be made again"
    assert f"perturber 'mark' changed: {again} (code: mark.py)" in edited.stderr
    assert f"perturb: {ITEMS} items to do, all tests together" in edited.stderr
    assert (before, calls(site)) == (VERDICTS + ITEMS, VERDICTS + 2 * ITEMS)
    assert "judge 'f2' changed" not in edited.stderr


def test_a_metric_that_crashed_and_was_mended_reports_its_result(site: Project) -> None:
    site.write("own.py", METRIC.replace("VALUE", "1 / 0"))
    site.write("suite.yaml", suite())
    run(site, "--plugins", "own.py")
    assert "metric 'own' could not be computed" in notes(site)

    site.write("own.py", METRIC.replace("VALUE", "0.25"))
    mended = run(site, "--plugins", "own.py")

    assert "metric 'own' changed: its measures are computed again (code: own.py)" in mended.stderr
    assert own(site) == [0.25]
    assert "could not be computed" not in notes(site)
    assert calls(site) == VERDICTS


def test_a_measurement_that_failed_outside_its_code_is_made_again(site: Project) -> None:
    site.write("own.py", METRIC.replace("VALUE", "float(__import__('pathlib').Path('value').read_text())"))
    site.write("suite.yaml", suite())
    run(site, "--plugins", "own.py")
    assert "FileNotFoundError" in notes(site)
    # A metric that the suite names has been asked for: without it the run is not done, and all else is reported.
    site.write("suite.yaml", suite(metrics={"add": ["own"]}))
    asked = run(site, "--plugins", "own.py", code=3)
    assert "jrh: not done: metric 'own' could not be computed: FileNotFoundError" in asked.stderr
    assert "jrh: to continue: jrh run suite.yaml" in asked.stderr
    report = json.loads(site.read("run/report.json"))
    assert len([note for note in report["notes"] if "metric 'own'" in note]) == 1
    assert report["measures"]
    site.write("value", "0.5")
    run(site, "--plugins", "own.py")
    assert own(site) == [0.5]


def test_an_edited_command_judge_is_asked_again(site: Project) -> None:
    site.write("judge.sh", "#!/bin/sh\ncat > /dev/null\nprintf x >> calls\necho YES\n")
    site.write("suite.yaml", suite({"judge": "command", "command": ["sh", "judge.sh"]}))
    run(site)
    assert "changed" not in run(site).stderr
    assert (answers(site), calls(site)) == ({"YES"}, VERDICTS)
    site.write("judge.sh", "#!/bin/sh\ncat > /dev/null\nprintf x >> calls\necho NO\n")
    edited = run(site)
    assert f"judge 'f2' changed: {VERDICTS} verdicts will be asked again (code: judge.sh)" in edited.stderr
    assert (answers(site), calls(site)) == ({"NO"}, 2 * VERDICTS)
    site.write("suite.yaml", suite({"judge": "command", "command": ["sh", "judge.sh"], "version": "2"}))
    run(site)
    assert calls(site) == 3 * VERDICTS


class _Yes(BaseHTTPRequestHandler):
    asked = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).asked += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'"YES"')

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def endpoint() -> Iterator[tuple[str, type[_Yes]]]:
    handler = type("Yes", (_Yes,), {"asked": 0})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_endpoint_with_another_version_is_asked_again(site: Project) -> None:
    with endpoint() as (url, handler):
        judge = {"judge": "http", "url": url, "version": "2026-01"}
        site.write("suite.yaml", suite(judge))
        run(site)
        run(site)
        assert handler.asked == VERDICTS
        site.write("suite.yaml", suite({**judge, "version": "2026-02"}))
        changed = run(site)
        assert handler.asked == 2 * VERDICTS
    assert f"judge 'f2' changed: {VERDICTS} verdicts will be asked again (options: version)" in changed.stderr


def _editable(site: Project, *, editable: bool) -> dict[str, str]:
    """Install a distribution with one judge, as `pip install -e` leaves it."""
    site.write("site/acme_jrh-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme-jrh\nVersion: 1.0\n")
    site.write("site/acme_jrh-1.0.dist-info/entry_points.txt", "[jrh]\nacme = acme_jrh.plugin\n")
    site.write("site/acme_jrh-1.0.dist-info/top_level.txt", "acme_jrh\n")
    origin = {"url": "file:///somewhere", "dir_info": {"editable": editable}}
    site.write("site/acme_jrh-1.0.dist-info/direct_url.json", json.dumps(origin))
    site.write("src/acme_jrh/__init__.py", "")
    site.write("src/acme_jrh/word.txt", "YES")
    site.write(
        "src/acme_jrh/plugin.py",
        "from jrh import JudgeSpec, hookimpl\n\n@hookimpl\ndef jrh_judges():\n"
        "    yield JudgeSpec(name='acme', summary='says a word', factory='acme_jrh.work:Acme')\n",
    )
    site.write(
        "src/acme_jrh/work.py",
        "from pathlib import Path\nfrom jrh import Judgement, Status, Verdict\n\nclass Acme:\n"
        "    async def judge(self, question):\n"
        "        word = Path(__file__).with_name('word.txt').read_text()\n"
        "        return Judgement(verdict=Verdict(status=Status.OK, presented=word))\n",
    )
    return {"PYTHONPATH": os.pathsep.join([str(site.path / "site"), str(site.path / "src")])}


@pytest.mark.parametrize("editable", [True, False])
def test_an_edited_editable_install_is_asked_again_and_an_installed_release_is_not(
    program: Project, editable: bool
) -> None:
    env = _editable(program, editable=editable)
    program.write("suite.yaml", suite({"judge": "acme"}))
    command = ("run", "suite.yaml", "--run-dir", "run")
    assert program.run(*command, env=env).exit_code == 0
    unchanged = program.run(*command, env=env)
    assert "changed" not in unchanged.stderr
    program.write("src/acme_jrh/word.txt", "NO")
    edited = program.run(*command, env=env)
    said = f"judge 'f2' changed: {VERDICTS} verdicts will be asked again (code: acme_jrh/word.txt)"
    assert (said in edited.stderr) is editable
    assert answers(program) == ({"NO"} if editable else {"YES"})


def test_a_report_says_that_the_code_has_changed_since_the_run(site: Project) -> None:
    site.write("own.py", METRIC.replace("VALUE", "0.25"))
    site.write("suite.yaml", suite())
    run(site, "--plugins", "own.py")
    same = site.run("report", "run", "--plugins", "own.py")
    assert "has changed since the run" not in same.stderr

    site.write("own.py", METRIC.replace("VALUE", "0.75"))
    site.write("rules.py", JUDGE.replace("{answer}", '"NO"'))
    outcome = site.run("report", "run", "--plugins", "own.py")

    assert "judge 'f2' has changed since the run (rules.py): the report shows verdicts of the old code" in (
        outcome.stderr
    )
    assert "metric 'own' has changed since the run (own.py)" in outcome.stderr
    assert "judge 'f2' has changed since the run" in notes(site)


def test_report_gate_and_compare_say_once_that_the_code_has_changed(site: Project) -> None:
    site.write("own.py", METRIC.replace("VALUE", "0.25"))
    site.write("suite.yaml", suite())
    run(site, "--plugins", "own.py")
    shutil.copytree(site.path / "run", site.path / "other")
    gate = ("gate", "run", "--rule", "as-expected >= 0", "--plugins", "own.py")
    assert "has changed" not in site.run(*gate).output
    site.write("own.py", METRIC.replace("VALUE", "0.75"))
    site.write("rules.py", JUDGE.replace("{answer}", '"NO"'))

    said = "judge 'f2' has changed since the run (rules.py): the report shows verdicts of the old code; "
    stored = "metric 'own' has changed since the run (own.py): its stored measures come from the old code"
    for command in (gate, ("compare", "run", "other")):
        outcome = site.run(*command)
        assert said in outcome.stderr
        assert stored in outcome.stderr
        assert "has changed since" not in outcome.stdout
    reported = site.run("report", "run", "--plugins", "own.py", "--full")
    assert " ".join(reported.output.split()).count("judge 'f2' has changed since the run") == 1


def test_a_judge_edited_while_it_runs_is_the_one_that_was_loaded(site: Project) -> None:
    site.write(
        "rules.py",
        "from pathlib import Path\n\ndef judge(question):\n"
        "    path = Path('rules.py')\n"
        "    path.write_text(path.read_text().replace('Y' + 'ES', 'NO'))\n"
        "    return 'YES'\n",
    )
    site.write("suite.yaml", suite())
    run(site)
    assert answers(site) == {"YES"}

    again = run(site)
    assert "judge 'f2' changed" in again.stderr
    assert answers(site) == {"NO"}


NOTEBOOK = """
from pathlib import Path
import jrh

CELL = '''
from pathlib import Path
WORD = "YES"
def word():
    return WORD
def judge(question):
    with Path("calls").open("a") as calls:
        calls.write("x")
    return word()
'''
exec(compile(CELL, "<cell 1>", "exec"))
jrh.run("suite.yaml", run_dir="run")
"""


def notebook(site: Project, cell: str) -> None:
    environment = {**os.environ, **site.env}
    subprocess.run([sys.executable, "-c", cell], cwd=site.path, env=environment, check=True, capture_output=True)


def test_a_function_of_a_notebook_is_known_by_its_code_and_by_what_it_uses(site: Project) -> None:
    site.write("suite.yaml", suite({"judge": "function", "function": "__main__:judge"}))
    notebook(site, NOTEBOOK)
    notebook(site, NOTEBOOK.replace("def word", "# a comment\ndef word"))
    assert calls(site) == VERDICTS
    notebook(site, NOTEBOOK.replace('WORD = "YES"', 'WORD = "NO"'))
    assert answers(site) == {"NO"}


AGAIN = """
from pathlib import Path
import jrh

jrh.run("suite.yaml", run_dir="run")
Path("words.py").write_text('WORD = "NO"\\n')
jrh.run("suite.yaml", run_dir="run")
Path("other/words.py").write_text('WORD = "YES"\\n')
jrh.run("other/suite.yaml", run_dir="other/run")
"""


def test_two_runs_of_one_process_use_the_code_as_it_is_on_the_disk_and_each_its_own(site: Project) -> None:
    site.write("rules.py", JUDGE.replace("{answer}", "WORD"))
    site.write("suite.yaml", suite())
    for name in ("rules.py", "items.jsonl", "suite.yaml"):
        site.write(f"other/{name}", site.read(name))
    notebook(site, AGAIN)
    assert answers(site) == {"NO"}
    assert set(site.records("other/run").text("canonical")) == {"YES"}


def test_missing_code_is_named_with_its_place_in_the_suite_and_advice(site: Project) -> None:
    written = suite({"judge": "function", "function": "gone.py:judge"})
    line = written[: written.index("function: gone")].count("\n") + 1
    site.write("suite.yaml", written)
    outcome = site.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 2
    assert f"suite.yaml:{line}:3: function: file 'gone.py' not found; " in outcome.stderr
    assert "paths are relative to the suite's directory" in outcome.stderr


def test_unreadable_code_is_one_message(site: Project) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (site.path / "words.py").chmod(0)
    site.write("suite.yaml", suite())
    outcome = site.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 2
    assert "Permission denied" in outcome.stderr


def test_a_local_plugin_that_is_named_twice_or_has_no_hooks_is_refused(site: Project) -> None:
    site.write("mark.py", PERTURBER)
    site.write("empty.py", "number = 1\n")
    site.write("suite.yaml", suite(tests=["mark"]))
    twice = site.run("run", "suite.yaml", "--plugins", "mark.py,./mark.py")
    assert twice.exit_code == 2
    assert "--plugins: 'mark.py' is named twice (also as './mark.py'); name it once" in twice.stderr
    empty = site.run("run", "suite.yaml", "--plugins", "mark.py,empty.py")
    assert empty.exit_code == 2
    assert "cannot load plugin 'empty.py': " in empty.stderr
    assert "it implements no hook" in empty.stderr


PROVIDER = """
from attrs import field, frozen
from jrh import ModelSpec, Usage, hookimpl
from jrh.plugins import Completion, Rates

@frozen(kw_only=True)
class Options:
    model: str = field(default="echo", metadata={"help": "its name"})

class Echo:
    fingerprint = "echo/1"
    rates = Rates(input=0.0, output=0.0)

    def __init__(self, options):
        pass

    async def complete(self, request):
        return Completion(text="WORD", finish_reason="stop", usage=Usage(prompt_tokens=1, completion_tokens=1))

    async def aclose(self):
        pass

@hookimpl
def jrh_models():
    yield ModelSpec(name="echo", summary="says a word", options=Options, factory=Echo)
"""


def test_the_replies_of_an_edited_local_provider_are_not_used_again(site: Project) -> None:
    site.write("echo.py", PROVIDER.replace("WORD", "YES"))
    judge = {"judge": "llm", "model": "own", "parser": "label"}
    site.write("suite.yaml", suite(judge, models={"own": {"provider": "echo", "model": "echo"}}))
    run(site, "--plugins", "echo.py", "--yes")
    assert answers(site) == {"YES"}
    site.write("echo.py", PROVIDER.replace("WORD", "NO"))
    edited = run(site, "--plugins", "echo.py", "--yes")
    assert f"judge 'f2' changed: {VERDICTS} verdicts will be asked again (model)" in edited.stderr
    assert answers(site) == {"NO"}

    again = {**judge, "transcript_limit": 3000}
    site.write("suite.yaml", suite(again, models={"own": {"provider": "echo", "model": "echo"}}))
    more = run(site, "--plugins", "echo.py", "--yes")
    said = "asked again; stored replies to the same prompts are used (options: transcript_limit)"
    assert said in more.stderr
