"""A grid of seeds and repeats: both on the wire, in the records and as facets."""

from __future__ import annotations

from collections import Counter

import pytest
from jrh_testing import ChatServer, Project, call
from support.keys import KEY, KEY_VARIABLE
from support.looking import query, report
from support.suites import llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.slow


def test_seeds_are_sent_shown_and_facets(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    write_items(project, 6)
    sent: Counter[int | None] = Counter()

    def answer(body: dict[str, object]) -> str:
        seed = body.get("seed")
        sent[seed if isinstance(seed, int) else None] += 1
        # What is said depends on the seed: a facet with variance.
        return "YES" if seed == 87 and "00" in str(body["messages"]) else "NO"

    with ChatServer(answer) as server:
        tests = [{"stochastic": {"seeds": [87, 5], "repeats": 3}}]
        model = openai_http(server.url, concurrency=1)
        metrics = {"add": ["generalizability"]}
        write_suite(project, llm_suite(model, tests=tests, metrics=metrics, reports=["json"]))
        outcome = call(project, "run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    assert (sent[87], sent[5]) == (6 * 3, 6 * 3)
    asked = Counter(query(project, "run", "SELECT test, variant, seed FROM records"))
    assert asked == {
        ("reference", "", ""): 6,
        ("stochastic", "seed=87", "87"): 18,
        ("stochastic", "seed=5", "5"): 18,
    }
    parts = {
        measure["cell"].get("component") or measure["cell"].get("levels", {}).get("component")
        for measure in report(project, "run")["measures"]
        if measure["name"] == "variance"
    }
    assert any("seed" in str(part) for part in parts), parts
