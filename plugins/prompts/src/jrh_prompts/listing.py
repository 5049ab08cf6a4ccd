"""Choose the template pairs that a data set or a file lists."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from jrh import Item, JrhError, Text
from jrh_measuring import Answers, Mask, all_pairs, listed_pairs

from jrh_prompts.options import Which

Names = frozenset[str]
"""The two templates of a pair, in no order."""
_EVERY: Final = ""
"""The item of pairs that are compared on every item."""
_COLUMNS: Final = ("template_a", "template_b")


def chosen_pairs(pairs: Which | Text, answers: Answers, items: Sequence[Item]) -> Mask | None:
    """Return the pairs that an option asks for, shape (questions, pairs) as in `all_pairs`; None: all of them.

    Raises:
        JrhError: no item lists pairs, or the file does not name two templates in every row.
    """
    if pairs is Which.ALL:
        return None
    listed = read_pairs(pairs) if isinstance(pairs, Text) else _pairs_of(items)
    first, second = all_pairs(answers)
    names = [frozenset((answers.levels[one], answers.levels[other])) for one, other in zip(first, second, strict=True)]
    everywhere = listed.get(_EVERY, frozenset())
    return np.array(
        [[name in everywhere or name in listed.get(item, ()) for name in names] for item in answers.items],
        dtype=np.bool_,
    ).reshape(len(answers.items), len(names))


def _pairs_of(items: Sequence[Item]) -> Mapping[str, frozenset[Names]]:
    found = {item: frozenset(map(frozenset, pairs)) for item, pairs in listed_pairs(items).items()}
    if not found:
        raise JrhError(
            "pairs: listed: no item lists pairs of templates; the source `paired-prompts` and decision logs do. "
            "Name them with `pairs: {file: pairs.csv}`"
        )
    return found


def read_pairs(text: Text) -> Mapping[str, frozenset[Names]]:
    """Read pairs by item; those of every item stand under the empty name.

    Raises:
        JrhError: a column is missing, or a row names no two different templates.
    """
    rows = csv.DictReader(text.content.splitlines(), strict=True)
    lacking = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if lacking:
        raise JrhError(f"{text.source}:1: the column `{lacking[0]}` is missing; pairs need {' and '.join(_COLUMNS)}")
    found: dict[str, set[Names]] = {}
    try:
        for row in rows:
            pair = frozenset((row[name] or "").strip() for name in _COLUMNS)
            if "" in pair or len(pair) < len(_COLUMNS):
                raise JrhError(f"{text.source}:{rows.line_num}: a pair names two different templates")
            found.setdefault((row.get("item") or "").strip(), set()).add(pair)
    except csv.Error as error:
        raise JrhError(f"{text.source}:{rows.line_num}: {error}") from error
    if not found:
        raise JrhError(f"{text.source}: the file lists no pair")
    return {item: frozenset(pairs) for item, pairs in found.items()}
