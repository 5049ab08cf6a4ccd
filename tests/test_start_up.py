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
    program = (
        "import sys; from jrh.cli import invoke; code = invoke(['plan', 'suite.yaml']);"
        "print(code, 'sklearn' in sys.modules, 'scipy.stats' in sys.modules)"
    )
    (tmp_path / "suite.yaml").write_text(SUITE.replace("JUDGE", "baseline"), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "0 False False", done.stdout + done.stderr


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


def test_a_run_imports_nothing_for_its_report_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("START_KEY", "k")
    with ChatServer(lambda body: "YES") as server:
        model = f'{{provider: openai-http, model: m, base_url: "{server.url}", api_key_env: START_KEY}}'
        suite = SUITE.replace("[JUDGE]", "[{judge: llm, model: m}]") + f"models: {{m: {model}}}\n"
        (tmp_path / "suite.yaml").write_text(suite.replace("reports: [terminal, json, html, markdown]\n", ""))
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
