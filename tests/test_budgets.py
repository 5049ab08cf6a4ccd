"""A budget is never exceeded, and a run whose true cost is within it finishes by one command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jrh_chat import cost_or_none, count_or_none
from jrh_testing import ChatServer, Inside, Outcome, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, report
from support.suites import PROVIDERS, llm_suite, write_items, write_suite

pytestmark = [pytest.mark.slow, pytest.mark.inside]

ITEMS = 120
PRICE = {"input": 100.0, "output": 200.0}
"""US dollars per million tokens."""


def run(
    project: Project, url: str, usd: float, items: int = ITEMS, provider: str = "openai-http", **model: Any
) -> Outcome:
    settings = {"price": PRICE, "max_tokens": 4000, "concurrency": 64, **model}
    write_items(project, items)
    write_suite(project, llm_suite(PROVIDERS[provider](url, **settings), budget={"usd": usd}))
    return project.run("run", "suite.yaml", "--run-dir", "run", "--yes")


def paid(project: Project) -> float:
    return float(one(project, "run", "SELECT total(cost) FROM calls"))


@pytest.fixture(scope="module")
def true_cost(tmp_path_factory: pytest.TempPathFactory) -> float:
    """What the run costs without a budget that matters."""
    project = Inside(tmp_path_factory.mktemp("rich"), env={KEY_VARIABLE: KEY})
    with ChatServer("YES") as server:
        outcome = run(project, server.url, 1000.0)
    assert outcome.exit_code == 0, outcome.output
    return paid(project)


@pytest.mark.parametrize(("provider", "share"), [("openai-http", 1.05), ("openai-http", 2.0), ("litellm", 1.05)])
def test_a_run_whose_true_cost_fits_finishes_in_one_invocation(
    project: Project, true_cost: float, share: float, provider: str
) -> None:
    """One call alone may cost $0.80 and more at its worst case, a third of all 120 calls together."""
    cap = true_cost * share + 0.8
    with ChatServer("YES", latency=0.02) as server:
        outcome = run(project, server.url, cap, provider=provider)
    assert outcome.exit_code == 0, outcome.output
    assert paid(project) <= cap
    assert one(project, "run", "SELECT count(*) FROM records WHERE status = 'ok'") == ITEMS
    assert server.count == ITEMS


def test_the_last_calls_are_reserved_by_what_the_model_has_used(project: Project, true_cost: float) -> None:
    """The budget is 5% above the true cost: less than one call's worst case is left for the last ones."""
    cap = true_cost * 1.05
    with ChatServer("YES") as server:
        outcome = run(project, server.url, cap, max_tokens=400, concurrency=4)
    assert outcome.exit_code == 0, outcome.output
    assert paid(project) <= cap
    assert "reserved by what was used so far" in project.read("run/log.jsonl")
    limits = {body["max_tokens"] for body in server.requests}
    assert max(limits) == 400
    assert min(limits) < 400


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_run_that_costs_more_stops_below_its_budget_and_continues(
    project: Project, true_cost: float, share: float
) -> None:
    cap = true_cost * share + 0.01
    with ChatServer("YES") as server:
        outcome = run(project, server.url, cap, max_tokens=50)
        assert outcome.exit_code == 4, outcome.output
        assert paid(project) <= cap
        assert "may cost" in outcome.stderr
        again = run(project, server.url, true_cost + 1.0, max_tokens=50)
    assert again.exit_code == 0, again.output
    assert server.count == ITEMS


def test_a_model_that_suddenly_writes_more_than_before_stays_below_the_budget(project: Project) -> None:
    asked = []

    def answer(body: dict[str, Any]) -> str:
        asked.append(body)
        # As a provider does, the server cuts a reply at the limit that it was given.
        return "YES" if len(asked) < 20 else "YES " + "x" * min(4 * body["max_tokens"] - 8, 3000)

    with ChatServer(answer) as server:
        outcome = run(project, server.url, 1.2, max_tokens=800, concurrency=8)
    assert outcome.exit_code == 4, outcome.output
    assert paid(project) <= 1.2


def test_a_provider_that_bills_beyond_its_maximum_stops_the_run_at_once_and_in_numbers(project: Project) -> None:
    with ChatServer("YES " + "x" * 8000) as server:  # 2,000 tokens, whatever the limit
        outcome = run(project, server.url, 0.5, max_tokens=10, concurrency=2)
    assert outcome.exit_code == 4, outcome.output
    assert "could exceed the budget of $0.50" in outcome.stderr
    assert "model 'mini' bills up to" in outcome.stderr
    assert server.count <= 2
    (warning,) = [note for note in report(project, "run")["warnings"] if "billed" in note]
    assert "that could cost" in warning
    assert "billed" in project.read("run/report.md")


def stating(usage: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Answer YES and state this usage."""
    return lambda _body: {"role": "assistant", "content": "YES", "usage": usage}


def preflighted(project: Project, url: str, budget: dict[str, Any], provider: str = "openai-http", **model: Any) -> Any:
    """Run eight items one after the other, after a preflight."""
    settings = {"price": {"input": 1, "output": 1}, "max_tokens": 20, "concurrency": 1, **model}
    write_items(project, 8)
    write_suite(project, llm_suite(PROVIDERS[provider](url, **settings), **budget))
    checked = Inside(project.path, env=project.env, preflight=True)
    return checked.run("run", "suite.yaml", "--run-dir", "run", "--yes")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("usage", [{"prompt_tokens": 10**30}, {"prompt_tokens": 200_000_000}])
def test_the_cost_of_an_absurd_usage_is_unknown_and_counts_at_the_worst_case(
    project: Project, provider: str, usage: dict[str, int]
) -> None:
    stated = {"completion_tokens": 1, "total_tokens": usage["prompt_tokens"] + 1, **usage}
    with ChatServer(stating(stated)) as server:
        outcome = preflighted(project, server.url, {"budget": {"usd": 0.1}}, provider)
    assert outcome.exit_code == 0, outcome.output
    assert server.count == 9
    assert "9 calls of unknown price" in outcome.output
    assert "more for calls of unknown cost" in outcome.output


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_cost_of_zero_where_there_is_a_price_is_none(project: Project, provider: str) -> None:
    """A gateway that states zeros would run through any budget."""
    with ChatServer(
        stating({"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000, "cost": 0})
    ) as server:
        outcome = preflighted(project, server.url, {"budget": {"usd": 0.009}}, provider)
    assert outcome.exit_code == 4, outcome.output
    assert paid(project) == pytest.approx(0.002 * server.count)


USAGE = {"prompt_tokens": 2500, "completion_tokens": 2500, "total_tokens": 5000}
"""At a dollar per million tokens, a call costs half a cent, many times what its text and `max_tokens` allow."""


@pytest.mark.parametrize(("usd", "calls", "exit_code"), [(0.007, 1, 4), (0.0125, 2, 4), (0.05, 9, 0), (100.0, 9, 0)])
def test_calls_billed_above_their_maximum_go_on_while_the_budget_holds(
    project: Project, usd: float, calls: int, exit_code: int
) -> None:
    with ChatServer(stating(USAGE)) as server:
        outcome = preflighted(project, server.url, {"budget": {"usd": usd}})
        assert outcome.exit_code == exit_code, outcome.output
        assert server.count == calls
        assert paid(project) == pytest.approx(0.005 * calls)
        assert paid(project) <= usd
        if exit_code:
            assert "model 'mini' bills up to" in outcome.stderr
            # As where the run stopped, so where it is continued: nothing fits, and nothing is sent.
            assert preflighted(project, server.url, {"budget": {"usd": usd}}).exit_code == 4
            assert server.count == calls
            whole = preflighted(project, server.url, {"budget": {"usd": 0.05}})
            assert whole.exit_code == 0, whole.output
            assert server.count == 9
        (note,) = [note for note in report(project, "run")["warnings"] if "billed" in note]
        assert note.startswith("model 'mini' billed $0.0450 for 9 calls that could cost")


def test_the_overbilling_of_one_call_in_flight_is_the_most_by_which_a_budget_is_exceeded(project: Project) -> None:
    """Prompts are billed thrice, as by a gateway that has a model guard them: learnt from the preflight."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        prompt = 3 * sum(len(message["content"]) + 16 for message in body["messages"])
        usage = {"prompt_tokens": prompt, "completion_tokens": 60, "total_tokens": prompt + 60}
        return {"role": "assistant", "content": "YES", "usage": usage}

    with ChatServer(answer) as server:
        cap = 0.0066
        outcome = preflighted(project, server.url, {"budget": {"usd": cap}}, concurrency=8)
        billed = server.count
        cost = paid(project)
        again = preflighted(project, server.url, {"budget": {"usd": 1.0}}, concurrency=8)
    assert outcome.exit_code == 4, outcome.output
    assert 1 < billed < 9
    assert cost <= cap
    assert again.exit_code == 0, again.output
    assert server.count == 9


@pytest.mark.parametrize("usage", [2**32 - 1, 10**12])
def test_a_free_model_may_miscount(project: Project, usage: int) -> None:
    counted = {"prompt_tokens": usage, "completion_tokens": 1, "total_tokens": usage}
    with ChatServer(stating(counted)) as server:
        free = {"input": 0, "output": 0}
        outcome = preflighted(project, server.url, {"budget": {"usd": 0.01}}, price=free)
    assert outcome.exit_code == 0, outcome.output
    assert server.count == 9


@pytest.mark.parametrize("preflight", [True, False])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_budget_that_can_never_be_held_is_an_error_of_the_suite_before_any_call(
    project: Project, provider: str, preflight: bool
) -> None:
    with ChatServer("YES") as server:
        write_items(project, 3)
        model = PROVIDERS[provider](server.url, price=PRICE)
        write_suite(project, llm_suite(model, budget={"usd": 5.0}))
        more = [] if preflight else ["--no-preflight"]
        found = Inside(project.path, env=project.env, preflight=True).run(
            "run", "suite.yaml", "--run-dir", "run", "--yes", *more
        )
        planned = project.run("plan", "suite.yaml", "--run-dir", "run")
    assert (found.exit_code, planned.exit_code) == (2, 2), found.output
    assert "give the model `max_tokens`" in found.stderr
    assert planned.stderr == found.stderr
    assert server.count == 0


def test_a_host_that_does_not_exist_costs_nothing(project: Project) -> None:
    outcome = run(project, "http://judge.invalid/v1", 1.0, items=3, max_attempts=1)
    assert outcome.exit_code == 3, outcome.output
    assert one(project, "run", "SELECT total(cost) || ' ' || count(*) FROM calls WHERE cost IS NOT NULL") == "0.0 3"
    assert "uncertain" not in outcome.stderr


def test_absurd_token_counts_are_an_unknown_cost() -> None:
    assert (count_or_none(10**30), count_or_none(1000)) == (None, 1000)
    assert (cost_or_none(1e300), cost_or_none(float("nan")), cost_or_none(0.5)) == (None, None, 0.5)
