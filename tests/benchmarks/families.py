"""How many cases per second the families make by rules: one core, the shipped items, no run around them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import jrh
import jrh_format.plugin
import jrh_label_flip.plugin
import jrh_paraphrase.plugin
import jrh_stochastic.plugin
import jrh_synthetic_ordinal.plugin
import jrh_validators.plugin
import jrh_verbosity.plugin
from jrh import Draft, Item, Task
from jrh_testing import build

from tests.benchmarks.table import Line

SECONDS: Final = 1.0
"""Every family works at least so long on each task."""
SCALES: Final[dict[str, dict[str, Any]]] = {
    "factual": {"labels": ["YES", "NO"]},
    "coherence": {"ordinal": [1, 5]},
    "relevance": {"pairwise": True},
    "preference": {"pairwise": True},
}
FAMILIES: Final[dict[str, tuple[ModuleType, str | None]]] = {
    "format": (jrh_format.plugin, None),
    "stochastic": (jrh_stochastic.plugin, None),
    "paraphrase": (jrh_paraphrase.plugin, "rules"),
    "verbosity": (jrh_verbosity.plugin, "facts-kept"),
    "label-flip": (jrh_label_flip.plugin, None),
    "synthetic-ordinal": (jrh_synthetic_ordinal.plugin, None),
}
"""The families and the validator that each asks about its own drafts; its time counts."""


def lines(_folder: Path) -> list[Line]:
    """Count the cases of every family; there is no aim."""
    tasks = _tasks()
    return [_line(name, [(task, items) for task, items in tasks if _suits(name, task)]) for name in FAMILIES]


def _tasks() -> Sequence[tuple[Task, tuple[Item, ...]]]:
    suite = {
        "name": "families",
        "tasks": [
            {
                "name": name,
                "data": {"source": "examples", "dataset": name},
                "task": {"rubric": "Judge.", "scale": scale},
            }
            for name, scale in SCALES.items()
        ],
        "judges": ["simulated"],
    }
    return jrh.read_items(suite)


def _suits(family: str, task: Task) -> bool:
    return family != "synthetic-ordinal" or task.scale.ordered


def _line(family: str, tasks: Sequence[tuple[Task, Sequence[Item]]]) -> Line:
    cases = looked_at = 0
    spent = 0.0
    for task, items in tasks:
        perturber = _perturber(family, task)
        asyncio.run(_drafts(perturber, items))  # the first time reads word lists and compiles patterns
        started = time.perf_counter()
        while time.perf_counter() - started < SECONDS:
            cases += asyncio.run(_drafts(perturber, items))
            looked_at += len(items)
        spent += time.perf_counter() - started
    return Line(
        what=f"{family} by rules, cases per second on one core",
        ours=f"{cases:,} in {spent:.1f} s",
        theirs=f"{looked_at / spent:,.0f} items/s",
        result=cases / spent,
        aim=0,
        unit="cases/s",
    )


def _perturber(family: str, task: Task) -> Any:
    plugin, check = FAMILIES[family]
    checks = {f"jrh-validators/{check}": build(jrh_validators.plugin, check, task=task)} if check else {}
    return build(plugin, family, task=task, validators=checks)


async def _drafts(perturber: Any, items: Sequence[Item]) -> int:
    """Treat the items once and count the drafts."""
    if hasattr(perturber, "perturb_set"):
        made = [draft for _, draft in await perturber.perturb_set(items)]
    else:
        made = [draft for item in items for draft in await perturber.perturb(item)]
    return sum(isinstance(draft, Draft) for draft in made)
