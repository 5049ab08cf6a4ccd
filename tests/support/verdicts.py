"""Run directories of made-up verdicts: imported, so that no judge has to be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jrh import Scale, ScaleKind, Task, derive_seed
from jrh_interchange import import_records, imported_record

YES_NO = Task(name="trial", instruction="Is it right?", scale=Scale(kind=ScaleKind.LABELS, labels=("YES", "NO")))

Answer = Callable[[str, str, int], str | None]
"""Test, gold label and number of the item -> the label given, None where there is none."""


def chance(*parts: object) -> float:
    """Return a number from 0 to 1 that follows from the parts."""
    return derive_seed(0, *parts) / 2**31


def right_with(accuracy: float, seed: object = 0, missing: float = 0.0) -> Answer:
    """Answer as a judge that is right with a probability, and silent with another, independently."""

    def answer(test: str, gold: str, number: int) -> str | None:
        if chance(seed, "missing", test, number) < missing:
            return None
        right = chance(seed, "right", test, number) < accuracy
        return gold if right else ("NO" if gold == "YES" else "YES")

    return answer


def import_judges(
    run_dir: Path,
    judges: Mapping[str, Answer],
    *,
    items: int = 40,
    tests: Mapping[str, int] | None = None,
    simulated: bool = False,
    task: Task = YES_NO,
    **columns: Any,
) -> None:
    """Import the verdicts of judges on items with the gold labels YES and NO in turn.

    Args:
        run_dir: where they go.
        judges: the judges' answers.
        items: how many items.
        tests: test -> repeats; by default the reference once.
        simulated: mark the judges.
        task: the task.
        columns: columns that every record has.
    """
    records = []
    for judge, answer in judges.items():
        for number in range(items):
            gold = "YES" if number % 2 == 0 else "NO"
            for test, repeats in (tests or {"reference": 1}).items():
                for repeat in range(repeats):
                    place = number if repeat == 0 else number + items * repeat
                    given = {
                        "item_id": f"item-{number:03}",
                        "gold": gold,
                        "expectation": "equals",
                        "expected": gold,
                        "label": answer(test, gold, place),
                        **columns,
                    }
                    records.append(
                        imported_record(task=task, judge=judge, test=test, repeat=repeat, simulated=simulated, **given)
                    )
    import_records(run_dir, "trial", [task], records, resamples=200)
