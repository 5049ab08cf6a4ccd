"""The demo and the suites in `examples/` print and write what they did; `make golden` accepts changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jrh_testing import loop_over
from support import golden
from support.described import undescribed
from support.installed import ROOT, VERSION, install

ACCEPT = "To accept what is printed now: make golden"
LOCAL = {"reward": {"knows", "likes-length"}}
"""Judges whose code is a file of the example: its digest is their identity."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("release"))


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.EXAMPLES)
def test_an_example_prints_and_writes_what_it_did(name: str, programs: Path, tmp_path: Path) -> None:
    made = golden.make(name, programs, tmp_path)
    if found := "\n".join(golden.differences(name, made)):
        pytest.fail(f"{found}\n{ACCEPT}", pytrace=False)


@pytest.mark.slow
def test_the_programs_see_releases_only(programs: Path, tmp_path: Path) -> None:
    program = """if True:
        import importlib.util, json
        from importlib import metadata
        own = [each for each in metadata.distributions() if each.name.startswith("jrh")]
        urls = [json.loads(each.read_text("direct_url.json")) for each in own]
        modules = {each: importlib.util.find_spec(each).origin for each in ("jrh", "jrh_stats", "jrh_report")}
        print(json.dumps([[[each.name, each.version] for each in own], ["dir_info" in url for url in urls], modules]))
    """
    done = subprocess.run(
        [programs / "python", "-c", program],
        cwd=tmp_path,
        env=golden.environment(programs, tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    own, directories, modules = json.loads(done.stdout)
    places = ("pyproject.toml", "core/*/pyproject.toml", "plugins/*/pyproject.toml", "plugins-contrib/*/pyproject.toml")
    assert len(own) == len({name for name, _ in own}) == sum(len([*ROOT.glob(place)]) for place in places)
    assert {version for _, version in own} == {VERSION}
    assert not any(directories)
    assert all(Path(path).is_relative_to(programs.parent) for path in modules.values()), modules


@pytest.mark.slow
def test_contributed_plugins_install_into_a_release_and_a_run_uses_them(programs: Path, tmp_path: Path) -> None:
    contributed = ("jrh-social", "jrh-typos")
    pip = (sys.executable, "-m", "pip", "--python", programs / "python", "--disable-pip-version-check", "--quiet")
    # Without an index, and the wheels of these two alone at hand: what they need has to be in the release.
    wheels = [*programs.parents[1].glob("wheels/jrh_social-*.whl"), *programs.parents[1].glob("wheels/jrh_typos-*.whl")]
    suite = {
        "name": "contributed",
        "data": {"source": "examples", "dataset": "coherence"},
        "task": {"instruction": "How coherent is the paragraph?", "scale": {"ordinal": [1, 5]}},
        "tests": [{"social": {"kinds": ["bandwagon"]}}, {"misspelling": {"variants": ["case"]}}],
        "judges": [{"name": "steady", "judge": "simulated", "accuracy": 1.0}],
        "reports": ["json"],
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    for command in (
        [*pip, "uninstall", "--yes", *contributed],
        [*pip, "install", "--no-index", "--no-compile", *wheels],
        [programs / "jrh", "run", "suite.yaml", "--run-dir", "run", "--plugins", ",".join(contributed)],
    ):
        subprocess.run(command, cwd=tmp_path, env=golden.environment(programs, tmp_path), check=True)
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    used = {(each["component"], each["version"], each["digest"]) for each in report["components"]}
    assert {("jrh-social/social", VERSION, ""), ("jrh-typos/misspelling", VERSION, "")} <= used
    tests = {measure["test"] for measure in report["measures"] if measure["name"] == "attack-success-control"}
    assert tests == {"social"}


@loop_over("name", golden.EXAMPLES)
def test_no_digest_of_a_source_is_in_a_golden_report(name: str) -> None:
    components = json.loads(golden.read(name, "report.json"))["components"]
    assert {each["name"] for each in components if each["digest"]} == LOCAL.get(name, set())


@loop_over("name", golden.EXAMPLES)
def test_the_page_of_measures_has_every_measure_of_an_example(name: str) -> None:
    assert undescribed(golden.read(name, "report.json")) == set()


def test_every_suite_of_the_examples_has_golden_outputs() -> None:
    suites = {path.stem for path in (ROOT / "examples").glob("*.yaml")}
    suites |= {path.parent.name for path in (ROOT / "examples").glob("*/suite.yaml")}
    # The package of this one is in no release: `test_example_acme.py` builds it.
    assert suites - {"acme-judge"} == set(golden.EXAMPLES) == {path.name for path in golden.GOLDEN.iterdir()}


def report(estimate: object, sentence: str = "It moves.") -> str:
    return json.dumps({"level": 0.95, "measures": [{"name": "a", "estimate": estimate}], "findings": [sentence]})


@pytest.mark.parametrize("other", [report(0.3), report(0.1 + 0.2), report(0.3 * (1 + 9e-10))])
def test_numbers_are_equal_but_for_the_digits_that_processors_disagree_about(other: str) -> None:
    assert golden.difference("demo/report.json", report(0.3), other) == ""


@loop_over(
    ("other", "line"),
    [
        (report(0.3 + 2e-9), '+measures: {"name": "a", "estimate": 0.300000002}'),
        (report(None), '+measures: {"name": "a", "estimate": null}'),
        (report(0.3, "It moves!"), '+findings: "It moves!"'),
        (report(0.3).replace("measures", "measured"), '+measured: {"name": "a", "estimate": 0.3}'),
    ],
)
def test_every_other_difference_is_shown(other: str, line: str) -> None:
    assert line in golden.difference("demo/report.json", report(0.3), other).splitlines()


def test_what_is_zero_but_for_rounding_is_zero() -> None:
    assert golden.same(0.0, -2.5e-13)
    assert not golden.same(0.0, 2e-12)


def test_an_integer_is_no_fraction_and_no_truth_value() -> None:
    assert golden.same(1, 1)
    assert not golden.same(1, 1.0)
    assert not golden.same(1, True)


def test_texts_are_compared_byte_for_byte_and_a_diff_is_short() -> None:
    stored = "\n".join(f"line {number}" for number in range(1000))
    assert golden.difference("demo/report.md", stored, stored) == ""
    assert golden.difference("demo/report.md", stored, f"{stored}\n") == "demo/report.md: white space differs"
    shown = golden.difference("demo/report.md", stored, stored.replace("line 500", "line five hundred"))
    assert "-line 500\n+line five hundred" in shown
    assert "line 498" not in shown
    assert len(golden.difference("demo/report.md", stored, stored.upper()).splitlines()) < 50
