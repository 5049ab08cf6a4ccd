"""Findings of a gate that are made up."""

from collections.abc import Sequence
from typing import Any

from jrh import Interval, Measure
from jrh_measuring import GateRule, parse_rule
from jrh_measuring.gating.checking import Answered, Checked, Terms
from jrh_measuring.gating.deciding import Decision, decide
from jrh_measuring.gating.rule_limits import Limits
from jrh_testing import flags_by_name

FLAGS = flags_by_name()


def measured(low: float, high: float, **fields: Any) -> Measure:
    """Make a measure with an interval and the estimate in its middle."""
    whole = {
        "name": "as-expected",
        "judge": "mini",
        "task": "trial",
        "test": "format",
        "estimate": (low + high) / 2,
        "interval": Interval(low=low, high=high, method="wilson"),
        "n_trials": 20,
        "n_items": 20,
        **fields,
    }
    return Measure(**whole)


def alone(measure: Measure) -> Limits:
    """Return the limits of a rule with one place whose measure has one-sided limits already."""
    level = measure.interval.level if measure.interval else 0.95
    return Limits(hold=measure, fail=measure, hold_error=(1 - level) / 2, fail_error=(1 - level) / 2)


def of(rule: GateRule, measure: Measure) -> Decision:
    """Decide a rule by the ends of a measure's interval."""
    return decide(rule, measure, alone(measure), FLAGS)


def found(names: Sequence[str], rules: Sequence[str] = ("as-expected >= 0.9",), **fields: Any) -> Checked:
    """Make the findings of a gate about judges of these names, which also name the suite, the task and the test."""
    parsed = tuple(parse_rule(rule) for rule in rules)
    intervals = [(0.5, 0.6), (0.85, 0.95), (0.95, 0.99)]
    decisions = tuple(
        of(rule, measured(*intervals[place % 3], judge=name, test=name, task=name, note=name))
        for place, name in enumerate(names)
        for rule in parsed
    )
    answered = tuple(
        Answered(judge=name, task=name, test=name, trials=20, missing={"refused": 1} if place % 2 else {})
        for place, name in enumerate(names)
    )
    whole: dict[str, Any] = {
        "suite": names[0] if names else "trial",
        "run_id": "0" * 32,
        "level": 0.95,
        "judges": tuple(names),
        "simulated": frozenset(names[::2]),
        "terms": Terms(rules=parsed),
        "unfinished": "",
        "ended": 0,
        "answered": answered,
        "decisions": decisions,
        **fields,
    }
    return Checked(**whole)
