"""List the cases whose verdict changed between two sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from jrh_measuring.comparing.matching import Matched
from jrh_measuring.comparing.results import Direction, Flip
from jrh_measuring.comparing.scoring import AGREEMENT, ERROR, EXPECTED, GOLD, Case


def flips(matched: Matched, most: int) -> tuple[tuple[Flip, ...], Mapping[str, int]]:
    """Return the cases whose verdicts differ in some repeat, and their counts by direction.

    A case that both sides answered in a repeat, differently, counts. It is scored by what is expected of it.

    Args:
        matched: the cases.
        most: how many to return; all are counted.
    """
    changed = [
        _flip(case, other)
        for case, other in matched
        if any(before != after for before, after in case.label_pairs(other))
    ]
    order = list(Direction)
    changed.sort(
        key=lambda flip: (order.index(flip.direction), _size(flip), flip.task, flip.test, flip.item, flip.variant)
    )
    counts = Counter(flip.direction.value for flip in changed)
    return tuple(changed[:most]), {direction.value: counts[direction.value] for direction in Direction}


def _size(flip: Flip) -> float:
    if flip.score_before is None or flip.score_after is None:
        return 0.0
    return -abs(flip.score_after - flip.score_before)


def _flip(case: Case, other: Case) -> Flip:
    before, after, gain = _scores(case, other)
    return Flip(
        case_first=case.id,
        case_second=other.id,
        item=case.item,
        task=case.task,
        test=case.test,
        variant=case.variant,
        template=case.template,
        option_order=case.option_order,
        expected=case.expected,
        gold=case.gold or "",
        before=_answers(case),
        after=_answers(other),
        score_before=before,
        score_after=after,
        direction=Direction.BETTER if gain > 0 else Direction.WORSE if gain < 0 else Direction.SIDEWAYS,
    )


def _scores(case: Case, other: Case) -> tuple[float | None, float | None, float]:
    """Return both scores on the first shared measure and the gain; 0 if neither is better."""
    for measure in (ERROR, GOLD, EXPECTED, AGREEMENT):
        before, after = case.score(measure), other.score(measure)
        if before is not None and after is not None:
            gain = before - after if measure == ERROR else after - before
            # Rounded: means of repeats that are equal must not differ in the last digit.
            return before, after, round(gain, 12)
    return None, None, 0.0


def _answers(case: Case) -> tuple[str, ...]:
    return tuple(trial.status if trial.label is None else trial.label for trial in case.trials)
