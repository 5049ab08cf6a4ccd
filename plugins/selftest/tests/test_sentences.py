"""Sentences of pages and decisions of gates, by the installed metrics and the kernel's own rules."""

import numpy as np
import pytest
from attrs import evolve
from jrh_measuring import load_metrics
from jrh_selftest.pages import Gate, Page, gate_outcomes, page_claims

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def metrics():
    return load_metrics()


def test_a_page_on_which_much_changes_says_so_and_one_on_which_nothing_does_is_silent(metrics):
    still = Page(name="still", tests=2, noise=0.0)
    spoilt = evolve(still, name="spoilt", spoilt=0.4)
    assert "accuracy-change:bad" in page_claims(spoilt, metrics, np.random.default_rng(0), 0)
    assert not any(claim.startswith(("accuracy-change", "moves")) for claim in _claims(still, metrics))


def test_a_judge_that_answers_the_commonest_label_agrees_by_chance_alone_and_a_good_one_beyond_it(metrics):
    usual = Page(
        name="usual",
        constant=True,
        noise=0.0,
        balance=(0.7, 0.3),
        metrics=frozenset({"gold-accuracy", "gold-kappa"}),
    )
    assert _claims(usual, metrics) == {"constant-verdicts:bad"}
    good = evolve(usual, constant=False, accuracy=0.97)
    assert "gold-agreement:good" in _claims(good, metrics)


@pytest.mark.parametrize(("below", "outcome"), [(0.3, "holds"), (-0.1, "fails"), (0.0, "undecided")])
def test_a_gate_holds_far_above_fails_far_below_and_is_undecided_at_its_threshold(metrics, below, outcome):
    gate = Gate(name="gate", items=200, accuracy=0.85, noise=0.0, tests=0, reference_repeats=1, below=below)
    assert gate_outcomes(gate, metrics, np.random.default_rng(1), 0) == {outcome}


def test_looks_are_taken_at_the_items_that_are_there_and_places_are_all_decided(metrics):
    looking = Gate(name="gate", items=200, accuracy=0.9, tests=0, looks=(5, 200), below=0.3)
    assert gate_outcomes(looking, metrics, np.random.default_rng(1), 0) == {"undecided", "holds"}
    places = Gate(name="gate", judges=2, tests=1, items=100, accuracy=0.9, noise=0.0, everywhere=True, below=0.3)
    assert gate_outcomes(places, metrics, np.random.default_rng(1), 0) == {"holds"}


def _claims(page, metrics):
    return page_claims(page, metrics, np.random.default_rng(0), 0)
