"""Each family moves the judge whose defect it looks for, and no other, and the report says so (simulated judges)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh import Measure
from jrh.running import RunResult
from support.released import as_released

PAIRS = 40
"""Pairs of a right and a wrong answer, on which every family finds something to change."""
NOISE = 0.04
"""Share of answers that are drawn anew at every asking, by every judge."""
ALPHA = 0.05
CHANCE = 1e-4
"""The chance with which a judge that is as planted fails a comparison with what was planted."""
DEFECTS: dict[str, dict[str, float]] = {
    "sound": {},
    # A draft of verbosity has about twice the letters of its item, one of another family nearly as many as it.
    "by-length": {"length_preference": 0.9, "length_ratio": 1.25},
    "by-layout": {"format_sensitivity": 0.5},
    "blind": {"meaning_blindness": 1.0},
}
MOVED_BY = {
    "format": {"by-layout"},
    "verbosity": {"by-length"},
    "paraphrase": set(),
    # Here a judge has to move; the one that does not read does not.
    "label-flip": {"sound", "by-length", "by-layout"},
}


def items() -> str:
    """Write items whose answers hold something that every family can change."""
    lines = []
    for number in range(PAIRS):
        length = 120 + number
        text = (
            f"The bridge is {{}} metres long. For example, {3 + number % 6} boats can lie beside it. "
            "They do not pay for that."
        )
        for label, said in (("YES", length), ("NO", length + 1000)):
            item = {
                "id": f"{number:02}-{label}",
                "request": "What is known of the bridge?",
                "response": text.format(said),
            }
            lines.append(json.dumps({**item, "label": label}))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder: Path = tmp_path_factory.mktemp("planted")
    (folder / "items.jsonl").write_text(items(), encoding="utf-8")
    suite: dict[str, Any] = {
        "name": "planted",
        "data": {"source": "jsonl", "path": str(folder / "items.jsonl")},
        "task": {"instruction": "Is the answer right?", "scale": {"labels": ["YES", "NO"]}},
        "tests": [
            {"format": {"variants": ["spaces"]}},
            {"verbosity": {"variants": ["long"], "long_ratio": [1.3, 3.0]}},
            "paraphrase",
            {"label-flip": {"variants": ["negation"]}},
        ],
        "judges": [
            {"judge": "simulated", "name": name, "rerun_noise": NOISE, **defects} for name, defects in DEFECTS.items()
        ],
        "metrics": ["as-expected", "gold-accuracy", "flip-rate", "rerun-disagreement", "noise-excess"],
        "reference": {"repeats": 4},
        "resamples": 400,
        "seed": 3,
    }
    with as_released():
        return jrh.run(suite, run_dir=folder / "run", use_cache=False)


def measured(found: RunResult, name: str, judge: str, test: str) -> Measure:
    return next(
        each for each in found.measures if (each.name, each.judge, each.test) == (name, judge, test) and not each.cell
    )


def assert_planted(measure: Measure, share: float) -> None:
    """Compare with a planted share, within the limits of as many draws of yes or no as there are items.

    A mean over items of shares between 0 and 1 varies at most as much.
    """
    from scipy.stats import binom

    low, high = binom.ppf([CHANCE / 2, 1 - CHANCE / 2], measure.n_items, share) / measure.n_items
    assert measure.estimate is not None
    assert low <= measure.estimate <= high, f"{measure.name} of {measure.judge} in {measure.test}"


def interval(measure: Measure) -> tuple[float, float]:
    assert measure.interval is not None
    return measure.interval.low, measure.interval.high


def test_every_family_has_cases_of_every_item_that_it_can_treat(found: RunResult) -> None:
    assert found.exit_code == 0, found.message
    assert found.report is not None
    kept = {line.test: line.kept for line in found.report.attrition}
    # A rule makes a right answer wrong; a wrong one it leaves alone.
    assert kept == {"format": 2 * PAIRS, "verbosity": 2 * PAIRS, "paraphrase": 2 * PAIRS, "label-flip": PAIRS}


@pytest.mark.parametrize("judge", DEFECTS)
@pytest.mark.parametrize("test", MOVED_BY)
def test_a_family_moves_the_judge_it_should_and_no_other(found: RunResult, judge: str, test: str) -> None:
    flips = measured(found, "flip-rate", judge, test)
    floor = measured(found, "rerun-disagreement", judge, "reference")
    # Two askings differ where one of them at least is drawn anew and comes out differently: (1 - s²)(1 - 1/2).
    noise = (1 - (1 - NOISE) ** 2) / 2
    assert_planted(floor, noise)
    if judge in MOVED_BY[test]:
        assert interval(flips)[0] > interval(floor)[1]
    else:
        assert_planted(flips, noise)
        assert interval(flips)[0] <= interval(floor)[1]


@pytest.mark.parametrize("judge", DEFECTS)
@pytest.mark.parametrize("test", MOVED_BY)
def test_the_excess_over_the_noise_floor_tells_the_same(found: RunResult, judge: str, test: str) -> None:
    excess = measured(found, "excess-disagreement", judge, test)
    p = measured(found, "excess-disagreement-p", judge, test).estimate
    assert p is not None
    assert (interval(excess)[0] > 0) == (p < ALPHA)
    # One test in twenty of what moves no judge rejects by chance, and there are sixteen.
    assert (p < ALPHA / (len(DEFECTS) * len(MOVED_BY))) == (judge in MOVED_BY[test])


@pytest.mark.parametrize("judge", DEFECTS)
def test_a_finding_names_the_families_that_move_a_judge_and_no_other(found: RunResult, judge: str) -> None:
    assert found.report is not None
    named = [each for each in found.report.findings if each.kind == "moves-more-than-reruns" and each.judge == judge]
    # Where a judge has to move, moving is no finding.
    expected = {test for test, judges in MOVED_BY.items() if judge in judges and test != "label-flip"}
    assert {test for each in named for test in each.tests} == expected


def test_the_share_that_moves_is_the_planted_one(found: RunResult) -> None:
    stable = (1 - NOISE) ** 2

    def expected(flipped: float) -> float:
        return 1 - stable * (1 - flipped) - (1 - stable) / 2

    assert_planted(measured(found, "flip-rate", "by-layout", "format"), expected(0.5))
    # The longer answer gets the first label: only the wrong answers, half of the items, have somewhere to move.
    assert_planted(measured(found, "flip-rate", "by-length", "verbosity"), expected(0.9 / 2))
    for judge in MOVED_BY["label-flip"]:
        assert_planted(measured(found, "flip-rate", judge, "label-flip"), expected(1.0))


def test_the_judge_that_ignores_meaning_is_wrong_about_planted_errors_and_right_elsewhere(found: RunResult) -> None:
    assert interval(measured(found, "as-expected", "blind", "label-flip"))[1] < 0.2
    assert interval(measured(found, "gold-accuracy", "blind", "reference"))[0] > 0.9
    for judge in ("sound", "by-length", "by-layout"):
        assert interval(measured(found, "as-expected", judge, "label-flip"))[0] > 0.8


@pytest.mark.parametrize("test", MOVED_BY)
def test_the_report_shows_it(found: RunResult, test: str) -> None:
    written = next(path for path in found.files if path.name == "report.md").read_text(encoding="utf-8")
    main = written.partition("<details>")[0]
    for judge in DEFECTS:
        # Behind the tables of the answer, whose rows begin with judges, too.
        lines = main.partition("## Judges by tests")[2].splitlines()
        row = next(line for line in lines if line.startswith(f"| {judge} (simulated) | {test} |"))
        estimate = measured(found, "flip-rate", judge, test).estimate
        assert f"{estimate:.3f} \\[" in row


LEVELS = 6
UNSTEADY = 0.5
"""Share of answers that the judge without another defect draws anew, where the others draw few."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """A run on a scale of levels, with the two families that the run above has no place for."""
    folder: Path = tmp_path_factory.mktemp("planted-levels")
    told = (
        "the boats that lie beside bridge {} wait there for water that is high enough, and nobody who waits has to pay"
    )
    lines = [
        json.dumps(
            {"id": f"{n:02}", "request": "Tell.", "response": told.format(n), "label": str(2 + n % (LEVELS - 1))}
        )
        for n in range(PAIRS)
    ]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    judges = {name: {"rerun_noise": NOISE, **defects} for name, defects in DEFECTS.items()}
    judges["unsteady"] = {"rerun_noise": UNSTEADY}
    suite: dict[str, Any] = {
        "name": "planted-levels",
        "data": {"source": "jsonl", "path": str(folder / "items.jsonl")},
        "task": {"instruction": "How well is it told?", "scale": {"ordinal": [1, LEVELS]}},
        "tests": [{"synthetic-ordinal": {"levels": ["1"]}}, {"stochastic": {"repeats": 6}}],
        "judges": [{"judge": "simulated", "name": name, **defects} for name, defects in judges.items()],
        "metrics": ["as-expected", "flip-rate", "rerun-disagreement"],
        "reference": {"repeats": 4},
        "resamples": 400,
        "seed": 3,
    }
    with as_released():
        return jrh.run(suite, run_dir=folder / "run", use_cache=False)


@pytest.mark.parametrize("judge", DEFECTS)
def test_a_response_of_the_lowest_level_moves_every_judge_but_the_one_that_ignores_meaning(
    graded: RunResult, judge: str
) -> None:
    flips = measured(graded, "flip-rate", judge, "synthetic-ordinal")
    accuracy = measured(graded, "as-expected", judge, "synthetic-ordinal")
    floor = interval(measured(graded, "rerun-disagreement", judge, "reference"))[1]
    if judge == "blind":
        assert interval(flips)[0] <= floor
        assert interval(accuracy)[1] < 0.2
    else:
        assert interval(flips)[0] > 0.8
        # A simulated judge's draws follow from ids, and ids from the perturber's code: 36 of 40 is a possible draw.
        assert interval(accuracy)[0] > 0.75


@pytest.mark.parametrize("judge", [*DEFECTS, "unsteady"])
def test_asking_again_moves_a_judge_by_its_planted_noise_whatever_else_is_wrong_with_it(
    graded: RunResult, judge: str
) -> None:
    again = measured(graded, "rerun-disagreement", judge, "stochastic")
    noise = UNSTEADY if judge == "unsteady" else NOISE
    assert_planted(again, (1 - (1 - noise) ** 2) * (1 - 1 / LEVELS))
    assert (interval(again)[0] > 0.3) == (judge == "unsteady")


def test_the_report_shows_the_families_on_levels_too(graded: RunResult) -> None:
    assert graded.exit_code == 0, graded.message
    main = next(path for path in graded.files if path.name == "report.md").read_text(encoding="utf-8")
    for judge in (*DEFECTS, "unsteady"):
        for test in ("synthetic-ordinal", "stochastic"):
            assert f"| {judge} (simulated) | {test} |" in main
