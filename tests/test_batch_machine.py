"""Whatever a provider of batches answers: each question is bought once, and what it billed is what is booked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from jrh.values.verdicts import Reply
from jrh_testing import loop_over
from support.batch_provider import FATES, FAULTS, QUESTIONS, Directory

DEEP = bool(os.environ.get("JRH_DEEP"))
PROVIDERS = {"openai-batch": False, "anthropic-batch": True}
READABLE = ("errors first", "doubled", "reordered", "statuses as texts", "other lines")
"""Files of results that hold every answer."""
AT_ONCE = (
    *READABLE,
    "counts that are none",
    "counts of another batch",
    "500",
    "done, 503",
    "done, HTML",
    "done, a list",
)
"""What is not followed by another request of the same step."""
OF_OPENAI = ("no files", "no answers", "no counts, no files")
STEPS = {step: [fault for fault in faults if fault not in AT_ONCE] for step, faults in FAULTS.items()}
ENDLESS = {"results_seconds": 10**6}


def run_with(provider: str, step: str, faults: Sequence[str]) -> Directory:
    """Run once while these things go wrong, one after the other."""
    directory = Directory(anthropic=PROVIDERS[provider])
    directory.provider.faults[step] = list(faults)
    if step == "list":
        directory.provider.faults["create"] = ["done, 503"]  # only then batches are listed
    results = directory.run(**ENDLESS)
    assert step == "list" or all(isinstance(result, Reply) and result.ok for result in results), results
    assert len(directory.provider.held) == 1
    directory.finish()
    assert not directory.problems
    directory.remove()
    return directory


@loop_over("provider", PROVIDERS)
@loop_over("step", STEPS)
def test_what_goes_wrong_for_a_while_is_waited_out_and_buys_nothing_again(provider: str, step: str) -> None:
    """All that can go wrong at one step, one after the other."""
    if step == "upload" and PROVIDERS[provider]:
        return  # it has no files
    faults = [fault for fault in STEPS[step] if step == "download" or not PROVIDERS[provider] or fault not in OF_OPENAI]
    met = run_with(provider, step, faults).provider.met
    assert all(met[f"{step}: {fault}"] == 1 for fault in faults if step != "list"), met


@loop_over("provider", PROVIDERS)
@loop_over("fault", READABLE)
def test_an_answer_counts_wherever_and_however_it_is_written(provider: str, fault: str) -> None:
    directory = run_with(provider, "download", [fault])
    assert directory.provider.met[f"download: {fault}"] == 1


def troubles() -> st.SearchStrategy[dict[str, list[str]]]:
    """Draw what goes wrong at the next requests of each step."""
    return st.fixed_dictionaries({step: st.lists(st.sampled_from(names), max_size=3) for step, names in FAULTS.items()})


class BatchMachine(RuleBasedStateMachine):
    """A run directory over its processes, and a provider that kills, delays, expires, cuts, doubles and reorders."""

    @initialize(anthropic=st.booleans())
    def begin(self, anthropic: bool) -> None:
        self.directory = Directory(anthropic=anthropic)

    @rule(
        faults=troubles(),
        fates=st.lists(st.sampled_from(FATES), max_size=QUESTIONS),
        looks=st.integers(0, 3),
        wait=st.booleans(),
        kill_at=st.integers(-6, 12),
    )
    def run(self, faults: dict[str, list[str]], fates: list[str], looks: int, wait: bool, kill_at: int) -> None:
        provider = self.directory.provider
        provider.faults, provider.fates, provider.looks = faults, fates, looks
        self.directory.run(wait=wait, kill_at=max(kill_at, -1), collect_seconds=2.0)
        assert not self.directory.problems

    def teardown(self) -> None:
        if hasattr(self, "directory"):
            self.directory.finish()
            self.directory.remove()
            assert not self.directory.problems


BatchMachine.TestCase.settings = settings(
    max_examples=300 if DEEP else 8,
    stateful_step_count=12 if DEEP else 5,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not DEEP,
)
TestBatches: Any = pytest.mark.timeout(0 if DEEP else 300)(BatchMachine.TestCase)
