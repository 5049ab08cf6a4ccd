"""What a command imports is what it costs: a small run is over before scikit-learn would be loaded."""

import gc
import io
import subprocess
import sys
from pathlib import Path

import pytest
from jrh.cli import invoke, main
from jrh_testing import ChatServer

SLOW = {
    *("IPython", "PIL", "litellm", "matplotlib", "pandas", "pyarrow", "ray", "sklearn", "xlsxwriter"),
    *("scipy.stats", "scipy.optimize", "scipy.sparse", "py3langid", "numpy.f2py", "numpy.testing"),
}
"""Libraries that take a tenth of a second and more to import, and that no plain run needs."""

SUITE = """\
name: plain
data: {source: examples, dataset: factual, sample: {n: 12, seed: 1}}
task:
  instruction: Decide whether the answer to the question is factually accurate.
  scale: {labels: ["YES", "NO"]}
tests: [format, label-flip]
judges: [JUDGE]
reports: [terminal, json, html, markdown]
"""

PROGRAM = """\
import sys
from jrh.cli import invoke

for arguments in (COMMANDS):
    code = invoke(arguments)
    assert code == 0, code
    slow = sorted(SLOW & set(sys.modules))
    assert not slow, (arguments, slow)
"""


def _import_nothing_slow(tmp_path: Path, judge: str, *commands: list[str]) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("JUDGE", judge), encoding="utf-8")
    program = PROGRAM.replace("COMMANDS", "".join(f"{each}, " for each in commands)).replace("SLOW", str(SLOW))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_plain_run_and_its_report_import_no_slow_library(tmp_path: Path) -> None:
    run = ["run", "suite.yaml", "--run-dir", "out"]
    judge = "{judge: simulated, name: flawed, accuracy: 0.85, format_sensitivity: 0.1}"
    _import_nothing_slow(tmp_path, judge, run, run, ["report", "out"])


def test_a_plan_does_not_import_what_its_judges_learn_with(tmp_path: Path) -> None:
    _import_nothing_slow(tmp_path, "baseline", ["plan", "suite.yaml"])


MODULES = {"--version": 170, "plan": 1078, "run": 1321, "http": 1026}
"""Modules that a command imports, and an HTTP run until its first request: a tenth more than it takes."""
UNTIL_THE_FIRST_CALL = """\
import sys
from jrh.cli import invoke

def stop(event, details):
    if event == "socket.connect" and details[1][-1] == PORT and not seen:
        seen.append(sorted(sys.modules))

seen = []
sys.addaudithook(stop)
code = invoke(["run", "suite.yaml", "--yes", "--run-dir", "out"])
print(code, len(seen[0]), *(name for name in ("numpy", "jrh_stats", "jrh_report.terminal") if name in seen[0]))
"""


def _last_line(tmp_path: Path, program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr[-2000:]
    return done.stdout.splitlines()[-1].split()


def _write_http_suite(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("START_KEY", "k")
    model = f'{{provider: openai-http, model: m, base_url: "{url}", api_key_env: START_KEY}}'
    suite = SUITE.replace("[JUDGE]", "[{judge: llm, model: m}]") + f"models: {{m: {model}}}\n"
    (folder / "suite.yaml").write_text(suite.replace("reports: [terminal, json, html, markdown]\n", ""))


def test_a_run_imports_nothing_for_its_report_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer("YES") as server:
        _write_http_suite(tmp_path, monkeypatch, server.url)
        port = server.url.rpartition(":")[2].partition("/")[0]
        code, modules, *for_the_report = _last_line(tmp_path, UNTIL_THE_FIRST_CALL.replace("PORT", port))
    assert (code, for_the_report) == ("0", [])
    assert int(modules) <= MODULES["http"]


@pytest.mark.parametrize("command", ["--version", "plan", "run"])
def test_a_command_imports_no_more_modules_than_it_did(tmp_path: Path, command: str) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("JUDGE", "{judge: simulated, name: j}"), encoding="utf-8")
    words = [command] if command.startswith("-") else [command, "suite.yaml"]
    program = f"import sys; from jrh.cli import invoke; code = invoke({words}); print(code, len(sys.modules))"
    code, modules = _last_line(tmp_path, program)
    assert code == "0"
    assert int(modules) <= MODULES[command]


FUNCTION_CALLS = {"call": 765, "trial": 655}
"""Calls of Python functions for one more model call over HTTP, and for one more trial of a simulated judge with its
case: a tenth more than it takes. Seconds depend on what else a machine does, and these do not."""
COUNT = """\
import json, sys, threading
from jrh.cli import invoke

def count(frame, event, argument):
    global calls
    calls += event == "call"

found = []
for words in RUNS:
    calls = 0
    # The first run imports, and what the second one has in common with the third cancels out.
    threading.setprofile(count if found else None)
    sys.setprofile(count if found else None)
    code = invoke(["run", "suite.yaml", "--yes", "--no-cache", "--run-dir", str(len(found)), *words])
    sys.setprofile(None)
    threading.setprofile(None)
    assert code == 0, code
    with open(f"{len(found)}/report.json") as file:
        found.append((calls, json.load(file)["planned"]))
print((found[2][0] - found[1][0]) / (found[2][1] - found[1][1]), found)
"""


def _count_calls(folder: Path, *settings: str) -> float:
    always = ("reports=[json]", "metrics=[missing]", "tests=[format]" if "sample" in settings[0] else "tests=[]")
    runs = [[word for each in (*always, setting) for word in ("--set", each)] for setting in (settings[0], *settings)]
    return float(_last_line(folder, COUNT.replace("RUNS", str(runs)))[0])


def test_calls_and_trials_cost_no_more_function_calls_than_they_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer("YES") as server:
        _write_http_suite(tmp_path, monkeypatch, server.url)
        calls = _count_calls(tmp_path, "reference.repeats=1", "reference.repeats=9")
    (tmp_path / "trials").mkdir()
    (tmp_path / "trials/suite.yaml").write_text(SUITE.replace("JUDGE", "{judge: simulated, name: j}"))
    trials = _count_calls(tmp_path / "trials", "data.sample.n=6", "data.sample.n=18")
    found = {"call": calls, "trial": trials}
    assert all(0.8 * bound < found[what] <= bound for what, bound in FUNCTION_CALLS.items()), found


def test_garbage_is_collected_while_a_command_works_and_not_while_it_is_imported_or_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[str] = []
    for name in ("disable", "enable", "freeze", "set_threshold"):
        monkeypatch.setattr(gc, name, lambda *_, name=name: called.append(name))
    with pytest.raises(SystemExit):
        main(["init", "--help"])
    assert called == ["disable", "freeze", "set_threshold", "enable", "freeze"]


LATE = """\
import sys
from jrh import ReporterSpec, hookimpl


class Late:
    def render(self, report):
        return sys.stdout.getvalue()


@hookimpl
def jrh_reporters():
    yield ReporterSpec(name="late", summary="what was printed before it", factory=lambda: Late(), filename="late.txt")
"""


class ClosedPipe(io.StringIO):
    """Standard output whose reader has gone."""

    def flush(self) -> None:
        """Fail, as a closed pipe does."""
        raise BrokenPipeError


def test_the_answer_is_printed_before_other_reports_are_made_and_costs_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("late.py").write_text(LATE, encoding="utf-8")
    suite = SUITE.replace("JUDGE", "{judge: simulated, name: j}").replace(
        "terminal, json, html, markdown", "late, terminal"
    )
    Path("suite.yaml").write_text(suite, encoding="utf-8")
    run = ["run", "suite.yaml", "--plugins", "late.py", "--run-dir", "out"]
    assert invoke(run) == 0
    printed, before = capsys.readouterr().out, Path("out/late.txt").read_text(encoding="utf-8")
    answer, cost, rest = printed.partition("No model was called.")
    assert cost
    assert before == answer
    assert before not in rest
    Path("out/late.txt").unlink()
    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    assert invoke(run) == 1
    assert Path("out/late.txt").exists()
