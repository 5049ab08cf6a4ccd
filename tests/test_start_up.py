"""What a command imports is what it costs: a small run is over before scikit-learn would be loaded."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from jrh.cli import main

SLOW = {
    *("IPython", "PIL", "litellm", "matplotlib", "pandas", "pyarrow", "ray", "sklearn", "xlsxwriter"),
    *("scipy.stats", "scipy.optimize", "scipy.sparse"),
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


def test_garbage_is_collected_while_a_command_works_and_not_while_it_is_imported_or_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[str] = []
    for name in ("disable", "enable", "freeze", "set_threshold"):
        monkeypatch.setattr(gc, name, lambda *_, name=name: called.append(name))
    with pytest.raises(SystemExit):
        main(["init", "--help"])
    assert called == ["disable", "freeze", "set_threshold", "enable", "freeze"]
