"""The marker and the fixture, in sessions of pytest of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

SUITE = """
name: gated
data: {source: rows, rows: own.py:ROWS}
task: {instruction: Is it good?, scale: {labels: ["YES", "NO"]}}
judges: [{judge: function, function: own.py:words, name: words}]
"""
OWN = """
ROWS = [
    {"id": str(n), "response": ("good " if n % 2 else "poor ") + str(n), "label": "YES" if n % 2 else "NO"}
    for n in range(24)
]
def words(question):
    return "YES" if "good" in question["fields"]["response"] else "NO"
"""
PAID = """
models:
  m: {provider: openai-http, base_url: "http://127.0.0.1:9/v1", model: m, price: {input: 5, output: 5}}
"""


@pytest.fixture
def tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makefile(".yaml", suite=SUITE)
    pytester.makepyfile(own=OWN)
    return pytester


def session(tests: pytest.Pytester, code: str, *options: str) -> pytest.RunResult:
    tests.makepyfile(test_it=code)
    return tests.runpytest_subprocess(*options)  # numpy cannot be imported a second time in one process


def test_the_readme_holds_and_every_rule_has_its_own_outcome(tests: pytest.Pytester) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    code = "".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL))
    code += """

@pytest.mark.judge_gate("as-expected[reference] >= 0.999", suite="suite.yaml")
def test_undecided():
    pass


@pytest.mark.judge_gate("gold-accuracy <= 0.5", suite="suite.yaml")
def test_fails():
    pass


@pytest.mark.judge_gate("gold-accuracy >= oops", suite="suite.yaml")
def test_no_rule():
    pass


def test_without_the_marker(judge_run):
    pass
"""
    done = session(tests, code, "-v")
    shown = done.stdout.str()
    assert "test_the_judge_is_good_enough PASSED" in shown
    assert "test_undecided UNDECIDED" in shown
    assert re.search(r"fails +gold-accuracy <= 0\.5 +words +reference +1, limits 0\.\d+ and 1 +24 items", shown)
    assert re.search(r"FAILED .*::test_fails - Failed: Gate of gated: 1 check fails", shown)
    assert "test_no_rule FAILED" in shown
    assert "the fixture judge_run needs the marker" in shown
    assert "Traceback" not in shown
    assert done.ret == 1


@pytest.mark.parametrize(("choice", "passed", "skipped"), [("skip", 0, 2), ("pass", 1, 1)])
def test_an_undecided_rule_may_pass_or_skip_and_a_suite_that_costs_is_skipped_without_leave(
    tests: pytest.Pytester, choice: str, passed: int, skipped: int
) -> None:
    tests.makefile(".yaml", paid=SUITE.replace("judges: [", "judges: [{judge: llm, model: m}, ") + PAID)
    code = """
import pytest

@pytest.mark.judge_gate("as-expected[reference] >= 0.999", suite="suite.yaml")
def test_undecided():
    pass

@pytest.mark.judge_gate("gold-accuracy >= 0.1", suite="paid.yaml")
def test_paid():
    pass
"""
    done = session(tests, code, "-rs", "--jrh-undecided", choice)
    done.assert_outcomes(passed=passed, skipped=skipped)
    assert re.search(r"up to \d+ model calls, cost .*: more than --jrh-spend allows \(\$0\.00\)", done.stdout.str())


def test_pytest_does_not_import_jrh_unless_a_test_uses_it(tmp_path: Path) -> None:
    (tmp_path / "test_empty.py").write_text(
        "import sys\ndef test_it():\n    assert 'jrh' not in sys.modules and 'jrh_pytest.gates' in sys.modules\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
