"""Who has to agree to what a run may cost: with an estimate, and where nothing is installed that makes one."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jrh.errors import CostNotAgreedError
from jrh.running import cost_question
from jrh.running.cost_question import CostEstimate, check_agreed, estimate_cost, find_estimator
from jrh.running.outcome import RunRequest, Settings


class Estimator:
    """Says that every run costs two dollars."""

    def estimate(self, *_run: Any) -> CostEstimate:
        return CostEstimate(high=7, cost_high=2.0)


def install(monkeypatch: pytest.MonkeyPatch, *points: str) -> None:
    found = [metadata.EntryPoint(f"e{place}", point, "jrh.estimators") for place, point in enumerate(points)]
    monkeypatch.setattr(cost_question, "entry_points", lambda group: found)


def request(lab: Any, run_dir: Path) -> RunRequest:
    loaded: Any = None
    return RunRequest(resolved=lab.resolve(), loaded=loaded, settings=Settings(), run_dir=run_dir)


def test_the_installed_estimator_is_asked_and_a_broken_one_is_left_out(
    monkeypatch: pytest.MonkeyPatch, lab: Any, tmp_path: Path
) -> None:
    install(monkeypatch, "no_such_module:Estimator", "two_dollars:Estimator")
    monkeypatch.setitem(sys.modules, "two_dollars", SimpleNamespace(Estimator=Estimator))  # type: ignore[arg-type]
    total = estimate_cost(request(lab, tmp_path))
    assert total == CostEstimate(high=7, cost_high=2.0)
    check_agreed(total, 2.0)
    with pytest.raises(CostNotAgreedError, match=r"up to 7 model calls, cost \$0 to \$2"):
        check_agreed(total, 1.99)


def test_without_an_estimator_the_cost_is_unknown_and_somebody_has_to_agree(
    monkeypatch: pytest.MonkeyPatch, lab: Any, tmp_path: Path
) -> None:
    install(monkeypatch)
    assert find_estimator() is None
    no_models = estimate_cost(request(lab, tmp_path))
    assert no_models == CostEstimate()
    check_agreed(no_models, 0.0)
    with pytest.raises(CostNotAgreedError, match="model calls, cost unknown"):
        check_agreed(None, 1000.0)
    asked: list[str] = []
    check_agreed(None, lambda what: not asked.append(what))  # type: ignore[func-returns-value]
    assert asked == ["model calls, cost unknown: nothing is installed that estimates it"]
