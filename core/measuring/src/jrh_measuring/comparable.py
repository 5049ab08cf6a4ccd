"""Questions: what two answers share when they are compared over one factor of the condition.

A pair that differs in anything else would count the effect of the other factor, or hide that of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from jrh_measuring.coded import Coded, Codes, numbered
from jrh_measuring.conditions import LEVELS, ORDER
from jrh_measuring.trials import Trials

SHOWN: Final = "shown option order"
"""Name of the column with every trial's order: `option_order`, or that of the scale where that is empty."""
_JOINT: Final = "+"
"""Separator of the variants of a chain."""
_OWN: Final[Mapping[str, frozenset[str]]] = {"template": frozenset({"polarity", "language", "strength"})}
"""What a level of a factor may bring along: a template is written in a language, asks for or against, and is changed
more or less. A temperature or an option order is none of them."""


def questions_over(trials: Trials, factor: str, rows: Codes) -> Codes:
    """Number what some trials ask apart from a factor: item, and all of the condition that is not the factor's.

    Answers are compared over a factor, template or option order, only if they have the same number, which is the same
    for all judges. A template brings its polarity, language and strength along where each template has one only. Other
    columns name whole conditions: over them every item is one question.

    Args:
        trials: all trials.
        factor: the column that answers are compared over.
        rows: the trials that take part in the comparison.

    Returns:
        Shape (rows,); numbers of one item follow each other.
    """
    item = trials.item.codes[rows]
    level = ORDER if factor == SHOWN else factor
    if level not in ("template", ORDER):
        return item
    over = trials.column(factor)
    mine = over.codes[rows]
    table = trials.conditions.table
    combined = item.astype(np.int64)
    for place, name in enumerate(LEVELS):
        codes = table[trials.conditions.levels[rows], place]
        held = name != level and (name not in _OWN.get(level, ()) or _several(mine, codes))
        # Room for every level, held or not: the numbers of all judges have to mean the same.
        combined = combined * (int(table[:, place].max(initial=0)) + 1) + codes * held
    variant = trials.shared(("variant without", factor), lambda: _variant(trials, over))
    size = int(variant.max(initial=0)) + 1
    return np.asarray(combined * size + _crossed(combined, mine, variant[rows]))


def without_order(trials: Trials) -> Codes:
    """Number item and condition without the order and the variant, which names the order in most logs, shape (n,)."""

    def compute() -> Codes:
        table = np.delete(trials.conditions.table, LEVELS.index(ORDER), axis=1)
        number = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
        return numbered(trials.item.codes, number[trials.conditions.levels])

    return trials.shared("questions without order", compute)


def _variant(trials: Trials, over: Coded) -> Codes:
    """Return the variants without the parts that name the level of the factor, from 1, shape (n,)."""
    back = numbered(trials.variant.codes, over.codes)
    one = np.zeros(int(back.max(initial=-1)) + 1, dtype=np.int64)
    one[back] = np.arange(len(back))  # any trial with both: it has their names
    names = [_rest(trials.variant.names[trials.variant.codes[row]], over.names[over.codes[row]]) for row in one]
    place = {name: number + 1 for number, name in enumerate(sorted(set(names)))}
    return np.array([place[name] for name in names], dtype=np.int64)[back]


def _rest(variant: str, level: str) -> str:
    return _JOINT.join(part for part in variant.split(_JOINT) if part != level)


def _crossed(condition: Codes, level: Codes, variant: Codes) -> Codes:
    """Return the variants where they are a factor of their own, else 0.

    They are where one condition has several of them, and one of them several levels; a log whose variants number the
    rows, or name the level in other words, is compared as if it named none.
    """
    alone = not _several(numbered(condition, level), variant) or not _several(numbered(condition, variant), level)
    return np.zeros_like(variant) if alone else variant


def _several(one: Codes, other: Codes) -> bool:
    """Tell whether some value of one column goes with several of the other."""
    return len(np.unique(numbered(one, other))) > len(np.unique(one))
