"""Turn scores into verdicts; what is no finite number is a status."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import JrhError, Scale, ScaleKind, Status, Task, Verdict

from jrh_reward.options import Decision, Probability

_SHOWN: Final = 60
_TWO: Final = 2
_STATUSES: Final = {status.value: status for status in (Status.ABSTAINED, Status.REFUSED, Status.UNPARSABLE)}


def score_of(answer: object) -> float | Verdict:
    """Return the finite number that an answer is, or the verdict without a label that it means; never raises.

    A number of numpy or torch counts, a truth value or a number written as text does not. A mapping has `score`, or
    `status` and `detail`. None is an abstention.
    """
    if isinstance(answer, Mapping):
        status = _STATUSES.get(str(answer.get("status")))
        if status is not None:
            return Verdict(status=status, detail=str(answer.get("detail") or "returned by the judge")[:300])
        if "score" not in answer:
            return _unparsable("the answer has no `score`")
        answer = answer["score"]
    if answer is None:
        return Verdict(status=Status.ABSTAINED, detail="the judge returned nothing")
    # NumPy and torch numbers have `item`, which needs neither library to be imported.
    if not isinstance(answer, int | float) and callable(item := getattr(answer, "item", None)):
        try:
            answer = item()
        except Exception:  # an array of several numbers, or any object of the user's
            return _unparsable(f"the answer is {type(answer).__name__}, not one number")
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return _unparsable(f"the score {safe_repr(answer)[:_SHOWN]} is {type(answer).__name__}, not a number")
    try:
        number = float(answer)
    # An integer beyond the largest float.
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else _unparsable(f"the score {safe_repr(answer)[:_SHOWN]} is not finite")


@frozen(kw_only=True)
class Decider:
    """Turns the scores of a task's questions into verdicts."""

    thresholds: tuple[float, ...]
    margin: float
    probability: Probability

    @classmethod
    def of(cls, decision: Decision, task: Task, judge: str) -> Decider:
        """Check the decision against the task's scale.

        Raises:
            JrhError: scores cannot become labels of the scale, or the number of thresholds is wrong.
        """
        try:
            thresholds = _thresholds(decision, task.scale)
        except JrhError as error:
            raise JrhError(f"judge '{judge}', task '{task.name}': {error}") from None
        return cls(thresholds=thresholds, margin=decision.margin, probability=decision.probability)

    def verdict(self, scores: Sequence[float], scale: Scale) -> Verdict:
        """Return the verdict of one score, or of the scores of the options of a comparison."""
        if scale.kind is ScaleKind.PAIRWISE:
            return self._of_options(scores, scale)
        (score,) = scores
        if len(scale.labels) != len(self.thresholds) + 1:
            return Verdict(status=Status.NOT_AVAILABLE, detail="the thresholds are for a scale of another length")
        # To the right: a threshold is the lowest score of the level above it.
        place = bisect_right(self.thresholds, score)
        if scale.ordered:
            return Verdict(status=Status.OK, presented=scale.labels[place], score=score)
        positive = scale.positive_label or scale.labels[0]
        negative = next(label for label in scale.labels if label != positive)
        label = positive if place else negative
        if self.probability is Probability.NONE:
            return Verdict(status=Status.OK, presented=label, score=score)
        if self.probability is Probability.SCORE and not 0 <= score <= 1:
            return Verdict(status=Status.OFF_SCALE, detail=f"the score {score:g} is not a probability")
        share = score if self.probability is Probability.SCORE else logistic(score - self.thresholds[0])
        return _with_chances(label, score, {positive: share, negative: 1 - share})

    def _of_options(self, scores: Sequence[float], scale: Scale) -> Verdict:
        # Stable: of equal scores the earlier option comes first, which only the margin below can make a verdict of.
        ranked = sorted(range(len(scores)), key=lambda place: -scores[place])
        gap = scores[ranked[0]] - scores[ranked[1]]
        difference = scores[0] - scores[1] if len(scores) == _TWO else None
        # Two finite scores can be further apart than the largest float.
        if not math.isfinite(gap):
            return _unparsable("the scores are too far apart for a number")
        if gap <= self.margin:
            if scale.tie is None:
                return Verdict(
                    status=Status.ABSTAINED, detail="the scores are practically equal, and the scale has no tie"
                )
            return Verdict(status=Status.OK, presented=scale.tie, score=difference)
        label = scale.options[ranked[0]]
        if self.probability is Probability.NONE or difference is None:
            return Verdict(status=Status.OK, presented=label, score=difference)
        # Bradley and Terry: the chance that the first response wins is the logistic function of the difference.
        share = logistic(difference)
        return _with_chances(label, difference, dict(zip(scale.options, (share, 1 - share), strict=True)))


def logistic(number: float) -> float:
    """Return 1 / (1 + exp(-number)) without overflow."""
    # The exponential of a negative number cannot overflow.
    small = math.exp(-abs(number))
    return (1.0 if number >= 0 else small) / (1 + small)


def _with_chances(label: str, score: float, chances: Mapping[str, float]) -> Verdict:
    return Verdict(status=Status.OK, presented=label, score=score, probabilities=dict(chances))


def _thresholds(decision: Decision, scale: Scale) -> tuple[float, ...]:
    thresholds = decision.thresholds
    if scale.kind is ScaleKind.PAIRWISE:
        if thresholds:
            raise JrhError("`thresholds` are not for comparisons; use `margin`")
        if decision.probability is Probability.SCORE:
            raise JrhError("`probability: score` is not for comparisons; use `logistic`")
        if decision.probability is Probability.LOGISTIC and (scale.tie or decision.margin or len(scale.options) > _TWO):
            raise JrhError(
                "`probability: logistic` needs a comparison of two options without a tie and without a margin"
            )
        return ()
    if decision.margin:
        raise JrhError("`margin` is for comparisons only; use `thresholds`")
    if not scale.ordered and len(scale.labels) > _TWO:
        raise JrhError(f"scores have an order, but the {len(scale.labels)} labels of the scale do not")
    if scale.ordered and decision.probability is not Probability.NONE:
        raise JrhError("`probability` is for two labels, not for levels")
    if thresholds and len(thresholds) != len(scale.labels) - 1:
        needed = len(scale.labels) - 1
        raise JrhError(f"a scale of {needed + 1} labels needs {needed} `thresholds`, got {len(thresholds)}")
    return thresholds or _usual(scale, decision.probability)


def _usual(scale: Scale, probability: Probability) -> tuple[float, ...]:
    if not scale.ordered:
        return (0.5 if probability is Probability.SCORE else 0.0,)
    try:
        levels = [float(label) for label in scale.labels]
    except ValueError:
        raise JrhError(f"needs {len(scale.labels) - 1} `thresholds`: the levels are not numbers") from None
    return tuple((one + other) / 2 for one, other in itertools.pairwise(levels))


def safe_repr(value: object) -> str:
    """Return what an answer looks like; never raises, as `repr` does of a number with thousands of digits."""
    try:
        return repr(value)
    except Exception:  # an object of the user's
        return f"<{type(value).__name__}>"


def _unparsable(detail: str) -> Verdict:
    return Verdict(status=Status.UNPARSABLE, detail=detail)
