"""`jrh plugins new`: names, what is in the way, and plugins of one file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from jrh import JrhError
from jrh.cli import invoke
from jrh_scaffold.writing import SUMMARIES
from jrh_testing import declarations


@pytest.mark.parametrize(
    "name", ["Polite", "9-lives", "po lite", "po_lite", "-polite", "polite-", "a--b", "", "x" * 25, "../up", "é"]
)
def test_a_name_that_cannot_be_one_is_refused_in_one_sentence(
    new: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    done = new("perturber", "--directory", tmp_path, "--", name)
    assert isinstance(done.exception, JrhError)
    assert str(done.exception).startswith(f"'{name}' cannot be the name of a plugin: ")
    assert list(tmp_path.iterdir()) == []


def test_the_name_of_an_installed_distribution_is_refused(new: Callable[..., Any], tmp_path: Path) -> None:
    done = new("perturber", "format", "--directory", tmp_path)
    assert str(done.exception).startswith("'jrh-format' ")
    assert "is installed; choose another name" in str(done.exception)


@pytest.mark.parametrize("summary", ['a "quoted" word', "two\nlines", "back\\slash", "x" * 71])
def test_a_summary_cannot_leave_its_quotes(new: Callable[..., Any], tmp_path: Path, summary: str) -> None:
    done = new("judge", "mine", "--single-file", "--directory", tmp_path, "--summary", summary)
    assert str(done.exception).startswith("--summary: ")


@pytest.mark.slow
def test_a_summary_of_nothing_is_that_of_the_example(new: Callable[..., Any], tmp_path: Path) -> None:
    assert new("judge", "mine", "--single-file", "--directory", tmp_path, "--summary", " .").exception is None
    assert 'summary="a judge that counts' in (tmp_path / "mine.py").read_text()


@pytest.mark.slow
def test_a_template_in_the_summary_stays_text(new: Callable[..., Any], tmp_path: Path) -> None:
    for more in ((), ("--single-file",)):
        assert new("judge", "mine", "--directory", tmp_path, "--summary", "is {{ 7 * 6 }} it", *more).exception is None
    for path in ("mine.py", "jrh-mine/src/jrh_mine/plugin.py"):
        assert 'summary="is {{ 7 * 6 }} it"' in (tmp_path / path).read_text()


@pytest.mark.parametrize("name", ["json", "class", "jrh", "numpy"])
def test_one_file_hides_no_module(new: Callable[..., Any], tmp_path: Path, name: str) -> None:
    assert new("parser", name, "--single-file", "--directory", tmp_path).exception is None
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}_parser.py"]


@pytest.mark.slow
def test_nothing_is_overwritten(new: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "jrh-mine").mkdir()
    (tmp_path / "mine.py").write_text("mine")
    for more in ((), ("--single-file",)):
        assert "exists; choose another name" in str(new("judge", "mine", "--directory", tmp_path, *more).exception)
    assert (tmp_path / "mine.py").read_text() == "mine"
    assert list((tmp_path / "jrh-mine").iterdir()) == []


@pytest.mark.slow
def test_a_package_without_copier_says_what_to_install_and_one_file_needs_none(
    new: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "copier", None)
    done = new("judge", "mine", "--directory", tmp_path)
    assert 'run `pip install "jrh[scaffold]"`' in str(done.exception)
    assert new("judge", "mine", "--directory", tmp_path, "--single-file").exception is None


@pytest.mark.slow
def test_plugins_of_one_file_of_every_kind_work_together_in_one_suite(
    new: Callable[..., Any], study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JRH_CACHE_DIR", str(study / "cache"))
    for kind in SUMMARIES:
        done = new(kind, f"my-{kind}", "--single-file", "--directory", study)
        assert done.exception is None
    files = ",".join(f"my_{kind}.py" for kind in SUMMARIES)
    with chdir(study):
        assert invoke(["run", "suite.yaml", "--run-dir", "run", "--plugins", files]) == 0
        assert invoke(["import", "grades.txt", "--from", "my-importer", "--plugins", "my_importer.py"]) == 0
    text = (study / "run" / "my-reporter.txt").read_text()
    assert "mini" in text
    assert "  my-perturber: my-metric 1.00 " in text


def test_the_package_declares_one_component_of_its_name(
    new: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert new("metric", "jrh-mine", "--directory", tmp_path).exception is None
    monkeypatch.syspath_prepend(tmp_path / "jrh-mine" / "src")
    from jrh_mine import plugin  # type: ignore[import-not-found]

    assert [spec.name for spec in declarations(plugin)] == ["mine"]
