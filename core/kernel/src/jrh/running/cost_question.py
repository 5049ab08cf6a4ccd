"""What a run may cost, in words, and whether somebody has to agree to it first. A plugin makes the estimate."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, Protocol

from attrs import frozen

from jrh.errors import CostNotAgreedError, JrhError
from jrh.plugins.entry_points import ESTIMATORS
from jrh.text import count_noun, format_dollars

if TYPE_CHECKING:
    from jrh.running.dry_run import DryRun
    from jrh.running.outcome import RunRequest

MANY_CALLS: Final = 10_000
"""Above this many calls of unknown price, a run asks for confirmation."""


@frozen(kw_only=True)
class CostEstimate:
    """Model calls of a run, at most, and what they cost."""

    high: int = 0
    cost_low: float = 0.0
    """US dollars of the calls of known price."""
    cost_high: float = 0.0
    worst: float = 0.0
    """US dollars that the budget would set aside for the calls, one by one: more than any of them will cost."""
    unpriced: int = 0
    """Calls of unknown price, at most."""


class CostEstimator(Protocol):
    """What a plugin provides that estimates costs; the entry point of the group `jrh.estimators` names a class."""

    def estimate(self, request: RunRequest) -> CostEstimate:
        """Return what a run would cost; no model is asked, nothing is written, no key is needed.

        Raises:
            JrhError: as a run would: the data, a component or the run directory cannot be used.
        """

    async def models_to_call(self, dry: DryRun) -> Collection[str]:
        """Return the suite's names of the models that a run would call, from a few of its questions.

        Raises:
            SuiteError: a budget in dollars cannot be held, as a model's replies have no limit.
        """


def find_estimator() -> CostEstimator | None:
    """Return the installed estimator of costs; None where none is installed, or it cannot be loaded."""
    # In a fixed order: which estimator counts must not depend on what was installed last.
    for point in sorted(entry_points(group=ESTIMATORS), key=lambda point: point.name):
        with suppress(Exception):  # a broken plugin must not stop a run
            estimator: CostEstimator = point.load()()
            return estimator
    return None


def estimate_cost(request: RunRequest) -> CostEstimate | None:
    """Return what a run would cost; None if nothing that is installed estimates it.

    Raises:
        JrhError: as the run would.
    """
    estimator = find_estimator()
    if estimator is None:
        # Without models nothing can cost anything, whether it is estimated or not.
        return None if request.resolved.models else CostEstimate()
    return estimator.estimate(request)


def number_range(low: str, high: str) -> str:
    """Write a range; one number if both ends are equal."""
    return high if low == high else f"{low} to {high}"


def cost_range(amount: CostEstimate) -> str:
    """Write a range of costs; calls of unknown price are never free."""
    if amount.unpriced and amount.unpriced == amount.high:
        return "unknown"
    known = number_range(format_dollars(amount.cost_low), format_dollars(amount.cost_high))
    return f"{known} + up to {count_noun(amount.unpriced, 'call')} of unknown price" if amount.unpriced else known


def cost_question(total: CostEstimate | None, above: float, unpriced: int = MANY_CALLS) -> str:
    """Return what a run may cost if that is more than `above` dollars, or more than so many calls of unknown price.

    The upper end of the estimate counts; without one the cost is unknown. Empty where no confirmation is needed.
    """
    if total is None:
        return "model calls, cost unknown: nothing is installed that estimates it"
    if total.cost_high <= above and total.unpriced <= unpriced:
        return ""
    return f"up to {count_noun(total.high, 'model call')}, cost {cost_range(total)}"


def check_agreed(total: CostEstimate | None, confirm: float | Callable[[str], bool]) -> None:
    """Refuse a run that may cost more than was agreed to.

    Args:
        total: estimate for the run; None if there is none.
        confirm: dollars that the run may cost, or a function that is given what the run may cost if it makes any model
            call, and agrees to it.

    Raises:
        CostNotAgreedError: it may cost more, or was not agreed to.
    """
    if callable(confirm):
        what = cost_question(total, -1.0) if total is None or total.high else ""
        if what and not confirm(what):
            raise CostNotAgreedError(what, "not confirmed, so nothing was spent")
        return
    # `True` is an int, and would agree to a dollar.
    if isinstance(confirm, bool) or not isinstance(confirm, int | float) or not confirm >= 0:
        raise JrhError(f"confirm: expected an amount of dollars or a function, got {confirm!r}")
    # A call of unknown price may cost anything: no amount of dollars agrees to it.
    if what := cost_question(total, confirm, 0):
        advice = "pass a larger `confirm`, a function that agrees, or `confirm=None` not to ask"
        raise CostNotAgreedError(what, advice)
