"""A JSS suite recovers what was planted: template sensitivity, polarity blindness, position preference (point 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh.running import RunResult

REAL = Path(__file__).parents[2] / "shared" / "data" / "judgesense"
INVENTORY = {name: name for name in ("coherence", "relevance", "preference")} | {"factual": "factuality"}
SCALES: dict[str, dict[str, Any]] = {
    "factual": {"labels": ["YES", "NO"]},
    "coherence": {"ordinal": [1, 5]},
    "relevance": {"pairwise": True},
    "preference": {"pairwise": True},
}
LABELS = {"factual": 2, "coherence": 5, "relevance": 2, "preference": 2}
PLANTED = 0.2
BLIND = 0.5
FIRST = 0.4
JUDGES = [
    {"judge": "simulated", "name": "steady", "accuracy": 0.9},
    {"judge": "simulated", "name": "touchy", "accuracy": 0.9, "template_sensitivity": PLANTED},
    {"judge": "simulated", "name": "half-blind", "accuracy": 0.9, "polarity_blindness": BLIND},
    {"judge": "simulated", "name": "blind", "accuracy": 0.9, "polarity_blindness": 1.0},
    {"judge": "simulated", "name": "first", "accuracy": 0.9, "position_preference": FIRST},
]


def near(estimate: float | None, probability: float, independent: int) -> bool:
    """Tell whether an estimate lies within four binomial standard deviations of what was planted."""
    assert estimate is not None
    return abs(estimate - probability) <= 4 * (probability * (1 - probability) / independent) ** 0.5 + 1e-9


class Found:
    """The measures of a run, by name and place."""

    def __init__(self, result: RunResult) -> None:
        assert result.exit_code == 0, result.message
        self.measures = result.measures
        self.findings = result.findings

    def __call__(self, name: str, task: str, judge: str, **cell: str) -> jrh.Measure:
        found = [
            each
            for each in self.measures
            if (each.name, each.task, each.judge, dict(each.cell)) == (name, task, judge, cell)
            and each.test != "reference"
        ]
        assert len(found) == 1, f"{len(found)} measures {name}, {task}, {judge}, {cell}"
        return found[0]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Found:
    suite = {
        "name": "shipped",
        "tasks": [
            {
                "name": name,
                "data": {"source": "examples", "dataset": name},
                "task": {"instruction": "Judge.", "scale": scale},
            }
            for name, scale in SCALES.items()
        ],
        "tests": [{"templates": {"inventory": INVENTORY}}, "option-order", "identical-options"],
        "metrics": [
            "template-sensitivity",
            "polarity",
            "position-bias",
            "identical-choice",
            "flipped-by-every-judge",
            "audit",
        ],
        "reference": {"repeats": 1},
        "resamples": 200,
        "judges": JUDGES,
        "seed": 3,
    }
    return Found(jrh.run(suite, run_dir=tmp_path_factory.mktemp("shipped") / "run", use_cache=False))


@pytest.mark.parametrize("task", SCALES)
def test_template_sensitivity_is_recovered_for_every_task(shipped: Found, task: str) -> None:
    # Items are independent, the pairs of one item are not: the item count alone bounds the error.
    expected = (1 - PLANTED) ** 2 + PLANTED**2 / (LABELS[task] - 1)
    jss = shipped("jss", task, "touchy")
    assert near(jss.estimate, expected, 30)
    assert jss.interval is not None
    assert jss.interval.low <= expected <= jss.interval.high
    assert jss.flags == ("simulated",)
    assert shipped("jss", task, "steady").estimate == 1.0


def test_an_inverted_template_lowers_the_raw_measures_and_not_the_corrected_ones(shipped: Found) -> None:
    # Of the 15 pairs of six templates 5 hold the inverted one.
    assert shipped("jss", "factual", "steady").estimate == 1.0
    assert shipped("jss-raw", "factual", "steady").estimate == pytest.approx(10 / 15)
    assert shipped("template-kappa", "factual", "steady").estimate == pytest.approx(1.0)
    assert shipped("jss-raw", "coherence", "steady").estimate == 1.0


def test_polarity_blindness_is_recovered_corrected_and_is_invisible_raw_when_it_is_complete(shipped: Found) -> None:
    pair = "fact-errors | fact-plain"
    assert near(shipped("jss", "factual", "half-blind", pair=pair).estimate, 1 - BLIND, 30)
    assert near(shipped("jss-raw", "factual", "half-blind", pair=pair).estimate, BLIND, 30)
    assert shipped("jss", "factual", "blind", pair=pair).estimate == 0.0
    assert shipped("jss-raw", "factual", "blind").estimate == 1.0
    assert shipped("jss", "factual", "blind").estimate == pytest.approx(10 / 15)


def test_a_blind_judge_is_told_apart_from_a_template_declared_wrongly(shipped: Found) -> None:
    (finding,) = [each for each in shipped.findings if each.kind == "polarity-blindness"]
    assert (finding.judge, finding.basis[0].cell["template"]) == ("blind", "fact-errors")
    assert "shown for 1 of 5 judges" in finding.sentence
    assert not [each for each in shipped.findings if each.kind == "undeclared-polarity"]


@pytest.mark.parametrize("task", ["relevance", "preference"])
def test_position_preference_is_recovered(shipped: Found, task: str) -> None:
    assert near(shipped("swap-consistency", task, "first").estimate, 1 - FIRST, 30)
    assert near(shipped("position-bias", task, "first").estimate, FIRST, 30)
    assert near(shipped("first-position-rate", task, "first").estimate, FIRST + (1 - FIRST) / 2, 30)
    p = shipped("position-bias-p", task, "first").estimate
    assert p is not None
    assert p < 0.01
    assert shipped("swap-consistency", task, "steady").estimate == 1.0
    assert shipped("position-bias", task, "steady").estimate == 0.0
    assert shipped("position-bias-p", task, "steady").estimate == 1.0
    assert near(shipped("identical-first-position-rate", task, "first").estimate, FIRST + (1 - FIRST) / 2, 30)


def test_the_findings_of_the_audit_come_with_the_run(shipped: Found) -> None:
    found = {(each.task, each.cell["problem"]) for each in shipped.measures if each.name == "audit"}
    assert ("relevance", "few-items") in found
    assert ("relevance", "constant-gold") not in found


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, RunResult]:
    if not REAL.exists():
        pytest.skip("the real benchmark is not here (../shared/data/judgesense)")
    suite = {
        "name": "judgesense",
        "tasks": [
            {
                "name": name,
                "data": {"source": "paired-prompts", "path": str((REAL / f"{name}.jsonl").resolve())},
                "task": {"instruction": "Judge.", "scale": SCALES[name]},
            }
            for name in ("coherence", "relevance")
        ],
        "tests": [{"templates": {"from_items": True, "repeats": 3}}],
        "metrics": ["template-sensitivity", "audit"],
        "reference": {"repeats": 1},
        "resamples": 200,
        "judges": JUDGES,
    }
    result = jrh.run(suite, run_dir=tmp_path_factory.mktemp("judgesense") / "run", use_cache=False)
    return Found(result), result


def test_the_real_benchmark_is_asked_25_prompts_per_repeat_and_judge(benchmark: tuple[Found, RunResult]) -> None:
    records = benchmark[1].records
    for name in ("coherence", "relevance"):
        rows = records.where(
            records.equals("task", name) & records.equals("judge", "steady") & records.equals("test", "templates")
        )
        assert len(rows) == 25 * 3
        assert len(set(zip(rows.text("item_id"), rows.text("template"), strict=True))) == 25


@pytest.mark.parametrize(("task", "labels"), [("coherence", 5), ("relevance", 2)])
def test_the_real_benchmark_recovers_what_was_planted(
    benchmark: tuple[Found, RunResult], task: str, labels: int
) -> None:
    found, _ = benchmark
    expected = (1 - PLANTED) ** 2 + PLANTED**2 / (labels - 1)
    assert near(found("jss", task, "touchy").estimate, expected, 5)
    assert found("jss", task, "steady").estimate == 1.0
    assert found("jss", task, "steady").n_items == 5


def test_the_report_of_the_real_benchmark_says_what_it_cannot_show(benchmark: tuple[Found, RunResult]) -> None:
    _, result = benchmark
    assert result.report is not None
    told = {
        task: " ".join(each.sentence for each in result.report.findings if each.task == task)
        for task in ("coherence", "relevance")
    }
    assert all("125 rows are 25 distinct pairs over 5 items" in sentences for sentences in told.values())
    assert "every gold label is A (5 items)" in told["relevance"]
    assert "It hides position bias" in told["relevance"]
    assert "every gold label" not in told["coherence"]


def test_the_findings_stay_when_the_report_is_written_again(tmp_path: Path) -> None:
    from jrh_testing import Inside

    project = Inside(tmp_path)
    project.write(
        "data.jsonl",
        "\n".join(
            f'{{"id": "{n}", "request": "q{n}", "response_a": "one {n}.", "response_b": "two {n}.", "label": "A"}}'
            for n in range(6)
        ),
    )
    project.write(
        "suite.yaml",
        (
            "name: s\ndata: {source: jsonl, path: data.jsonl}\ntask: {scale: {pairwise: true}}\n"
            "judges: [{judge: simulated}]\nresamples: 100\n"
        ),
    )
    assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0
    first = project.read("run/report.md")
    assert "every gold label is A (6 items)" in first
    assert project.run("report", "run").exit_code == 0
    assert project.read("run/report.md") == first
