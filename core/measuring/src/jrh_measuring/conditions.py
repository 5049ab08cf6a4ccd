"""Conditions: how every trial was asked, which trials are reruns of each other, which only repeat the reference.

Whatever groups trials by how they were asked uses these codes, so that "a rerun" means one thing everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Polarity, Task
from numpy.typing import NDArray

from jrh_measuring.coded import Coded, Codes, Mask, combine_codes, compact, is_named, split_rows

LEVELS: Final = ("template", "option_order", "polarity", "strength", "temperature", "language", "output")
"""What the records state of a condition, besides the names of its test and variant."""
ORDER: Final = "option_order"
_JOINT: Final = "+"
"""Separator of the families of a chain."""
_UNCHANGED: Final = frozenset({"original", "reference", "baseline", "unchanged", "identity"})
"""Names of variants that say by themselves that nothing was changed."""
_CONVENTIONAL: Final = (ORDER, "polarity", "strength")
"""Levels of which one is the plain one by convention, even in a log without a reference condition."""
_PLAIN: Final[Mapping[str, str]] = {"polarity": Polarity.POSITIVE.value, "strength": "0"}
"""The plain level where it has a name."""
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "template": frozenset({"template", "templates", "prompt", "prompts"}),
    ORDER: frozenset({"order", "orders", "position", "positions", "swap", "swaps", "swapped", "reversed", "permuted"}),
    "polarity": frozenset({"polarity", "inverted"}),
    "temperature": frozenset({"temperature", "temperatures"}),
    "language": frozenset({"language", "languages"}),
    "output": frozenset({"output", "outputs", "reasoning", "tokens"}),
}
"""Words in a test's name that say what it varies. A test of another name may have changed the text as well, which no
column states: none of its trials is taken for the reference question because of its levels alone."""


@frozen(kw_only=True, eq=False)
class Conditions:
    """How every trial was asked; arrays of shape (n,)."""

    order: Coded
    """Option order as shown: that of the scale where the records state none."""
    levels: Codes
    """Number of the combination of `LEVELS`; combinations closer to the plain question come first."""
    table: NDArray[np.int64]
    """The codes of every combination, shape (combinations, len(LEVELS)); 0 is the plain level."""
    again: Mask
    """Trials of a test that ask the reference question again: nothing of what the test varies is changed."""

    @classmethod
    def of(cls, columns: Mapping[str, Coded], tasks: Sequence[Task | None]) -> Conditions:
        """Read the conditions.

        Args:
            columns: `task`, `test`, `variant`, `family`, `expectation` and `LEVELS`, coded.
            tasks: the task of every name of the column `task`; None where it is not known.
        """
        # Logs leave the order out where it is that of the scale: then both are one level.
        order, moved = _orders(columns["task"].codes, columns[ORDER], tasks)
        codes = {name: _plain_first(name, columns[name]) for name in LEVELS} | {ORDER: moved}
        table, levels = _combinations([codes[name] for name in LEVELS])
        again = _Again(columns=columns, order=order, levels=levels, table=table).mask()
        return cls(order=order, levels=levels, table=table, again=again)

    def distance(self, one: Codes, other: Codes) -> Codes:
        """Count the levels in which combinations differ, element by element."""
        return np.asarray((self.table[one] != self.table[other]).sum(axis=1))


def _combinations(columns: Sequence[Codes]) -> tuple[NDArray[np.int64], Codes]:
    """Return the distinct rows of columns in ascending order, and the place of every row among them."""
    # One number per row is counted instead of sorting rows: a tenth of the time, and no copy of all columns.
    number = combine_codes(*columns)
    example = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    example[number] = np.arange(len(number))  # rows with one number are equal: any of them will do
    return np.stack([column[example].astype(np.int64) for column in columns], axis=1), compact(number)


def acts_on(level: str, *names: str) -> bool:
    """Tell whether the names of a test and its family say that it varies a level, and nothing else.

    A chain changes something else as well.
    """
    words = {word for name in names for word in re.split(r"[^a-z]+", name.lower())}
    return not any(_JOINT in name for name in names) and not words.isdisjoint(_WORDS.get(level, ()))


@frozen(kw_only=True, eq=False)
class _Again:
    """Finds the trials of tests that ask the reference question again."""

    columns: Mapping[str, Coded]
    order: Coded
    levels: Codes
    table: NDArray[np.int64]

    def mask(self) -> Mask:
        """Return the mask of these trials."""
        again = np.zeros(len(self.levels), dtype=np.bool_)
        task, test = self.columns["task"].codes, self.columns["test"]
        reference = is_named(test, REFERENCE)
        same = is_named(self.columns["expectation"], "same")
        for rows in split_rows(combine_codes(task, test.codes)):
            # Where another verdict is due the question was changed, whatever the levels say.
            if reference[rows[0]] or not same[rows].any():
                continue
            usual = np.unique(self.levels[reference & (task == task[rows[0]])])
            usual = usual if len(usual) else self._by_convention(rows)
            like = rows[np.isin(self.levels[rows], usual) & same[rows] & self._says_unchanged(rows)]
            # A test that changes nothing at all is about reruns, and keeps its trials.
            if len(like) < len(rows):
                again[like] = True
        return again

    def _by_convention(self, rows: Codes) -> Codes:
        """Return the plain combination of a log without a reference condition, if there is one."""
        combinations = np.unique(self.levels[rows])
        varied = {LEVELS[place] for place in self._levels_that_vary(rows)}
        plain = [place for place, name in enumerate(LEVELS) if name in varied]
        # Of templates, temperatures or languages none is plain by itself: without a reference nothing tells which.
        if not varied.issubset(_CONVENTIONAL):
            return combinations[:0]
        return np.asarray(combinations[(self.table[combinations][:, plain] == 0).all(axis=1)])

    def _levels_that_vary(self, rows: Codes) -> Codes:
        combinations = self.table[np.unique(self.levels[rows])]
        return np.asarray(np.flatnonzero((combinations != combinations[:1]).any(axis=0)))

    def _says_unchanged(self, rows: Codes) -> Mask:
        """Return whether the variant of each row says no more than that nothing was changed."""
        variant = self.columns["variant"]
        mine = variant.codes[rows]
        unchanged = np.array([name.lower() in _UNCHANGED for name in variant.names])[mine]
        # Many logs name the variant after the order, template or language it was asked in: that names no change.
        for column in (self.order, self.columns["template"], self.columns["language"]):
            written = np.array([variant.names.index(name) if name in variant.names else -1 for name in column.names])
            unchanged |= (written[column.codes[rows]] == mine) & (mine != variant.names.index(""))
        names = (column.names[column.codes[rows[0]]] for column in (self.columns["test"], self.columns["family"]))
        shown, varied = tuple(names), self._levels_that_vary(rows)
        if any(acts_on(LEVELS[place], *shown) for place in varied):
            unchanged |= mine == variant.names.index("")
        return np.asarray(unchanged | self._no_dose(rows))

    def _no_dose(self, rows: Codes) -> Mask:
        """Return the rows of strength 0 whose variant the test also applies more strongly."""
        stronger = self.table[self.levels[rows], LEVELS.index("strength")] > 0
        variant = self.columns["variant"].codes[rows]
        return np.asarray(~stronger & np.isin(variant, variant[stronger]))


def _plain_first(name: str, column: Coded) -> Codes:
    """Return codes in which 0 is the plain level, in the order of the names."""
    plain = [code for code, text in enumerate(column.names) if text in ("", _PLAIN.get(name, ""))]
    return compact(np.where(np.isin(column.codes, plain), 0, column.codes + 1))


def _orders(task: Codes, written: Coded, tasks: Sequence[Task | None]) -> tuple[Coded, Codes]:
    """Return the order of the options as shown, and codes in which the order of the scale is 0."""
    own_orders = ["" if known is None else known.scale.own_order for known in tasks]
    names = tuple(sorted({*written.names, *own_orders, ""}))
    place = {name: code for code, name in enumerate(names)}
    plain = np.array([place[name] for name in own_orders], dtype=np.int32)[task]
    codes = np.array([place[name] for name in written.names], dtype=np.int32)[written.codes]
    shown = np.where(codes == place[""], plain, codes)
    return Coded(codes=compact(shown), names=names), compact(np.where(shown == plain, 0, shown + 1))
