"""Ten budgets: the server never bills more than the cap, and a run whose true cost fits finishes at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jrh_testing import ChatServer, Fault, Inside
from jrh_testing.server.bodies import prompt_of, tokens
from support.keys import KEY, KEY_VARIABLE
from support.suites import PROVIDERS, llm_suite, write_items, write_suite

pytestmark = pytest.mark.slow
ITEMS = 30
PRICE = {"input": 100.0, "output": 200.0}
FORMAT: dict[str, Any] = {"tests": [{"format": {"variants": ["spaces"]}}]}
WORDY = "YES " + "because it is so " * 12

SCENARIOS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = {
    "one at a time": ({"concurrency": 1}, {}, {}, "YES"),
    "all at once": ({"concurrency": 64}, {}, {}, "YES"),
    "room for long replies": ({"max_tokens": 4000}, {}, {}, "YES"),
    "long replies": ({"max_tokens": 100}, {}, {}, WORDY),
    "two tests": ({}, FORMAT, {}, "YES"),
    "repeats": ({}, {"reference": {"repeats": 3}}, {}, "YES"),
    "refused now and then": ({}, {}, {"kind": "429-seconds", "every": 5, "retry_after": 0.01}, "YES"),
    "errors now and then": ({}, {}, {"kind": "500", "every": 7}, "YES"),
    "so many a minute": ({"requests_per_minute": 6000}, {}, {}, "YES"),
    "through litellm": ({"provider": "litellm"}, {}, {}, "YES"),
}
"""Name -> settings of the model, changes of the suite, a fault, and what the server answers."""


class Billed:
    """Answers, and adds up what a provider would bill."""

    def __init__(self, text: str) -> None:
        self.text, self.usd = text, 0.0

    def __call__(self, body: dict[str, Any]) -> str:
        text = self.text[: 4 * body["max_tokens"] - 4]
        self.usd += (tokens(prompt_of(body)) * PRICE["input"] + tokens(text) * PRICE["output"]) / 1e6
        return text


def play(place: Path, name: str, usd: float) -> tuple[int, float, str]:
    """Run a scenario with a budget; return the exit code, what the server billed, and the messages."""
    settings, changes, fault, text = SCENARIOS[name]
    place.mkdir()
    project = Inside(place, env={KEY_VARIABLE: KEY})
    billed = Billed(text)
    model = {"price": PRICE, "max_tokens": 50, "concurrency": 16, "max_attempts": 9, **settings}
    provider = PROVIDERS[model.pop("provider", "openai-http")]
    with ChatServer(billed, faults=[Fault(**fault)] if fault else []) as server:
        write_items(project, ITEMS)
        changes = {"reports": ["json"], "metrics": ["missing"], **changes}
        write_suite(project, llm_suite(provider(server.url, **model), budget={"usd": usd}, **changes))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run", "--yes", "--no-cache")
    return outcome.exit_code, billed.usd, outcome.stderr


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_scenario_bills_more_than_its_cap_and_one_that_fits_finishes_at_once(tmp_path: Path, name: str) -> None:
    code, true_cost, said = play(tmp_path / "rich", name, 1000.0)
    assert code == 0, said
    # Before the first reply is there, one call has to fit at its worst case: 4,000 tokens are $0.80.
    cap = true_cost * 1.05 + (0.85 if name == "room for long replies" else 0.0)
    code, billed, said = play(tmp_path / "fits", name, cap)
    assert code == 0, said
    assert billed <= cap
    code, billed, said = play(tmp_path / "half", name, true_cost / 2)
    assert code == 4, said
    assert billed <= true_cost / 2
