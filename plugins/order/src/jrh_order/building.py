"""Build the perturbers from their options and their task."""

from __future__ import annotations

from jrh import BuildContext

from jrh_order.options import IdenticalOptions, OrderOptions
from jrh_order.perturbers import IdenticalPerturber, OrderPerturber


def option_order(options: OrderOptions, context: BuildContext) -> OrderPerturber:
    """Build the perturber `option-order`."""
    return OrderPerturber(options=options, task=context.task, seed=context.seed)


def identical_options(options: IdenticalOptions, context: BuildContext) -> IdenticalPerturber:
    """Build the perturber `identical-options`."""
    return IdenticalPerturber(options=options, task=context.task)
