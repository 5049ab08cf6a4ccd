"""Build every component once before anything is written, so that a mistake in one leaves nothing half-done."""

from __future__ import annotations

from attrs import frozen

from jrh.errors import PluginError
from jrh.models.client import fingerprint_of
from jrh.plugins.protocols import ChatModel, ChatRequest
from jrh.running.building import Builder
from jrh.suite.definition import ModelUse
from jrh.suite.resolve import applies, tests_of
from jrh.values.types import Reply


@frozen(kw_only=True)
class SilentModel:
    """A model (`jrh.ModelClient`) that components can be built with and that must not be asked yet."""

    use: ModelUse
    model: ChatModel

    @property
    def name(self) -> str:
        """Return the suite's name of the model."""
        return self.use.name

    @property
    def fingerprint(self) -> str:
        """Return what would answer."""
        return fingerprint_of(self.use, self.model)

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:  # noqa: ARG002
        """Refuse: a factory declares and asks nothing."""
        raise PluginError(f"model '{self.name}' was asked before the run began")


@frozen(kw_only=True)
class Todo:
    """What of a suite is still to be done in a run directory."""

    tests: frozenset[tuple[str, str]]
    """Task and test."""
    judges: frozenset[str]


def rehearse(builder: Builder, todo: Todo | None = None) -> None:
    """Build what the run will need, task by task, and drop it again; reporters are left out, they may fail.

    Args:
        builder: builds the components.
        todo: only what this still needs; everything where it is None. What is done needs no key and no module any more.

    Raises:
        JrhError: a component cannot be built.
    """
    resolved = builder.resolved
    for task in (use.task for use in resolved.suite.tasks):
        for test in tests_of(resolved, task):
            if todo is None or (task.name, test.use.name) in todo.tests:
                for component in test.components:
                    builder.build(component, task)
        for judge in resolved.judges:
            if applies(judge, task) and (todo is None or judge.use.name in todo.judges):
                builder.build(judge, task)
    if todo is None or todo.tests or todo.judges:
        for metric in resolved.metrics:
            builder.build(metric)
