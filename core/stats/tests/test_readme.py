"""The README's examples print what it says, also where nothing but this distribution is installed."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jrh_stats
import pytest

ROOT = Path(__file__).parents[3]
README = ROOT / "core" / "stats" / "README.md"
RUN = """
import doctest, re, sys
from importlib import metadata
text = open(sys.argv[1], encoding="utf-8").read()
code = "\\n".join(re.findall(r"```python\\n(.*?)```", text, re.DOTALL))
test = doctest.DocTestParser().get_doctest(code, {}, "README.md", sys.argv[1], 0)
found = doctest.DocTestRunner().run(test)
print(found.attempted, found.failed, *sorted(each.name.lower() for each in metadata.distributions()))
"""


def test_the_examples_print_what_the_readme_says() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL))
    test = doctest.DocTestParser().get_doctest(code, {}, "README.md", str(README), 0)
    found = doctest.DocTestRunner().run(test)
    assert found.attempted > 25
    assert found.failed == 0


def test_the_overview_names_every_public_function_and_no_other() -> None:
    text = README.read_text(encoding="utf-8")
    overview = text.split("## What is in it\n")[1].split("\n## ")[0]
    functions = {name for name in jrh_stats.__all__ if name[0].islower()}
    # Parts of other estimators, useful to whoever writes one, and quantiles.
    low_level = {"z_quantile", "mean_squares"}
    named = {name for name in re.findall(r"`(\w+)`", overview) if name != "jrh"}
    assert named == functions - low_level


def pip(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
@pytest.mark.timeout(400)  # downloads numpy and scipy
def test_the_wheel_alone_in_an_empty_environment_runs_the_readme(tmp_path: Path) -> None:
    # A copy, because setuptools builds in the source directory.
    source = shutil.copytree(
        README.parent, tmp_path / "stats", ignore=shutil.ignore_patterns("tests", "build", "*.egg-info")
    )
    built = pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", tmp_path, source)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("jrh_stats-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    python = tmp_path / "empty" / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    installed = pip("--python", python, "install", "--no-compile", "--constraint", ROOT / "constraints.txt", wheel)

    if installed.returncode and pip("download", "--no-deps", "--dest", tmp_path / "probe", "attrs").returncode:
        pytest.skip("no package registry can be reached, so numpy and scipy cannot be installed")
    assert installed.returncode == 0, installed.stderr
    done = subprocess.run(
        [python, "-I", "-c", RUN, README], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    attempted, failed, *names = done.stdout.splitlines()[-1].split()
    assert (int(attempted) > 25, failed) == (True, "0"), done.stdout
    assert names == ["attrs", "jrh-stats", "lazy-loader", "numpy", "packaging", "scipy"]
