"""The command: the shipped measures pass, a wrong one planted on purpose fails."""

import json
import re

import pytest

pytestmark = pytest.mark.slow


def test_a_shipped_measure_passes(project):
    done = project.run("selftest", "--only", "as-expected", "--studies", "60")
    assert done.exit_code == 0, done.output
    assert "coverage" in done.stdout
    assert "Simulated judges with planted truth" in done.stdout
    assert done.stdout.endswith("\nNext: jrh plugins doctor\n")


def test_the_spread_of_bootstrap_means_is_no_confidence_interval(wrong):
    project = wrong()
    done = project.run(
        *("selftest", "--only", "as-expected", "--studies", "60"),
        *("--plugins", "wrong.py", "--replace", "as-expected=wrong-as-expected"),
    )
    assert done.exit_code == 1, done.output
    said = re.findall(r"as-expected: (?:[\w ]+: )?.*?([\d.]+)% of 60 unflagged intervals are", done.stderr)
    assert any(float(share) > 15 for share in said), done.stderr  # at most 3.5% may miss on a side


def test_an_estimate_that_is_off_fails_also_with_a_wide_interval(wrong):
    project = wrong(factor="20.0", shift="0.1")
    done = project.run(
        *("selftest", "--only", "as-expected", "--studies", "60", "--format", "json"),
        *("--plugins", "wrong.py", "--replace", "as-expected=wrong-as-expected"),
    )
    assert done.exit_code == 1, done.output
    rows = json.loads(done.stdout)
    reference = next(row for row in rows if row["where"] == "pointwise")
    assert reference["verdict"] == "FAIL"
    assert "off by" in reference["reason"]


def test_whole_runs_find_what_was_planted(tmp_path):
    from jrh_selftest.runs import run_findings

    found = list(run_findings(tmp_path, (), 0))
    assert {finding.verdict.value for finding in found} <= {"ok", "not there"}
    assert {finding.where for finding in found} == {
        f"run: {kind}" for kind in ("pointwise", "ordinal", "pairwise", "transcript", "always-first", "three-options")
    }


def test_estimators_over_arrays_pass():
    from jrh_selftest.studies import Plan, all_findings
    from jrh_selftest.worlds import WORLDS

    found = list(all_findings(Plan(studies=40, metrics={})))
    there = [finding for finding in found if finding.verdict.value != "not there"]
    assert len([finding for finding in there if finding.where == "arrays"]) >= 16
    assert len([finding for finding in there if finding.where.startswith("raters: ")]) >= 6
    assert [finding.name for finding in there if finding.verdict.value == "FAIL"] == []
    # Without metrics there are estimators alone.
    assert {finding.where for finding in there} >= {"arrays", "raters: ordinal"}
    assert not {finding.where for finding in there} & {world.name for world in WORLDS}


def test_unknown_metrics_and_half_replacements_are_errors(project):
    done = project.run("selftest", "--only", "as-expectd")
    assert done.exit_code == 2
    assert "unknown metric 'as-expectd'" in done.stderr
    assert project.run("selftest", "--replace", "as-expected").exit_code == 2


def test_the_findings_do_not_depend_on_the_number_of_processes():
    """300 studies are two batches, which different processes draw."""
    from jrh_selftest.studies import Plan, all_findings

    chosen = frozenset({"items: skewed", "2 levels, 60 items"})
    one, two = (
        list(all_findings(Plan(studies=300, full=True, metrics={}, worlds=chosen, jobs=jobs))) for jobs in (1, 2)
    )
    assert one == two
    assert {finding.where for finding in one} == chosen


def test_a_world_is_checked_alone(project):
    done = project.run("selftest", "--full", "--world", "items: normal", "--studies", "60", "--format", "json")
    assert done.exit_code == 0, done.output
    assert [(row["where"], row["name"]) for row in json.loads(done.stdout)] == [("items: normal", "mean")]
    assert project.run("selftest", "--world", "no such world").exit_code == 2
