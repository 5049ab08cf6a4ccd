"""The type of command-line options that take a number."""

from __future__ import annotations

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A number within limits that is neither infinite nor `nan`.

    `click.FloatRange` accepts `nan`: it is not below the least number and not above the largest. A threshold that is
    `nan` then holds for everything.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; refuse what is no finite number within the limits."""
        number = float(click.FLOAT.convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return float(super().convert(number, param, ctx))

    def _describe_range(self) -> str:
        """Return the limits for the help; click writes `x<=None` where there are none."""
        return "" if self.min is None and self.max is None else super()._describe_range()
