"""Tell before a run which rules of its gate so many items can decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import REFERENCE
from jrh.text import count_noun
from jrh_measuring import GateRule, Look, parse_rule
from jrh_stats import threshold_items, threshold_power

from jrh_plan.estimate import Plan, PlanLine

_POWER: Final = 0.8
_STEPS: Final = 30


def rule_lines(plan: Plan) -> Iterator[str]:
    """Yield a sentence per rule about a rate: whether its items can show it, and which true rate they need.

    A rule holds if the exact lower limit of its rate reaches the threshold in the first look. Rules about parts of
    tests, and about measures that are no rates, are left out.
    """
    # Of the first look: most runs are looked at once.
    error = (1 - plan.level) / 2 * Look().share
    for rule in map(parse_rule, dict.fromkeys(plan.rules)):
        test = REFERENCE if rule.test is None and rule.measure not in plan.compared else rule.named_test
        places = [line for line in plan.lines if _about(rule, test, line)]
        share = rule.threshold if rule.operator.upwards else 1 - rule.threshold
        if rule.measure in plan.rates and places and not rule.cell and share > 0:
            # The place with the fewest clusters decides: a rule holds if it holds at all of them.
            fewest = min(places, key=lambda line: line.clusters)
            yield _sentence(rule, share, fewest, error)


def _about(rule: GateRule, test: str | None, line: PlanLine) -> bool:
    wanted = (test, line.test), (rule.judge, line.name), (rule.task, line.task)
    return line.items > 0 and all(name in (None, name_there) for name, name_there in wanted)


def _sentence(rule: GateRule, share: float, line: PlanLine, error: float) -> str:
    unit, units = ("item" if line.clusters == line.items else "cluster"), line.clusters
    where = f"'{line.test}' on '{line.task}' has {units:,}"
    if share >= 1:
        return f"Gate rule '{rule.text}' can never hold: no number of items shows that a rate is {rule.threshold:g}"
    needed = threshold_items(share, alpha=error)
    if needed > units:
        return (
            f"Gate rule '{rule.text}' cannot hold: it needs {count_noun(needed, unit)} without a single exception, "
            f"and {where}"
        )
    rate = _rate_that_holds(share, units, error)
    least = f"at least {rate:.3f}" if rule.operator.upwards else f"at most {1 - rate:.3f}"
    return f"Gate rule '{rule.text}' holds with {_POWER:.0%} power if the true rate is {least}: {where} {unit}s"


def _rate_that_holds(share: float, units: int, error: float) -> float:
    low, high = share, 1.0
    for _ in range(_STEPS):
        # The power rises with the rate, so halving finds where it reaches the target.
        middle = (low + high) / 2
        low, high = (low, middle) if threshold_power(middle, share, units, alpha=error) >= _POWER else (middle, high)
    return high
