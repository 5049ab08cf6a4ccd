"""Which hypotheses the claims about a judge test: every claim of a difference has one, with its p-value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import atanh, log
from typing import Final

import numpy as np
from attrs import evolve
from jrh.text.numbers import is_proportion
from jrh.values.cases import REFERENCE, Polarity
from jrh.values.measures import Measure
from jrh_stats import interval_p

from jrh_measuring.findings.claims import Situation, margin_of, units
from jrh_measuring.findings.page_family import Hypothesis

EXCESS: Final = "excess-disagreement"
EVEN: Final = 0.5
MISREAD: Final = 0.06
"""The rules that read rationales misread about one in seventeen."""
MISSING_BY: Final[Mapping[str, str]] = {
    "missing-by-condition-p": "Missing verdicts depend on the condition",
    "missing-by-label-p": "Missing verdicts depend on the gold label",
    "missing-by-error-p": "Missing verdicts depend on the judge being wrong",
    "missing-by-confidence-p": "Missing verdicts depend on the probability that the judge states",
}
"""p-values about missing verdicts, and what a small one says."""
_TWO: Final = 2
_NEARLY_ONE: Final = 1 - 1e-9
_SCALES: Final[Mapping[str, Callable[[float], float]]] = {
    "spearman": lambda value: atanh(min(max(value, -_NEARLY_ONE), _NEARLY_ONE)),
    "scale-compression": lambda value: log(max(value, 1e-9)),
}
"""On these scales the sampling distribution is closer to normal: Fisher's z, and the logarithm of a ratio."""
_NEUTRAL: Final[tuple[tuple[str, float], ...]] = (
    ("overconfidence", 0.0),
    ("scale-compression", 1.0),
    ("bias", 0.0),
    ("spearman", 0.0),
)
"""Measures of the reference condition, and what they are without a defect."""


_BY_CHANGE: Final = 0.9
"""Share of a chain's level at which the excess opens it; the rest goes to the change of accuracy, which implies one."""
_WEIGHTS: Final[Mapping[str, float]] = {
    "accuracy-equivalence": 0.05,
    "gain-over-commonest": 0.25,
    "people-kappa-difference": 0.25,
    "rerun-disagreement": 0.25,
}
"""What a claim weighs beside one that a test changes verdicts: less where many ask for level and few need it."""
_ASIDE: Final = 0.05
"""The weight of what is asked of every test beside whether its verdicts change: noise of reruns, or without any."""


def chains_of(now: Situation) -> Iterator[Sequence[Hypothesis]]:
    """Yield the hypotheses about a judge, those of one chain in the order in which they are tested.

    Which hypotheses there are depends on the design alone, never on the estimates.
    """
    yield from changes(now)
    for each in (*_of_reference(now), *_of_options(now), *_of_tests(now), *_of_p_values(now)):
        if each is not None:
            yield (each,)


def changes(now: Situation) -> Iterator[Sequence[Hypothesis]]:
    """Yield a chain per test: verdicts change; then accuracy changes; then by more than the margin.

    In this order each null hypothesis implies the next: verdicts that never change are as accurate as before. So a
    change of accuracy shows that verdicts change, and a chain opens if either is shown.
    """
    places: dict[tuple[str, str], list[Hypothesis | None]] = {}
    excess = [hypothesis_of(now, each, above=True) for each in now.steady(EXCESS)]
    change = [hypothesis_of(now, each) for each in now.measures("accuracy-change")]
    beyond = [_beyond(now, each) for each in now.measures("accuracy-equivalence")]
    for each in (*excess, *change, *beyond):
        if each is not None:
            places.setdefault((each.measure.task, each.measure.test), []).append(each)
    yield from (_opened([each for each in chain if each is not None]) for chain in places.values())


def _opened(chain: list[Hypothesis]) -> list[Hypothesis]:
    """Test the first hypothesis of a chain by the smaller of two weighted p-values (Bonferroni)."""
    names = [each.measure.name for each in chain]
    if names[:2] != [EXCESS, "accuracy-change"]:
        return chain
    moves, change = chain[:2]
    p, least = (
        min(1.0, first / _BY_CHANGE, second / (1 - _BY_CHANGE))
        for first, second in ((moves.p, change.p), (moves.least, change.least))
    )
    return [evolve(moves, tested=(p, least)), *chain[1:]]


def _beyond(now: Situation, measure: Measure) -> Hypothesis | None:
    """Test the margin on the side of the estimate: at most one of the two one-sided hypotheses is false."""
    end = beyond_margin(now, measure)
    found = hypothesis_of(now, measure, end, above=end > 0, below=end < 0)
    return None if found is None else evolve(found, p=found.p if found.p == 1.0 else found.p / 2)


def equivalences(now: Situation) -> Iterator[Hypothesis]:
    """Yield the hypotheses that accuracy and verdicts change by the margin or more, and those of the human ceiling."""
    for each in (*now.measures("accuracy-equivalence"), *now.steady("excess-equivalence")):
        margin = margin_of(each, now.settings.margin)
        own = now.whole(f"{each.name}-p", each.task, each.test)
        p = own.estimate if own is not None else _margin_p(each, margin)
        if p is not None:
            yield Hypothesis(measure=each, null=margin, p=p)
    yield from _as_well(now)


def _as_well(now: Situation) -> Iterator[Hypothesis]:
    """Yield the hypotheses that judges agree with people by the margin or more less than people with each other."""
    for each in now.measures("people-kappa-difference"):
        margin = margin_of(each, now.settings.margin)
        p = _read_off(each, -margin)
        if p is not None and each.estimate is not None:
            yield Hypothesis(measure=each, null=margin, p=p / 2 if each.estimate > -margin else 1.0)


def _margin_p(measure: Measure, margin: float) -> float | None:
    """Read the larger of two one-sided p-values off an interval."""
    if measure.estimate is None or abs(measure.estimate) >= margin:
        return None if measure.estimate is None else 1.0
    found = [_read_off(measure, end) for end in (-margin, margin)]
    return max((p / 2 for p in found if p is not None), default=None)


def beyond_margin(now: Situation, measure: Measure) -> float:
    """Return the end of the margin that is on the side of an estimate."""
    margin = margin_of(measure, now.settings.margin)
    return margin if (measure.estimate or 0.0) > 0 else -margin


def _of_reference(now: Situation) -> Iterator[Hypothesis | None]:
    for each in now.measures("gain-over-commonest"):
        if "degenerate" not in each.flags:
            yield hypothesis_of(now, each)
    for each in now.measures("people-kappa-difference"):
        yield hypothesis_of(now, each, below=True)
    for name, null in _NEUTRAL:
        for each in now.measures(name):
            if each.test == REFERENCE:
                yield hypothesis_of(now, each, null)


def _of_options(now: Situation) -> Iterator[Hypothesis | None]:
    for each in now.measures("position-bias"):
        yield hypothesis_of(now, each)
    for name in ("identical-first-position-rate", "identical-second-position-rate"):
        for each in now.measures(name):
            yield hypothesis_of(now, each, EVEN, above=True)
    for name, kind in (("swap-consistency", "order-flips"), ("jss", "template-flips")):
        for each in now.measures(name):
            if not reruns_tell(now, each):
                yield hypothesis_of(now, each, 1 - now.settings.floor_of(kind), below=True)


def _of_tests(now: Situation) -> Iterator[Hypothesis | None]:
    for each in now.measures("flip-rate"):
        if inverted(now, each):
            yield hypothesis_of(now, each, EVEN, above=True)
        elif unmeasured(now, each):
            yield _aside(hypothesis_of(now, each, most_noise(now, each), above=True))
    for each in now.measures("as-expected"):
        if each.test in now.moving.get(each.task, ()):
            yield hypothesis_of(now, each, least_expected(now, each), below=True)
    for each in now.measures("rerun-disagreement"):
        found = hypothesis_of(now, each, now.settings.floor_of("unstable-on-reruns"), above=True)
        yield found if each.test == REFERENCE else _aside(found)
    for each in now.measures("rationale-contradiction"):
        yield hypothesis_of(now, each, MISREAD, above=True)


def _of_p_values(now: Situation) -> Iterator[Hypothesis]:
    """Yield the hypotheses of which only the p-value is a measure: missing verdicts, and covariates by name."""
    covariates = (*now.parts("covariate-effect-p"), *now.parts("peer-covariate-effect-p"))
    for each in (*(found for name in MISSING_BY for found in now.measures(name)), *covariates):
        if each.estimate is not None:
            yield Hypothesis(measure=each, null=0.0, p=each.estimate)


def hypothesis_of(
    now: Situation, measure: Measure, null: float = 0.0, *, above: bool = False, below: bool = False
) -> Hypothesis | None:
    """Return the hypothesis that a quantity has a null value; None where nothing tests it.

    The p-value of `x` is the measure `x-p`, where the null value is 0; elsewhere it is read off the interval
    (`jrh_stats.interval_p`), so that interval and p-value are one decision.

    Args:
        now: the judge.
        measure: of the quantity.
        null: the value without a defect.
        above: only larger values are claimed.
        below: only smaller values are.
    """
    own = None if null else now.whole(f"{measure.name}-p", measure.task, measure.test)
    p = own.estimate if own is not None else _read_off(measure, null)
    if p is None:
        return None
    value = measure.estimate or 0.0
    if (above and value <= null) or (below and value >= null):
        p = 1.0
    least = None if own is None else now.whole(f"{measure.name}-p-least", measure.task, measure.test)
    return Hypothesis(
        measure=measure,
        null=null,
        p=p,
        least=0.0 if least is None or least.estimate is None else min(least.estimate, p),
        weight=_WEIGHTS.get(measure.name, 1.0),
    )


def _aside(found: Hypothesis | None) -> Hypothesis | None:
    return None if found is None else evolve(found, weight=_ASIDE)


def _read_off(measure: Measure, null: float) -> float | None:
    found = measure.interval
    if found is None or measure.estimate is None:
        return None
    scale = _SCALES.get(measure.name, float)
    value = scale(measure.estimate)
    proportion = is_proportion(measure) and measure.name not in _SCALES
    return interval_p(
        value,
        min(scale(found.low), value),
        max(scale(found.high), value),
        scale(null),
        level=found.level,
        degrees=None if proportion or units(measure) < _TWO else units(measure) - 1,
        proportion=proportion,
    )


def reruns_tell(now: Situation, measure: Measure) -> bool:
    """Tell whether reruns tell a change from noise in a test."""
    excess = now.whole(EXCESS, measure.task, measure.test)
    return excess is not None and excess.estimate is not None


def unmeasured(now: Situation, measure: Measure) -> bool:
    """Tell whether nothing tells a change from noise in a test whose verdicts are to stay the same."""
    return measure.test not in now.moving.get(measure.task, ()) and not reruns_tell(now, measure)


def least_expected(now: Situation, measure: Measure) -> float:
    """Return the share of verdicts as expected that a test whose verdicts may change asks for at least.

    Where a test only rules out a direction, half of what reruns disagree about moves that way without any cause.
    """
    least = 1 - now.settings.floor_of("misses-changes")
    if measure.test not in now.directed.get(measure.task, ()):
        return least
    reruns = now.whole("rerun-disagreement", measure.task)
    if reruns is None or reruns.estimate is None:
        return max(0.0, least - most_noise(now, measure) / _TWO)
    high = reruns.estimate if reruns.interval is None else reruns.interval.high
    return max(0.0, least - high / _TWO)


def most_noise(now: Situation, measure: Measure) -> float:
    """Return how often two answers from one distribution over the k labels of a task differ at most: 1 - 1/k."""
    labels = next((len(each.task.scale.labels) for each in now.report.tasks if each.task.name == measure.task), 1)
    return 1 - 1 / max(labels, 1)


def inverted(now: Situation, measure: Measure) -> bool:
    """Tell whether a test of a task with two labels asks all its questions inverted, the reference condition none."""
    if not any(each.task.name == measure.task and len(each.task.scale.labels) == _TWO for each in now.report.tasks):
        return False
    records = now.report.records
    if not {"task", "test", "judge", "polarity"} <= set(records.columns):
        return False
    own = records.equals("task", measure.task) & records.equals("judge", now.judge)
    turned, reference = records.equals("polarity", Polarity.INVERTED.value), records.equals("test", REFERENCE)
    test = own & records.equals("test", measure.test)
    # Positive rows of a test ask the reference question again: they are no part of its measures.
    usual = own & (reference | (test & ~turned))
    return bool(np.any(test & turned) and np.any(usual) and not np.any(own & reference & turned))
