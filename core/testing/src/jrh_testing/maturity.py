"""Print how mature each component is, from what passes: `pytest -p jrh_testing.maturity -m "" tests`.

- experimental: a test that every component must pass failed or did not run.
- beta: all of those passed.
- production: all of those applied, and the optional ones passed too.

A test that an author overrides counts as the override does, and its reason is listed. A test that does not apply, which
only a contract itself can say, is left out and listed with its reason. A mark that skips a test is no reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from attrs import define, field

from jrh_testing.contracts.base import OPTIONAL, ComponentContract

# It starts an interpreter, and its answer is the same for all components of a plugin.
_OF_A_PLUGIN: Final = "test_declaring_loads_no_other_library"
"""Shown once per plugin: a repository may leave the repeats out."""
_PASSED: Final = "passed"


@define(eq=False)
class Component:
    """What the contract tests of one component came to."""

    plugin: str
    kind: str
    name: str
    results: dict[str, set[str]] = field(factory=dict)
    """Contract test -> outcomes over all classes; empty where it did not run."""
    reasons: dict[str, str] = field(factory=dict)
    """Overridden contract test -> why."""
    not_applicable: dict[str, str] = field(factory=dict)
    """Contract test -> why the contract left it out."""

    def tests(self, optional: bool) -> list[str]:
        """Return the tests of a class, must or optional, that apply."""
        return [
            name
            for name, outcomes in sorted(self.results.items())
            if (name in OPTIONAL) is optional and (outcomes or name not in self.not_applicable)
        ]

    def short(self, optional: bool) -> list[str]:
        """Return the tests of a class, must or optional, that did not pass."""
        return [name for name in self.tests(optional) if self.results[name] != {_PASSED}]

    def count(self, optional: bool) -> str:
        """Return `passed/all` of a class."""
        tests = self.tests(optional)
        return f"{len(tests) - len(self.short(optional))}/{len(tests)}"

    @property
    def maturity(self) -> str:
        """Return experimental, beta or production."""
        if self.short(optional=False):
            return "experimental"
        # Production asks for more than beta: every required test has run, none was left out.
        shown = all(self.results[name] for name in self.results if name not in OPTIONAL)
        return "production" if shown and not self.short(optional=True) else "beta"


@define(eq=False)
class Maturity:
    """Collects outcomes while pytest runs."""

    components: dict[tuple[str, str, str], Component] = field(factory=dict)
    _places: dict[str, tuple[Component, str]] = field(factory=dict)
    _marked: set[str] = field(factory=set)

    @pytest.hookimpl(tryfirst=True)  # before tests are deselected: what does not run has not passed
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note every contract test."""
        for item in items:
            contract = getattr(item, "cls", None)
            if isinstance(contract, type) and issubclass(contract, ComponentContract):
                self._note(item, contract)

    def _note(self, item: pytest.Item, contract: type[ComponentContract]) -> None:
        name = str(getattr(item, "originalname", None) or item.name)
        # Only tests of the contracts count: authors' own tests say nothing that another component could be compared
        # by.
        if not hasattr(ComponentContract, name) and not _of_contract(contract, name):
            return  # a test of the author's own
        plugin = str(getattr(contract.plugin, "__name__", type(contract.plugin).__name__)).removesuffix(".plugin")
        kind = contract.role.__name__.removesuffix("Spec")
        key = plugin, kind, contract.component
        component = self.components.setdefault(key, Component(plugin=plugin, kind=kind, name=contract.component))
        component.results.setdefault(name, set())
        component.reasons |= contract.overrides
        self._places[item.nodeid] = component, name
        # A mark of the author must not pass for a contract that says "does not apply".
        if item.get_closest_marker("skip") or item.get_closest_marker("skipif"):
            self._marked.add(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note an outcome."""
        # Setup and teardown count only when they fail; a test that passed has one outcome, that of its call.
        if report.nodeid not in self._places or (report.when != "call" and report.outcome == _PASSED):
            return
        component, name = self._places[report.nodeid]
        if report.outcome == "skipped" and isinstance(report.longrepr, tuple) and report.nodeid not in self._marked:
            component.not_applicable[name] = str(report.longrepr[2]).removeprefix("Skipped: ")
        else:
            component.results[name].add(report.outcome)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the list."""
        self._share()
        terminalreporter.section("maturity")
        for line in self.lines():
            terminalreporter.write_line(line)

    def _share(self) -> None:
        """Let a component count what another one of its plugin has shown of the plugin."""
        of = self.components.items()
        shown = {key[0] for key, component in of if component.results.get(_OF_A_PLUGIN) == {_PASSED}}
        for (plugin, _, _), component in of:
            if component.results.get(_OF_A_PLUGIN) == set() and plugin in shown:
                component.results[_OF_A_PLUGIN] = {_PASSED}

    def lines(self) -> Iterator[str]:
        """Yield the list as a Markdown table, and then what did not pass and what is left out, and why."""
        yield "| plugin | component | must | optional | overridden | maturity |"
        yield "|---|---|---|---|---|---|"
        components = [component for _, component in sorted(self.components.items())]
        for component in components:
            counts = f"{component.count(False)} | {component.count(True)} | {len(component.reasons)}"
            name = f"{component.kind} `{component.name}`"
            yield f"| {component.plugin} | {name} | {counts} | {component.maturity} |"
        for component in components:
            for name in (*component.short(False), *component.short(True)):
                how = ", ".join(sorted(component.results[name])) or "not run"
                yield f"{component.plugin} {component.name}: {name}: {how}"
            for name, reason in sorted(component.reasons.items()):
                yield f"{component.plugin} {component.name}: {name} is overridden: {reason}"
            for name, reason in sorted(component.not_applicable.items()):
                yield f"{component.plugin} {component.name}: {name} does not apply: {reason}"


def _of_contract(contract: type, name: str) -> bool:
    return any(name in vars(base) for base in contract.__mro__ if base.__module__.startswith("jrh_testing.contracts."))


def pytest_configure(config: pytest.Config) -> None:
    """Collect and print."""
    config.pluginmanager.register(Maturity(), "jrh-maturity")
