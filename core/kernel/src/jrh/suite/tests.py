"""The `tests` of a suite: one perturber, a chain of several, or several factors crossed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, Final

import attrs

from jrh.document import option_types
from jrh.document.positions import Location, unknown_key
from jrh.suite.definition import TestUse, Use
from jrh.suite.parse_entry import EntryReader
from jrh.suite.syntax import CHAIN, CROSS, MOST_FACTORS, TEST, VALIDATOR, TestSettings

_FEWEST: Final = 2
_OF_THE_WHOLE: Final = ("repeats", "sample")
"""Settings that a step of a chain cannot have of its own."""


class TestReader(EntryReader):
    """Reads the entries of `tests`."""

    __test__ = False

    def tests(self, value: Mapping[str, Any]) -> tuple[TestUse, ...]:
        """Read all tests; a crossing becomes a test for every combination of its factors."""
        return tuple(chain.from_iterable(self.entries(value, "tests", self._written)))

    def _written(self, value: Any, at: Location) -> Sequence[TestUse]:
        if isinstance(value, Mapping) and CROSS in value:
            return self._crossing(value, at)
        test = self._chain_or_step(value, at)
        return () if test is None else (test,)

    def _chain_or_step(self, value: Any, at: Location) -> TestUse | None:
        if isinstance(value, list | tuple):
            return self._chain({CHAIN: value}, at, steps_at=at)
        if isinstance(value, Mapping) and CHAIN in value:
            return self._chain(value, at, steps_at=(*at, CHAIN))
        return self._perturber(value, at)

    def _perturber(self, value: Any, at: Location) -> TestUse | None:
        written = self.entry(value, at, TEST)
        if written is None:
            return None
        return TestUse(**written.common(), **self._common(written.settings, written.location))

    def _common(self, settings: TestSettings, at: Location) -> dict[str, Any]:
        validators = self.entries({"validate": settings.validate}, "validate", self._validator, at)
        return {
            "validate": tuple(use for use in validators if use is not None),
            "on_mismatch": settings.on_mismatch,
            "repeats": settings.repeats,
            "sample": settings.sample,
        }

    def _validator(self, value: Any, at: Location) -> Use | None:
        written = self.entry(value, at, VALIDATOR)
        return None if written is None else Use(**written.common())

    def _chain(self, value: Mapping[str, Any], at: Location, *, steps_at: Location) -> TestUse | None:
        settings = self._settings_beside(value, CHAIN, at)
        steps = self._steps(value[CHAIN], steps_at)
        return None if steps is None else self._whole(steps, settings.name or joined(steps), settings, at)

    def _whole(self, steps: Sequence[TestUse], name: str, settings: TestSettings, at: Location) -> TestUse:
        """Make one test of steps; of a single step with settings of its own as well."""
        return TestUse(
            name=name,
            component="+".join(step.component for step in steps),
            location=at,
            steps=tuple(steps),
            **self._common(settings, at),
        )

    def _steps(self, value: Any, at: Location) -> list[TestUse] | None:
        if not isinstance(value, list | tuple) or len(value) < _FEWEST:
            self.report(at, "a chain is a list of at least two perturbers, such as [paraphrase, format]")
            return None
        steps = [self._step(entry, (*at, position)) for position, entry in enumerate(value)]
        return None if None in steps else [step for step in steps if step is not None]

    def _step(self, value: Any, at: Location) -> TestUse | None:
        step = self._perturber(value, at)
        for name in _OF_THE_WHOLE:
            if step is not None and getattr(step, name) is not None:
                self.report(step.location, f"`{name}` belongs to the whole chain or crossing, not to one of its steps")
        return step

    def _crossing(self, value: Mapping[str, Any], at: Location) -> Sequence[TestUse]:
        settings = self._settings_beside(value, CROSS, at)
        written = value[CROSS]
        if not isinstance(written, list | tuple) or not _FEWEST <= len(written) <= MOST_FACTORS:
            self.report(
                (*at, CROSS),
                f"a crossing is a list of two to {MOST_FACTORS} factors, such as [paraphrase, format], "
                f"got {option_types.described(written) if not isinstance(written, list | tuple) else len(written)}",
            )
            return ()
        factors = [self._factor(entry, (*at, CROSS, position)) for position, entry in enumerate(written)]
        if None in factors:
            return ()
        prefix = settings.name or "crossed"
        subsets = [
            tuple(chain.from_iterable(factor for factor in subset if factor))
            for size in range(1, len(factors) + 1)
            for subset in combinations(factors, size)
        ]
        return [self._whole(steps, f"{prefix}.{joined(steps)}", settings, at) for steps in subsets]

    def _factor(self, value: Any, at: Location) -> tuple[TestUse, ...] | None:
        """Read one factor: a perturber, or a chain that counts as one."""
        if isinstance(value, list | tuple):
            steps = self._steps(value, at)
            return None if steps is None else tuple(steps)
        step = self._step(value, at)
        return None if step is None else (step,)

    def _settings_beside(self, value: Mapping[str, Any], key: str, at: Location) -> TestSettings:
        names = [attribute.name for attribute in attrs.fields(TestSettings)]
        for other in value:
            if other not in (key, *names):
                self.report((*at, other), unknown_key(other, [key, *names]))
        given = {name: value[name] for name in names if name in value}
        return self.read(given, TestSettings, at, TestSettings())


def joined(steps: Iterable[TestUse]) -> str:
    """Name a chain after its steps."""
    return "+".join(step.name for step in steps)
