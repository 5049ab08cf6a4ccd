"""Raise the temperature of attempts when the level is missed."""

from __future__ import annotations

from typing import Final

from attrs import evolve, frozen
from jrh import JrhError

USUAL: Final = 0.7
_DIGITS: Final = 6
"""Rounding: 0.7 + 0.2 + 0.2 must be 1.1, not 1.0999999999999999."""
_MOST: Final = 200
"""Maximum number of steps; more indicate a mistake in the options."""


@frozen(kw_only=True)
class Ramp:
    """Which temperature comes after how many misses, and when to stop."""

    temperatures: tuple[float, ...]
    """From the first to the last, each used `attempts` times."""
    attempts: int
    told: bool = True
    """Whether the model is told the temperature; attempts differ by seeds, examples and wording anyway."""

    @classmethod
    def of(cls, initial: float | None, step: float, highest: float, attempts: int) -> Ramp:
        """Build the ramp from `initial` in steps of `step` up to and including `highest`; a step of 0 stays constant.

        Without `initial` there are as many attempts as from 0.7, at the model's own temperature.

        Raises:
            JrhError: The highest temperature is below the first, or the step is too small.
        """
        if initial is None:
            return evolve(cls.of(min(USUAL, highest), step, highest, attempts), told=False)
        if highest < initial:
            raise JrhError(
                f"synthetic-ordinal: `max_temperature` {highest} is below `initial_temperature` {initial}; raise it"
            )
        temperatures = [initial]
        while step > 0 and temperatures[-1] < highest:
            temperatures.append(min(highest, round(initial + len(temperatures) * step, _DIGITS)))
            if len(temperatures) > _MOST:
                raise JrhError(
                    f"synthetic-ordinal: `temperature_step` {step} needs more than {_MOST} steps; increase it"
                )
        return cls(temperatures=tuple(temperatures), attempts=attempts)

    @property
    def longest(self) -> int:
        """Return the number of attempts after which a level is given up."""
        return len(self.temperatures) * self.attempts

    def temperature(self, misses: int) -> float | None:
        """Return the temperature after `misses` misses, or None to give up."""
        step = misses // self.attempts
        return self.temperatures[step] if step < len(self.temperatures) else None
