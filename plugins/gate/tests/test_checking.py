"""The exit code: the first that applies."""

import attrs
import pytest
from gate_findings import found
from jrh.running import RunState
from jrh.running.outcome import Ended
from jrh_gate.wording import conclusion
from jrh_measuring.gating.checking import Terms, check
from jrh_testing import loop_over, sample_report


def code(names, **fields):
    return found(names, **fields).exit_code


def test_the_codes_apply_in_the_order_that_is_documented():
    fails, undecided = found(["a"]), found(["x", "y"])
    only = attrs.evolve(undecided, decisions=undecided.decisions[1:], answered=())
    assert fails.exit_code == 1
    assert only.exit_code == 5
    assert attrs.evolve(only, decisions=(*only.decisions, *fails.decisions)).exit_code == 1
    # x fails, whatever y lacks.
    assert undecided.exit_code == 1
    assert only.exit_code == 5
    lacking = attrs.evolve(undecided, decisions=undecided.decisions[1:])
    assert lacking.exit_code == 3, "verdicts of y are missing"
    assert attrs.evolve(lacking, ended=4, unfinished="budget").exit_code == 4
    assert attrs.evolve(only, ended=130, unfinished="interrupted").exit_code == 130
    stopped = attrs.evolve(fails, ended=130, unfinished="interrupted")
    assert stopped.exit_code == 1
    assert conclusion(stopped).endswith("exit code 1: a rule fails; besides, interrupted")


@pytest.mark.parametrize(("allowed", "expected"), [(0.0, 3), (0.04, 3), (0.05, 0)])
def test_the_allowance_is_a_share_of_the_trials_of_a_judge_in_a_test(allowed, expected):
    assert code(["a", "b"], terms=Terms(allow_missing=allowed), decisions=()) == expected


@pytest.mark.parametrize("undecided", [0, 1, 5])
def test_missing_verdicts_are_never_let_pass(undecided):
    assert code(["a", "b"], terms=Terms(undecided=undecided), decisions=()) == 3


@loop_over(
    ("state", "expected"),
    [
        (RunState(suite="s"), 3),
        (RunState(suite="s", imported=True), 0),
        (RunState(suite="s", ended=Ended(exit_code=0, message="", complete=True)), 0),
        (RunState(suite="s", ended=Ended(exit_code=3, message="2 trials failed", complete=True)), 0),
        (RunState(suite="s", ended=Ended(exit_code=3, message="refused", complete=False)), 3),
        (RunState(suite="s", ended=Ended(exit_code=4, message="budget", complete=False)), 4),
        (RunState(suite="s", ended=Ended(exit_code=130, message="", complete=False)), 130),
        (RunState(suite="s", ended=Ended(exit_code=1, message="the gate failed", complete=True)), 0),
        (RunState(suite="s", ended=Ended(exit_code=1, message="the gate failed", complete=False)), 3),
        (
            RunState(
                suite="s",
                sections={"gate": {"rules": ["a >= 1"]}},
                ended=Ended(exit_code=0, message="", complete=False),
            ),
            3,
        ),
    ],
)
def test_how_the_run_ended_decides_first(state, expected):
    report = attrs.evolve(sample_report(), missing_records=0)
    assert check(state, report, Terms(allow_missing=0.99)).exit_code == expected
    assert check(state, None, Terms()).exit_code == (expected or 3)


def test_trials_that_were_not_asked_are_never_allowed():
    state = RunState(suite="s", imported=True)
    checked = check(state, sample_report(), Terms(allow_missing=0.99))
    assert checked.exit_code == 3
    assert checked.unfinished == "1 of 97 trials were not run"
