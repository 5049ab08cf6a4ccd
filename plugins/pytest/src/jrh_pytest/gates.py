"""The marker `judge_gate`, the fixture `judge_run`, and what pytest shows of them.

pytest imports this module whenever it starts: jrh is imported only where a test uses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from jrh.running import RunResult

_MARK: Final = "judge_gate"
_ABOUT: Final = (
    f"{_MARK}(*rules, suite, **options): check the run of a suite against gate rules such as 'as-expected[format] >= "
    "0.9'; without rules, against the suite's own. Options are those of jrh.run."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("jrh", "LLM judges (jrh)")
    group.addoption(
        "--jrh-spend",
        type=float,
        default=0.0,
        metavar="USD",
        help="Dollars that the run of one suite may cost. [default: 0, which skips suites that may cost anything]",
    )
    group.addoption(
        "--jrh-undecided",
        choices=("fail", "skip", "pass"),
        default="fail",
        help="What to do about a rule that the data neither confirm nor refute. [default: fail]",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _ABOUT)


@pytest.fixture
def judge_run(request: pytest.FixtureRequest) -> RunResult:
    """Return the run of the suite that the test's marker `judge_gate` names; made once per session."""
    from jrh_pytest.runs import run_of

    mark = request.node.get_closest_marker(_MARK)
    if mark is None:
        raise pytest.UsageError(f"the fixture judge_run needs the marker: @pytest.mark.{_MARK}(suite='suite.yaml')")
    return run_of(request.node, mark.kwargs)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the rules before the test itself runs."""
    for mark in item.iter_markers(_MARK):
        # Not at the top: pytest loads this module in every project of the environment.
        from jrh_pytest.runs import check

        check(item, mark.args, mark.kwargs)


def pytest_report_teststatus(report: Any) -> tuple[str, str, Mapping[str, str] | str] | None:
    """Show an undecided rule as an outcome of its own where it fails the test."""
    if report.when == "call" and report.failed and ("judge gate", "undecided") in report.user_properties:
        return "undecided", "U", "UNDECIDED"
    return None
