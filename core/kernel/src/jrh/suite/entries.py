"""One entry of a suite in its three forms, and those of `tests`: a perturber, a chain of several, or a crossing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, Final, TypeVar

from attrs import evolve, fields, frozen

from jrh.document import option_types
from jrh.document.convert import Node
from jrh.errors import JrhError
from jrh.plugins.registry import Plugins
from jrh.suite.definition import TestUse, Use
from jrh.suite.syntax import CHAIN, CROSS, MOST_FACTORS, TEST, VALIDATOR, Role, TestSettings

U = TypeVar("U", bound=Use)


@frozen(kw_only=True)
class Written:
    """One entry, taken apart."""

    component: str
    settings: Any
    """An instance of the role's settings class."""
    options: Mapping[str, Any]
    place: Node
    """The mapping the options are in; of an entry that is just a name the entry itself."""

    def use(self, cls: type[U], **further: Any) -> U:
        """Return the entry as a class of uses, whose fields of the settings' names are theirs."""
        shared = {field.name for field in fields(cls)} & {field.name for field in fields(type(self.settings))}
        values = {name: getattr(self.settings, name) for name in shared}
        values["name"] = self.settings.name or self.component.rpartition("/")[2]
        where = {"component": self.component, "options": self.options, "location": self.place.at}
        return cls(**values | where | further)


def read_use(node: Node, role: Role, plugins: Plugins, cls: type[U] = Use) -> U | None:  # type: ignore[assignment]
    """Read an entry of a role as a class of uses."""
    written = read_entry(node, role, plugins)
    return None if written is None else written.use(cls)


def read_entry(node: Node, role: Role, plugins: Plugins) -> Written | None:
    """Take an entry apart, in whichever form it is written."""
    value = node.value
    if isinstance(value, str):
        return _split_entry(node.with_value({}), value, role, plugins)
    # Before the short form, which any mapping with one key looks like.
    if isinstance(value, Mapping) and role.key in value:
        return read_flat_entry(node, role, plugins)
    if isinstance(value, Mapping) and len(value) == 1:
        component, options = next(iter(value.items()))
        if options is None or isinstance(options, Mapping):
            return _split_entry(node.with_value(options or {}, component), component, role, plugins)
        node.report(f"expected a mapping of options, got {option_types.describe_value(options)}", component)
        return None
    node.report(_explain_no_entry(value, role))
    return None


def read_flat_entry(node: Node, role: Role, plugins: Plugins) -> Written | None:
    """Take apart an entry that is one mapping of name and options."""
    options = {key: part for key, part in node.value.items() if key != role.key}
    component = node.value[role.key]
    if isinstance(component, str) and component:
        return _split_entry(node.with_value(options), component, role, plugins)
    node.report(_explain_no_name(component, role), role.key)
    return None


def own_options(plugins: Plugins, plural: str, component: str) -> frozenset[str]:
    """Return the names of a component's own options, which the suite's keys of the same name give way to."""
    try:
        entry = getattr(plugins, plural).find(component)
    except JrhError:
        return frozenset()  # reported where components are looked up
    return frozenset(option_types.field_names(entry.spec.options))


def _split_entry(options: Node, component: str, role: Role, plugins: Plugins) -> Written | None:
    """Tell the suite's own keys from the component's options."""
    if not component:
        options.report(_explain_no_name(component, role))
        return None
    # Not `name`: two uses of a component could not be told apart if it took the suite's key.
    theirs = own_options(plugins, role.plural, component) - ({"name"} if role.own_name else set())
    ours = set(option_types.field_names(role.settings)) - theirs
    return Written(
        component=component,
        settings=options.read_keys_of(role.settings, leave=theirs),
        options={key: part for key, part in options.value.items() if key not in ours},
        place=options,
    )


def _explain_no_name(component: object, role: Role) -> str:
    return f"expected the name of {role.noun}, got {option_types.describe_value(component)}"


def _explain_no_entry(value: Any, role: Role) -> str:
    if not isinstance(value, Mapping):
        return f"expected the name of {role.noun} or a mapping, got {option_types.describe_value(value)}"
    forms = f"`{role.key}: NAME` with the options next to it, or `NAME: {{options}}`"
    # The commonest slip: options that are indented as far as their component's name are keys next to it.
    empty = next((key for key, part in value.items() if part is None), None)
    hint = f"; should the options of '{empty}' be indented further?" if empty else ""
    return f"no key '{role.key}' says which {role.key} this is{hint}\nWrite {forms}."


_FEWEST: Final = 2
_OF_THE_WHOLE: Final = ("repeats", "sample", "ids")
"""Settings that a step of a chain cannot have of its own."""


def read_tests(suite: Node, plugins: Plugins) -> tuple[TestUse, ...]:
    """Read all tests; a crossing becomes a test for every combination of its factors."""
    return tuple(chain.from_iterable(read_test(entry, plugins) for entry in suite.entries("tests")))


def read_test(node: Node, plugins: Plugins) -> Sequence[TestUse]:
    """Read one entry of `tests`, in whichever form it is written."""
    value = node.value
    # Before all others: a crossing is the only form that makes several tests.
    if isinstance(value, Mapping) and CROSS in value:
        return _read_crossing(node, plugins)
    if isinstance(value, list | tuple):
        test = _chain(node.with_value({CHAIN: value}), node, plugins)
    elif isinstance(value, Mapping) and CHAIN in value:
        test = _chain(node, node[CHAIN], plugins)
    else:
        test = _perturber(node, plugins)
    return () if test is None else (test,)


def chain_name(steps: Iterable[TestUse]) -> str:
    """Name a chain after its steps."""
    return "+".join(step.name for step in steps)


def _perturber(node: Node, plugins: Plugins) -> TestUse | None:
    written = read_entry(node, TEST, plugins)
    if written is None:
        return None
    return written.use(TestUse, **_test_fields(written.settings, written.place, plugins))


def _test_fields(settings: TestSettings, node: Node, plugins: Plugins) -> dict[str, Any]:
    """Return the settings of a test that a suite writes in another form than `TestUse` holds them."""
    validators = node.with_value({"validate": settings.validate}).entries("validate")
    uses = (read_use(validator, VALIDATOR, plugins) for validator in validators)
    return {"validate": tuple(use for use in uses if use is not None), "ids": tuple(map(str, settings.ids))}


def _chain(node: Node, written: Node, plugins: Plugins) -> TestUse | None:
    settings = _read_settings(CHAIN, node)
    steps = _steps(written, plugins)
    return None if steps is None else _build_test(steps, settings.name or chain_name(steps), settings, node, plugins)


def _build_test(steps: Sequence[TestUse], name: str, settings: TestSettings, node: Node, plugins: Plugins) -> TestUse:
    """Make one test of steps; of a single step with settings of its own as well."""
    component = "+".join(step.component for step in steps)
    # As if it were written as one perturber, so that a chain has the same settings.
    written = Written(component=component, settings=evolve(settings, name=name), options={}, place=node)
    return written.use(TestUse, steps=tuple(steps), **_test_fields(settings, node, plugins))


def _steps(node: Node, plugins: Plugins) -> tuple[TestUse, ...] | None:
    if not isinstance(node.value, list | tuple) or len(node.value) < _FEWEST:
        node.report("a chain is a list of at least two perturbers, such as [paraphrase, format]")
        return None
    steps = [_step(node[position], plugins) for position in range(len(node.value))]
    # A chain without one of its steps would be another test.
    return None if None in steps else tuple(step for step in steps if step is not None)


def _step(node: Node, plugins: Plugins) -> TestUse | None:
    step = _perturber(node, plugins)
    for name in _OF_THE_WHOLE:
        # Steps run one after the other on one draft: they cannot be repeated or sampled apart.
        if step is not None and getattr(step, name) not in (None, ()):
            node.report_at(step.location, f"`{name}` belongs to the whole chain or crossing, not to one of its steps")
    return step


def _read_crossing(node: Node, plugins: Plugins) -> Sequence[TestUse]:
    settings = _read_settings(CROSS, node)
    written = node.value[CROSS]
    is_list = isinstance(written, list | tuple)
    # Every further factor doubles the tests, and the calls.
    if not is_list or not _FEWEST <= len(written) <= MOST_FACTORS:
        node.report(
            f"a crossing is a list of two to {MOST_FACTORS} factors, such as [paraphrase, format], "
            f"got {len(written) if is_list else option_types.describe_value(written)}",
            CROSS,
        )
        return ()
    factors = [_factor(node[CROSS][position], plugins) for position in range(len(written))]
    if None in factors:
        return ()
    prefix = settings.name or "crossed"
    subsets = [
        tuple(chain.from_iterable(factor for factor in subset if factor))
        # Also each factor alone: an interaction is the difference to what the factors do on their own.
        for size in range(1, len(factors) + 1)
        for subset in combinations(factors, size)
    ]
    return [_build_test(steps, f"{prefix}.{chain_name(steps)}", settings, node, plugins) for steps in subsets]


def _factor(node: Node, plugins: Plugins) -> tuple[TestUse, ...] | None:
    """Read one factor: a perturber, or a chain that counts as one."""
    if isinstance(node.value, list | tuple):
        return _steps(node, plugins)
    step = _step(node, plugins)
    return None if step is None else (step,)


def _read_settings(key: str, node: Node) -> TestSettings:
    node.allow_keys([key, *option_types.field_names(TestSettings)])
    return node.read_keys_of(TestSettings)
