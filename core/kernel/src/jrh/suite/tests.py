"""The `tests` of a suite: one perturber, a chain of several, or several factors crossed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, Final

from jrh.document import option_types
from jrh.document.nodes import Node
from jrh.plugins.registry import Plugins
from jrh.suite.definition import TestUse
from jrh.suite.parse_entry import read_entry, read_use
from jrh.suite.syntax import CHAIN, CROSS, MOST_FACTORS, TEST, VALIDATOR, TestSettings

_FEWEST: Final = 2
_OF_THE_WHOLE: Final = ("repeats", "sample", "ids")
"""Settings that a step of a chain cannot have of its own."""


def read_tests(suite: Node, plugins: Plugins) -> tuple[TestUse, ...]:
    """Read all tests; a crossing becomes a test for every combination of its factors."""
    return tuple(chain.from_iterable(read_test(entry, plugins) for entry in suite.entries("tests")))


def read_test(node: Node, plugins: Plugins) -> Sequence[TestUse]:
    """Read one entry of `tests`, in whichever form it is written."""
    value = node.value
    if isinstance(value, Mapping) and CROSS in value:
        return _crossing(node, plugins)
    if isinstance(value, list | tuple):
        test = _chain(node.holding({CHAIN: value}), node, plugins)
    elif isinstance(value, Mapping) and CHAIN in value:
        test = _chain(node, node[CHAIN], plugins)
    else:
        test = _perturber(node, plugins)
    return () if test is None else (test,)


def joined(steps: Iterable[TestUse]) -> str:
    """Name a chain after its steps."""
    return "+".join(step.name for step in steps)


def _perturber(node: Node, plugins: Plugins) -> TestUse | None:
    written = read_entry(node, TEST, plugins)
    if written is None:
        return None
    return TestUse(**written.common(), **_common(written.settings, written.place, plugins))


def _common(settings: TestSettings, node: Node, plugins: Plugins) -> dict[str, Any]:
    validators = node.holding({"validate": settings.validate}).entries("validate")
    uses = [read_use(validator, VALIDATOR, plugins) for validator in validators]
    return {
        "validate": tuple(use for use in uses if use is not None),
        "on_mismatch": settings.on_mismatch,
        "repeats": settings.repeats,
        "sample": settings.sample,
        "ids": tuple(str(identity) for identity in settings.ids),
        "allow_empty": settings.allow_empty,
    }


def _chain(node: Node, written: Node, plugins: Plugins) -> TestUse | None:
    settings = _settings_beside(CHAIN, node)
    steps = _steps(written, plugins)
    return None if steps is None else _whole(steps, settings.name or joined(steps), settings, node, plugins)


def _whole(steps: Sequence[TestUse], name: str, settings: TestSettings, node: Node, plugins: Plugins) -> TestUse:
    """Make one test of steps; of a single step with settings of its own as well."""
    return TestUse(
        name=name,
        component="+".join(step.component for step in steps),
        location=node.at,
        steps=tuple(steps),
        **_common(settings, node, plugins),
    )


def _steps(node: Node, plugins: Plugins) -> list[TestUse] | None:
    if not isinstance(node.value, list | tuple) or len(node.value) < _FEWEST:
        node.report("a chain is a list of at least two perturbers, such as [paraphrase, format]")
        return None
    steps = [_step(node[position], plugins) for position in range(len(node.value))]
    return None if None in steps else [step for step in steps if step is not None]


def _step(node: Node, plugins: Plugins) -> TestUse | None:
    step = _perturber(node, plugins)
    for name in _OF_THE_WHOLE:
        if step is not None and getattr(step, name) not in (None, ()):
            node.report_at(step.location, f"`{name}` belongs to the whole chain or crossing, not to one of its steps")
    return step


def _crossing(node: Node, plugins: Plugins) -> Sequence[TestUse]:
    settings = _settings_beside(CROSS, node)
    written = node.value[CROSS]
    is_list = isinstance(written, list | tuple)
    if not is_list or not _FEWEST <= len(written) <= MOST_FACTORS:
        node.report(
            f"a crossing is a list of two to {MOST_FACTORS} factors, such as [paraphrase, format], "
            f"got {len(written) if is_list else option_types.described(written)}",
            CROSS,
        )
        return ()
    factors = [_factor(node[CROSS][position], plugins) for position in range(len(written))]
    if None in factors:
        return ()
    prefix = settings.name or "crossed"
    subsets = [
        tuple(chain.from_iterable(factor for factor in subset if factor))
        for size in range(1, len(factors) + 1)
        for subset in combinations(factors, size)
    ]
    return [_whole(steps, f"{prefix}.{joined(steps)}", settings, node, plugins) for steps in subsets]


def _factor(node: Node, plugins: Plugins) -> tuple[TestUse, ...] | None:
    """Read one factor: a perturber, or a chain that counts as one."""
    if isinstance(node.value, list | tuple):
        steps = _steps(node, plugins)
        return None if steps is None else tuple(steps)
    step = _step(node, plugins)
    return None if step is None else (step,)


def _settings_beside(key: str, node: Node) -> TestSettings:
    node.allow_keys([key, *option_types.field_names(TestSettings)])
    return node.read_keys_of(TestSettings)
