"""The heat map shows measures by their role, whatever they are called."""

from __future__ import annotations

import pytest
from jrh import Measure
from jrh.plugins import Role
from jrh_measuring import measures_by_role, shade_class
from jrh_review import stored_runs
from jrh_review.stored_runs import available_lenses, choose_lens, heat_cells


def a_measure(name: str, estimate: float, judge: str = "mini") -> Measure:
    return Measure(
        name=name, judge=judge, task="task", test="order", estimate=estimate, n_trials=60, n_items=30, unit="difference"
    )


def test_every_lens_has_a_measure_that_is_declared_with_its_role() -> None:
    assert {lens.key for lens in stored_runs.LENSES} <= set(measures_by_role())


def test_a_preference_for_a_place_is_shown_with_0_in_the_middle_of_the_scale() -> None:
    measures = [a_measure("position-bias", -0.5, "second"), a_measure("position-bias", 0.0), a_measure("kappa", 0.3)]
    (lens,) = available_lenses(measures)
    assert lens.role is Role.ORDER
    assert choose_lens("none", measures) is lens
    shades = {judge: shade_class(measure, lens.zero) for (judge, _), measure in heat_cells(measures, lens).items()}
    assert shades == {"second": "d0", "mini": "d4"}


def test_of_two_measures_with_a_role_the_first_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    roles = {"order": frozenset({"position-bias", "acme-preference"})}
    monkeypatch.setattr(stored_runs, "measures_by_role", lambda: roles)
    measures = [a_measure("position-bias", 0.25), a_measure("acme-preference", 0.5)]
    (lens,) = available_lenses(measures)
    (measure,) = heat_cells(measures, lens).values()
    assert measure.name == "position-bias"
