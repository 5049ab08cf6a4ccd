"""Look up what a model costs in litellm's price list."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from jrh.plugins import Rates


def rates_of(model: str, price_list: Mapping[str, Mapping[str, Any]]) -> Rates | None:
    """Return the prices of `provider/name`, or None if the list has none per token.

    Discounts (cached tokens, batches) and surcharges for very long prompts are left out.
    """
    entry = _entry(model, price_list)
    prices = _price(entry.get("input_cost_per_token")), _price(entry.get("output_cost_per_token"))
    if prices[0] is None or prices[1] is None:
        return None
    limit = entry.get("max_output_tokens")
    return Rates(
        input=prices[0],
        output=prices[1],
        max_output_tokens=limit if isinstance(limit, int) and limit > 0 else None,
    )


def _entry(model: str, price_list: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    provider, _, name = model.partition("/")
    if model in price_list:
        return price_list[model]
    # Most entries omit the provider's name; another provider's model of the same name may cost something else.
    entry = price_list.get(name, {})
    return entry if entry.get("litellm_provider") == provider else {}


def _price(value: object) -> float | None:
    if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
        return float(value)
    return None
