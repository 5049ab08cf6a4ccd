"""What a run may cost, in words, and whether somebody has to agree to it first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from jrh.errors import CostNotAgreedError, JrhError
from jrh.text import counted, format_dollars

if TYPE_CHECKING:
    from jrh.running.call_meter import Amount
    from jrh.running.cost_estimate import Plan

MANY_CALLS: Final = 10_000
"""Above this many calls of unknown price, a run asks for confirmation."""


def number_range(low: str, high: str) -> str:
    """Write a range; one number if both ends are equal."""
    return high if low == high else f"{low} to {high}"


def cost_range(amount: Amount) -> str:
    """Write a range of costs; calls of unknown price are never free."""
    if amount.unpriced and amount.unpriced == amount.high:
        return "unknown"
    known = number_range(format_dollars(amount.cost_low), format_dollars(amount.cost_high))
    return f"{known} + up to {counted(amount.unpriced, 'call')} of unknown price" if amount.unpriced else known


def cost_question(plan: Plan, above: float, unpriced: int = MANY_CALLS) -> str:
    """Return what a run may cost if that is more than `above` dollars, or more than so many calls of unknown price.

    The upper end of the plan counts. Empty where nobody has to be asked.
    """
    total = plan.total
    if total.cost_high <= above and total.unpriced <= unpriced:
        return ""
    return f"up to {counted(total.high, 'model call')}, cost {cost_range(total)}"


def check_agreed(plan: Plan, confirm: float | Callable[[str], bool]) -> None:
    """Refuse a run that may cost more than was agreed to.

    Args:
        plan: of the run.
        confirm: dollars that the run may cost, or a function that is given what the run may cost if it makes any model
            call, and agrees to it.

    Raises:
        CostNotAgreedError: it may cost more, or was not agreed to.
    """
    if callable(confirm):
        what = cost_question(plan, -1.0) if plan.total.high else ""
        if what and not confirm(what):
            raise CostNotAgreedError(what, "not confirmed, so nothing was spent")
        return
    if isinstance(confirm, bool) or not isinstance(confirm, int | float) or not confirm >= 0:
        raise JrhError(f"confirm: expected an amount of dollars or a function, got {confirm!r}")
    # A call of unknown price may cost anything: no amount of dollars agrees to it.
    if what := cost_question(plan, confirm, 0):
        advice = "pass a larger `confirm`, a function that agrees, or `confirm=None` not to ask"
        raise CostNotAgreedError(what, advice)
