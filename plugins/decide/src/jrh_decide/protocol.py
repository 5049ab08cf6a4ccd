"""The smallest suite that fills the card of a judge: `jrh init --protocol minimum`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Final

from jrh import Item, ScaleKind, Task
from jrh_measuring import Look
from jrh_stats import items_for_threshold, threshold_power

_GOOD: Final = 0.9
"""Share of right verdicts of a judge that the gate is to pass."""
_POWER: Final = 0.8
_MARKS: Final = tuple(percent / 100 for percent in range(85, 0, -5))
_LEVEL: Final = 0.95
"""A suite's own level, where it names none."""
_ORDER: Final = "\n  # The same options in another order.\n  - option-order"
_REST: Final = """
# Every original is asked twice: how often the two differ is the noise floor.
reference: {{repeats: 2}}

tests:
  # Same words, other layout: a reliable judge keeps its verdict.
  - format: {{variants: [spaces]}}{order}

gate:
  # {why}
  rules: [gold-accuracy >= {mark:g}]
  allow_missing: 0.05
"""


def smallest_suite(part: str, labels: str, task: Task, items: Sequence[Item]) -> str:
    """Return what a suite needs for every line of a judge card, and a gate that a good judge passes.

    Args:
        part: the suite's `data:` and `task:`.
        labels: where it reads the labels of people; two label each item for the human ceiling.
        task: the task.
        items: its items: their number decides the pass mark.
    """
    mark, why = _pass_mark(task, items)
    part = part.replace("data:\n", f"data:\n  # Two people label: jrh label.\n  labels_from: {json.dumps(labels)}\n", 1)
    order = _ORDER if task.scale.kind is ScaleKind.PAIRWISE else ""
    return part + _REST.format(order=order, why=why, mark=mark)


def _pass_mark(task: Task, items: Sequence[Item]) -> tuple[float, str]:
    """Return the highest mark that a good judge reaches with so many items, above always saying the same."""
    units = len({item.group or item.id for item in items})
    golds = Counter(item.gold for item in items if item.gold)
    chance = max(golds.values()) / golds.total() if golds else 1 / len(task.scale.labels)
    # Of the first look: most runs are looked at once.
    alpha = (1 - _LEVEL) / 2 * Look().share
    above = [mark for mark in _MARKS if mark > chance] or [*_MARKS[:1]]
    held = [mark for mark in above if threshold_power(_GOOD, mark, units, alpha=alpha) >= _POWER]
    mark = held[0] if held else above[-1]
    needed = units if held else items_for_threshold(_GOOD, mark, alpha=alpha, power=_POWER)
    few = "" if held else f"Too few items here ({units:,}). "
    return mark, f"{few}A judge that is right on 9 of 10 items passes in 4 of 5 runs of {needed:,} items."
