"""Families of tests, plain p-values and those adjusted for being several; the test of a change of accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure
from jrh_stats import Change, benjamini_hochberg, holm, paired_change
from numpy.typing import NDArray

from jrh_measuring.builder import MeasureBuilder
from jrh_measuring.cells import Basis, Cell
from jrh_measuring.coded import Codes
from jrh_measuring.reference import reference_verdicts
from jrh_measuring.scoring import right_label
from jrh_measuring.trials import Trials, condition_codes

_LEAST: Final = "the smallest p-value this test could have given; findings leave out tests that cannot decide"


@frozen(kw_only=True, eq=False)
class Tested:
    """One test of a family."""

    basis: Basis
    p: float | None
    least: float = 0.0
    """The smallest p-value that the test could have given."""


def p_values(
    builder: MeasureBuilder,
    name: str,
    family: Sequence[Tested],
    *,
    test: str,
    over: str,
    nothing: str,
    adjusted: bool = True,
) -> Iterator[Measure]:
    """Yield the p-value of every member of a family, its least one, and where there are several the two adjusted ones.

    Holm's bounds the probability of any false alarm in the family, Benjamini and Hochberg's the expected share of false
    ones among the alarms.

    Args:
        builder: the metric's.
        name: name of what is compared; `-p`, `-p-least`, `-p-holm` and `-p-bh` are added.
        family: the tests.
        test: note of the plain p-values.
        over: what the family is made of, for the notes of the adjusted ones.
        nothing: note where there is no p-value.
        adjusted: yield the adjusted ones as well.
    """
    for member in family:
        yield builder.p_value(f"{name}-p", member.basis, member.p, note=nothing if member.p is None else test)
    for member in family:
        if member.p is not None and member.least > 0:
            yield builder.p_value(f"{name}-p-least", member.basis, member.least, note=_LEAST)
    # What could not be tested takes nothing from the others.
    tested = [(member, member.p) for member in family if member.p is not None]
    if not adjusted or len(tested) <= 1:
        return
    plain = [p for _, p in tested]
    for suffix, changed, who in (
        ("holm", holm(plain), "Holm"),
        ("bh", benjamini_hochberg(plain), "Benjamini and Hochberg"),
    ):
        note = f"the p-value adjusted by {who} over {over}"
        for (member, _), p in zip(tested, changed.tolist(), strict=True):
            yield builder.p_value(f"{name}-p-{suffix}", member.basis, p, note=note)


def accuracy_change_of(
    builder: MeasureBuilder, cell: Cell, rows: Codes, sign: NDArray[np.float64] | None = None
) -> Change:
    """Estimate and test the change of accuracy in some trials from their items' reference verdicts.

    The estimate is the mean of `gold_changes`. Answers go in one by one, and not as one difference per item: how much
    an item's verdicts vary when nothing changes is seen only among those of one condition.

    Args:
        builder: the metric's.
        cell: where the trials stand; seeds the draws.
        rows: the eligible trials of the test, with or without a verdict.
        sign: of all trials, the same for all of an item: -1 where a fall counts as a rise; None: 1 everywhere.
    """
    trials, context = builder.trials, builder.context
    right = trials.compute_once("right or not", lambda: _right(trials))
    of = reference_verdicts(trials).of
    compared = np.zeros(int(of.max(initial=0)) + 1, dtype=np.bool_)
    # Reference verdicts of these items only: those of other items would shift the mean that is compared with.
    compared[of[rows]] = True
    before = np.flatnonzero(trials.reference & compared[of]).astype(np.int32)
    # What is asked in the same place of every item is one slot of its cluster.
    answers = np.concatenate([before, rows])
    answers = answers[np.lexsort((trials.repeat[answers], condition_codes(trials)[answers]))]
    return paired_change(
        right[answers] if sign is None else right[answers] * sign[answers],
        ~trials.reference[answers],
        of[answers],
        trials.cluster.codes[answers],
        level=context.level,
        resamples=context.resamples,
        seed=builder.seed(cell),
    )


def _right(trials: Trials) -> NDArray[np.float32]:
    """Return 1 where a verdict is the stated label, 0 where it is not, NaN without a verdict or a stated label."""
    truth = right_label(trials)
    return np.where((truth >= 0) & trials.usable, (trials.label == truth).astype(np.float32), np.float32(np.nan))
