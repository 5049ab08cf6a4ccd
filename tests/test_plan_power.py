"""`jrh plan` says what a design can show before anything is spent: power, gate rules, and what a pilot measured."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jrh_plan.power import Assumptions
from jrh_testing import Outcome, Project, call
from support.suites import simulated_suite, write_items, write_suite

JUDGES = [
    {
        "name": "noisy",
        "judge": "simulated",
        "accuracy": 0.9,
        "rerun_noise": 0.3,
        "format_sensitivity": 0.2,
        "cost": 0.001,
    },
    {"name": "quiet", "judge": "simulated", "accuracy": 0.8, "refusals": 0.1},
]


def planned(**changes: Any) -> dict[str, Any]:
    return simulated_suite(**{"reference": {"repeats": 2}, "reports": ["json"], **changes})


RULES = ["flip-rate[format] <= 0.02", "as-expected[reference] >= 0.8", "as-expected >= 1"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("planned"))
    write_items(project, 60)
    tests = [{"format": {"variants": ["spaces"]}}]
    write_suite(
        project,
        planned(judges=JUDGES, tests=tests, gate={"rules": RULES}),
    )
    done = call(project, "run", "suite.yaml", "--limit", "40", "--run-dir", "pilot", "--no-cache", "--yes")
    assert done.exit_code in (0, 1, 3), done.output  # the gates of some fail
    return project


def plan(project: Project, *options: str) -> Outcome:
    done = call(project, "plan", "suite.yaml", *options)
    assert "Traceback" not in done.output
    return done


def power(done: Outcome) -> int:
    found = re.search(r" format .* (\d+)% ", done.stdout.replace("│", " "))
    assert found, done.stdout
    return int(found[1])


def test_the_plan_says_the_power_and_what_would_give_enough(suite: Project) -> None:
    told = plan(suite).stdout
    assert "Both are corrected for 2 comparisons (judges x tests, Bonferroni)." in told
    assert re.search(r"\d+ items or \d+ askings each", told)
    assert power(plan(suite)) < 80 <= power(plan(suite, "--noise", "0", "--effect", "0.2"))


def test_the_assumptions_are_shown_and_can_be_changed(suite: Project) -> None:
    told = plan(suite, "--noise", "0.2", "--discordance", "0.3").stdout
    assert "two askings of a question differ on 20% of items (correlation 0.6)" in told
    assert "a test changes the verdict on 30% of items, in either direction" in told
    usual = Assumptions()
    shown = " ".join(plan(suite, "--help").stdout.split())
    assert [float(each) for each in re.findall(r"\[default: (0\.\d)\]", shown)] == [
        usual.noise,
        usual.discordance,
        usual.effect,
    ]


def test_the_plan_says_which_rules_so_many_items_cannot_show(suite: Project) -> None:
    told = plan(suite).stdout
    cannot = "cannot hold: it needs 194 items without a single exception, and 'format' on 'trial' has 60."
    assert f"Gate rule 'flip-rate[format] <= 0.02' {cannot}" in told
    assert re.search(r"'as-expected\[reference\] >= 0.8' holds with 80% power if the true rate is at least 0\.93", told)
    assert "'as-expected >= 1' can never hold" in told


def test_a_pilot_gives_what_else_is_assumed(suite: Project) -> None:
    told = plan(suite, "--pilot", "pilot").stdout
    noise = re.search(r"Pilot: rerun noise (0\.\d\d) \[0\.\d\d, 0\.\d\d\] \(judge 'noisy', the noisiest\)\.", told)
    assert noise, told
    used = re.search(r"two askings of a question differ on ([\d.]+)% of items", told)
    assert used
    assert float(used[1]) / 100 == pytest.approx(float(noise[1]), abs=0.006)
    assert re.search(r"Pilot: \d+\.\d% of verdicts are missing \[", told)
    assert "in either direction; " in told, "the missing verdicts count"
    overridden = plan(suite, "--pilot", "pilot", "--noise", "0.05").stdout
    assert "two askings of a question differ on 5% of items" in overridden


TURN = """
from jrh import Draft, Equals, PerturberSpec, hookimpl

class Turn:
    async def perturb(self, item):
        other = "NO" if item.gold == "YES" else "YES"
        return [Draft(fields={"response": "Not so: " + item.fields["response"]}, expectation=Equals(label=other))]

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="turn", summary="turns the right label over", factory=Turn)
"""


def test_a_pilots_discordance_is_not_that_of_a_test_that_expects_another_verdict(project: Project) -> None:
    """The judge is always right: `turn` changes every verdict and `format` none."""
    project.write("turn.py", TURN)
    write_items(project, 40)
    judge = {"name": "right", "judge": "simulated"}
    write_suite(project, planned(judges=[judge], tests=[{"format": {"variants": ["spaces"]}}, "turn"]))
    shared = ("--plugins", "turn.py")
    done = call(project, "run", "suite.yaml", "--run-dir", "pilot", "--no-cache", "--yes", *shared)
    assert done.exit_code == 0, done.output
    told = plan(project, "--pilot", "pilot", *shared).stdout
    assert "a test changes the verdict on 20% of items" in told, "the assumption stays"
    assert "no test that expects the same verdict showed excess disagreement" in " ".join(told.split())


def test_the_plan_says_why_a_small_discordance_changes_no_number(suite: Project) -> None:
    few, none = (plan(suite, "--discordance", share).stdout for share in ("0.05", "0"))
    assert few.replace("verdict on 5% of", "verdict on 0% of") == none
    assert (
        "takes at least as many changed verdicts, so a smaller discordance gives the same number; the noise"
        in " ".join(none.split())
    )


def test_a_pilot_of_other_judges_or_tests_is_refused(suite: Project) -> None:
    judges = [{**JUDGES[0], "name": "another"}]
    other = simulated_suite(
        reference={"repeats": 2}, judges=judges, tests=[{"format": {"variants": ["spaces"]}}], reports=["json"]
    )
    write_suite(suite, other, "other.yaml")
    done = call(suite, "plan", "other.yaml", "--pilot", "pilot")
    assert done.exit_code == 2
    assert "the pilot 'pilot' has no judge 'another'; it has noisy, quiet" in done.stderr
    write_suite(
        suite,
        planned(judges=JUDGES, tests=["stochastic"]),
        "third.yaml",
    )
    done = call(suite, "plan", "third.yaml", "--pilot", "pilot")
    assert done.exit_code == 2
    assert "has no test 'stochastic'" in done.stderr
