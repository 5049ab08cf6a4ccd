"""Check whole runs end to end, from suite to report, with simulated judges and planted defects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh import REFERENCE, JrhError, Measure, run
from jrh.values import option_field

from jrh_selftest.findings import Finding, Verdict, absent

_ITEMS: Final = 400
_ERRORS: Final = 4.0
"""Tolerated error of a run's estimate in standard errors; exceeded by chance once in 16,000."""
_TEXT: Final = "The answer is given in one paragraph. It has a second sentence. It ends here, at number {number}."


@frozen(kw_only=True)
class PlannedRun:
    """One run and the values that its report must contain."""

    name: str
    task: Mapping[str, Any]
    judge: Mapping[str, Any]
    tests: tuple[Any, ...] = ()
    labels: tuple[str, ...]
    truth: Mapping[tuple[str, str], float]
    """(measure, test) -> planted value; the formulas are in the README of jrh-simulated."""


def runs_to_check() -> tuple[PlannedRun, ...]:
    """Return a run for every kind of task."""
    noisy, right, upset = 0.2, 0.8, 0.3
    steady = 1 - noisy
    return (
        PlannedRun(
            name="run: pointwise",
            task={"scale": {"labels": ["YES", "NO"]}},
            judge={"accuracy": right, "rerun_noise": noisy, "format_sensitivity": upset},
            tests=({"format": {"variants": ["crlf"]}}, {"stochastic": {"repeats": 3}}),
            labels=("YES", "NO"),
            truth={
                ("as-expected", REFERENCE): steady * right + noisy / 2,
                ("rerun-disagreement", REFERENCE): (1 - steady**2) / 2,
                ("rerun-disagreement", "stochastic"): (1 - steady**2) / 2,
            },
        ),
        PlannedRun(
            name="run: ordinal",
            task={"scale": {"ordinal": [1, 6]}},
            judge={"accuracy": 0.7, "error": "adjacent", "rerun_noise": noisy},
            labels=("1", "2", "3", "4", "5", "6"),
            truth={
                ("as-expected", REFERENCE): steady * 0.7 + noisy / 6,
                ("rerun-disagreement", REFERENCE): (1 - steady**2) * 5 / 6,
            },
        ),
        PlannedRun(
            name="run: pairwise",
            task={"scale": {"pairwise": True}},
            judge={"accuracy": 0.9, "position_preference": 0.3},
            # B is right twice as often: a preference for the first position costs accuracy.
            labels=("A", "B", "B"),
            truth={("as-expected", REFERENCE): 0.7 * 0.9 + 0.3 / 3, ("rerun-disagreement", REFERENCE): 0.0},
        ),
        PlannedRun(
            name="run: always-first",
            task={"scale": {"pairwise": True}},
            judge={"position_preference": 1.0},
            tests=("option-order",),
            labels=("A", "B"),
            truth={
                ("gold-accuracy", REFERENCE): 0.5,
                ("rerun-disagreement", REFERENCE): 0.0,
                ("flip-rate", "option-order"): 1.0,
                ("excess-disagreement", "option-order"): 1.0,
                ("swap-consistency", "option-order"): 0.0,
                ("right-in-both-orders", "option-order"): 0.0,
                ("first-position-rate", "option-order"): 1.0,
                ("position-bias", "option-order"): 1.0,
            },
        ),
        PlannedRun(
            name="run: three-options",
            task={"scale": {"pairwise": {"options": 3}}},
            judge={"accuracy": 0.9, "position_preference": 0.3},
            tests=("option-order",),
            labels=("A", "B", "C"),
            truth={
                ("as-expected", REFERENCE): 0.7 * 0.9 + 0.3 / 3,
                ("rerun-disagreement", REFERENCE): 0.0,
                ("swap-consistency", "option-order"): 0.7,
                ("right-in-both-orders", "option-order"): 0.7 * 0.9,
                ("first-position-rate", "option-order"): 0.3 + 0.7 / 3,
                ("third-position-rate", "option-order"): 0.7 / 3,
                ("position-bias", "option-order"): 0.3,
            },
        ),
        PlannedRun(
            name="run: transcript",
            task={"scale": {"labels": ["YES", "NO"]}, "mode": "transcript"},
            judge={"accuracy": 0.85, "refusals": 0.1},
            labels=("YES", "NO"),
            truth={("as-expected", REFERENCE): 0.85, ("missing", REFERENCE): 0.1},
        ),
    )


def run_findings(folder: Path, plugins: tuple[str, ...], seed: int) -> Iterator[Finding]:
    """Run every planned run in a folder and compare its report with what was planted.

    A run whose components are not installed yields a row that says so.
    """
    for planned in runs_to_check():
        try:
            result = run(
                _suite(planned, folder, seed),
                run_dir=folder / planned.name.split()[-1],
                plugins=plugins,
                # Replies of an earlier run would not test this one.
                use_cache=False,
            )
        # A component that is not installed is no failure of the measures: the rows say that they are missing.
        except JrhError as error:
            for name, test in planned.truth:
                yield absent(planned.name, f"{name} ({test})", "run", str(error).splitlines()[0])
            continue
        measures = {(measure.name, measure.test): measure for measure in result.measures if not measure.cell}
        for (name, test), planted in planned.truth.items():
            yield _run_finding(planned.name, f"{name} ({test})", planted, measures.get((name, test)))


def _suite(planned: PlannedRun, folder: Path, seed: int) -> dict[str, Any]:
    path = folder / f"{planned.name.split()[-1]}.jsonl"
    path.write_text("".join(json.dumps(_item(planned, number)) + "\n" for number in range(_ITEMS)), encoding="utf-8")
    return {
        "name": path.stem,
        "data": {"source": "jsonl", "path": str(path)},
        "task": dict(planned.task),
        "tests": list(planned.tests),
        "judges": [{"judge": "simulated", "name": "planted", **planned.judge}],
        "seed": seed,
        "resamples": 200,
    }


def _item(planned: PlannedRun, number: int) -> dict[str, object]:
    label = planned.labels[number % len(planned.labels)]
    text = _TEXT.format(number=number)
    judged: dict[str, object] = {"response": text}
    if planned.task.get("mode") == "transcript":
        judged = {"transcript": [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": text}]}
    elif "pairwise" in planned.task["scale"]:
        endings = ("", " Or not.", " Or in part.")[: len(set(planned.labels))]
        judged = {option_field(place): f"{text}{ending}" for place, ending in enumerate(endings)}
    return {"id": f"item-{number}", "request": "What is it?", "label": label, **judged}


def _run_finding(where: str, name: str, planted: float, measure: Measure | None) -> Finding:
    if measure is None or measure.estimate is None:
        return absent(where, name, "run")
    # Upper bound: the error for independent items; repeats of an item make it smaller.
    error = (planted * (1 - planted) / max(measure.n_items, 1)) ** 0.5
    close = abs(measure.estimate - planted) <= _ERRORS * error + 1e-9
    return Finding(
        where=where,
        name=name,
        kind="run",
        planted=planted,
        estimated=measure.estimate,
        studies=1,
        verdict=Verdict.OK if close else Verdict.FAIL,
        reason="" if close else f"off by more than {_ERRORS:.0f} standard errors",
    )
