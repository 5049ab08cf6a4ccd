"""Every kind of plugin is made, checked, tested, installed, used in a suite, and removed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jrh_scaffold.writing import SUMMARIES

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]
BUILD = """
import functools, os, sys
from importlib import metadata
from setuptools import build_meta
metadata.entry_points = functools.cache(metadata.entry_points) # which setuptools asks for at every step
_, wheels, *places = sys.argv # which setuptools replaces
for place in places:
    os.chdir(place)
    build_meta.build_wheel(wheels)
"""
"""Builds all wheels in one process, which is four times faster than pip."""


def run(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        list(map(str, arguments)),
        cwd=cwd,
        env={**{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(new: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a plugin of every kind, and every kind as one file."""
    directory = tmp_path_factory.mktemp("made")
    for kind in SUMMARIES:
        for more in ((), ("--single-file",)):
            assert new(kind, f"my-{kind}", "--directory", directory, *more).exception is None
    return directory


def test_what_is_made_is_formatted_and_free_of_lint_whatever_its_name(
    made: Path, new: Callable[..., Any], tmp_path: Path
) -> None:
    for kind in SUMMARIES:
        for name in ("a", f"a-name-of-24-letters-{kind[:3]}"):
            done = new(kind, name, "--directory", tmp_path / kind, "--summary", "s" * 70)
            assert done.exception is None
    packages = [path.parent for place in (made, tmp_path) for path in place.glob("**/pyproject.toml")]
    assert len(packages) == 3 * len(SUMMARIES)
    run(sys.executable, "-m", "ruff", "check", "--no-cache", *packages, cwd=made)
    run(sys.executable, "-m", "ruff", "format", "--no-cache", "--check", *packages, cwd=made)
    rules = ("--isolated", "--line-length", "120")
    run(sys.executable, "-m", "ruff", "check", "--no-cache", *rules, *made.glob("*.py"), cwd=made)
    run(sys.executable, "-m", "ruff", "format", "--no-cache", "--check", *rules, *made.glob("*.py"), cwd=made)


def test_what_is_made_passes_mypy_strict_and_its_own_tests(made: Path) -> None:
    packages = sorted(made.glob("jrh-*"))
    assert len(packages) == len(SUMMARIES)
    # The settings and the cache of the repository, whose types were checked with them before.
    places = [place / part for place in packages for part in ("src", "tests")]
    run(sys.executable, "-m", "mypy", *places, *made.glob("*.py"), cwd=ROOT)
    told = run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", made),
        *("-c", packages[0] / "pyproject.toml", *(place / "tests" for place in packages)),
        cwd=made,
        PYTHONPATH=os.pathsep.join(str(place / "src") for place in packages),
    )
    passed = re.search(r"(\d+) passed", told)
    assert passed is not None
    assert int(passed[1]) > 12 * len(SUMMARIES)


def test_every_kind_is_installed_used_in_one_suite_and_removed(made: Path, study: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", "venv", cwd=study)
    (site,) = study.glob("venv/lib/python*/site-packages")
    # What is installed here can be imported there; what is installed there, not here.
    paths = sorted({sysconfig.get_paths()[name] for name in ("purelib", "platlib")})
    (site / "jrh.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in paths))
    python = study / "venv" / "bin" / "python"
    packages = sorted(made.glob("jrh-*"))
    run(sys.executable, "-c", BUILD, study / "wheels", *packages, cwd=study)
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--quiet")
    run(*pip, "install", "--no-deps", "--no-index", *(study / "wheels").glob("*.whl"), cwd=study)

    run(python, "-m", "jrh", "run", "suite.yaml", "--run-dir", "run", cwd=study, JRH_CACHE_DIR=str(study / "cache"))
    text = (study / "run" / "my-reporter.txt").read_text()
    # Two items, asked twice as they are and once with the closing line, by two judges.
    assert text.startswith("made: ")
    for line in ("  reference: my-metric 0.50 ", "  my-perturber: my-metric 0.50 ", "  reference: my-metric 1.00 "):
        assert line in text, text
    told = run(python, "-m", "jrh", "import", "grades.txt", "--from", "my-importer", cwd=study)
    assert "Imported 2 verdicts of 1 judge on 2 items" in told
    listed = run(python, "-m", "jrh", "plugins", "list", "--json", cwd=study)
    for kind in SUMMARIES:
        assert f'"distribution": "jrh-my-{kind}"' in listed

    run(*pip, "uninstall", "--yes", *(place.name for place in packages), cwd=study)
    assert sorted(path.name for path in site.iterdir()) == ["jrh.pth"]
    assert "jrh-my-" not in run(python, "-m", "jrh", "plugins", "list", "--json", cwd=study)
