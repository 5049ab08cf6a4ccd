"""Components are built here, and nowhere else: options and a context in, a component out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from jrh.document.convert import structure
from jrh.errors import RAISED, JrhError, PluginError
from jrh.hashing import derive_seed
from jrh.models.client import Client, OpenModel
from jrh.plugins.component_identity import Source, code_digest, load_object
from jrh.plugins.factories import make
from jrh.plugins.protocols import BuildContext, Logger, ModelClient, Parser, Stage, Validator
from jrh.plugins.registry import Entry, Plugins
from jrh.plugins.specs import JudgeKind, JudgeSpec, StageSpec
from jrh.running.stages.load import apply_labels, check
from jrh.running.units import Spread
from jrh.suite.definition import ModelUse
from jrh.suite.resolved import Resolved, ResolvedSuite
from jrh.text.redact import error_line
from jrh.values.items import Item, Task


@frozen(kw_only=True)
class Context:
    """What a factory is handed (`jrh.BuildContext`)."""

    name: str
    base: Path
    log: Logger
    _builder: Builder
    _seed_name: str
    _distribution: str
    """The distribution whose components win where a bare name is ambiguous."""
    _task: Task | None = None
    _sources: tuple[Source, ...] = ()

    @property
    def task(self) -> Task:
        """Return the task the component is built for."""
        if self._task is None:
            raise PluginError(f"'{self.name}' serves all tasks; its factory must not ask for one")
        return self._task

    def seed(self, *parts: object) -> int:
        """Derive a seed from the run's seed, the component and these parts."""
        return derive_seed(self._builder.resolved.suite.seed, self._seed_name, *parts)

    def model(self, name: str) -> ModelClient:
        """Return a model of the suite."""
        return self._builder.model(name)

    def parser(self, name: str) -> Parser:
        """Return a parser of the suite, or one by component name."""
        return self._builder.parser(name, self._task, prefer=self._distribution)

    def validator(self, name: str) -> Validator:
        """Return a validator by component name."""
        entry = self._builder.plugins.validators.find(name, prefer=self._distribution)
        validator: Validator = self._builder.build_default(entry, self._task)
        return validator

    def data(self) -> Sequence[Item]:
        """Return all items of the task's data source, also those outside of the sample."""
        return self._builder.data(self.task)

    def code(self, written: str) -> Any:
        """Return what an option names, as the suite read it."""
        read = [source for source in self._sources if source.written == (written,)]
        return load_object(written, self.base, read[0] if read else None)


class Builder:
    """Build the components of one run; models are built once and shared."""

    def __init__(
        self, resolved: ResolvedSuite, plugins: Plugins, log: Callable[..., Logger], open_model: OpenModel
    ) -> None:
        """Keep the suite, what is installed, how to make a logger, and how a model gets its gate."""
        self.resolved = resolved
        self.plugins = plugins
        self._log = log
        self._open_model = open_model
        self.spread: Spread | None = None
        """Has units worked on elsewhere; None: all of them in this process."""
        self._models: dict[str, ModelClient] = {}
        self._data: dict[str, Sequence[Item]] = {}
        self._stages: dict[str, Stage] = {}

    def build(self, resolved: Resolved[Any], task: Task | None = None, *, seed_name: str = "") -> Any:
        """Build one component of the suite; what it draws does not depend on the name of a judge, unless simulated.

        Raises:
            JrhError: the factory says what is wrong, or breaks; a break names the plugin.
        """
        context = self._context(
            resolved.use.name, resolved.entry, task, seed_name or _seed_name(resolved), resolved.sources
        )
        return self._call(resolved.entry, resolved.options, context)

    @asynccontextmanager
    async def open_judge(self, resolved: Resolved[JudgeSpec], task: Task) -> AsyncIterator[Any]:
        """Build a judge, and close it at the end if it has an `aclose`.

        What that raises is logged, so that it does not hide how the run ended.
        """
        judge = self.build(resolved, task)
        try:
            yield judge
        finally:
            # Optional by the protocol: rules and most callables have nothing to close.
            if hasattr(judge, "aclose"):
                try:
                    await judge.aclose()
                except RAISED as error:
                    log = self._log(component=resolved.use.name)
                    log.warning("judge did not close", judge=resolved.use.name, error=error_line(error))

    def build_default(self, entry: Entry[Any], task: Task | None) -> Any:
        """Build a component that another one names, with its default options."""
        options = structure({}, entry.spec.options, base=self.resolved.suite.base)
        return self._call(entry, options, self._context(entry.spec.name, entry, task, entry.spec.name))

    def stage(self, entry: Entry[StageSpec]) -> Stage:
        """Return a declared stage, building it on first use; without options where it has a key that is not used."""
        name = entry.spec.name
        if name not in self._stages:
            resolved = self.resolved.stages.get(name)
            if resolved is not None:
                self._stages[name] = self.build(resolved)
            elif entry.spec.key:
                self._stages[name] = self._call(entry, None, self._context(name, entry, None, name))
            else:
                self._stages[name] = self.build_default(entry, None)
        return self._stages[name]

    def data(self, task: Task) -> Sequence[Item]:
        """Return all items of a task's data source, checked, before any sample; the source is read on first use."""
        # Read once for all components that ask for it: a source may be a large file.
        if task.name not in self._data:
            for use, source in zip(self.resolved.suite.tasks, self.resolved.sources, strict=True):
                if use.task.name == task.name:
                    self._data[task.name] = apply_labels(self, use, check(self.build(source, use.task), use))
        return self._data[task.name]

    def parser(self, name: str, task: Task | None, *, prefer: str = "") -> Parser:
        """Return the suite's parser of a name, or else the component with its default options."""
        resolved = self.resolved.parsers.get(name)
        if resolved is not None:
            built: Parser = self.build(resolved, task)
        else:
            built = self.build_default(self.plugins.parsers.find(name, prefer=prefer), task)
        return built

    def model(self, name: str) -> ModelClient:
        """Return the model of a name, building it on first use."""
        if name not in self._models:
            resolved = self.resolved.models.get(name)
            if resolved is None:
                raise JrhError(
                    f"unknown model '{name}'; the suite's models: {', '.join(self.resolved.models) or 'none'}"
                )
            assert isinstance(resolved.use, ModelUse)
            # The version of what is no installed release says nothing: its code is part of what was asked.
            use = evolve(resolved.use, code=code_digest(resolved.sources))
            self._models[name] = self._open_model(use, self.build(resolved))
        return self._models[name]

    def under_way(self, resolved: Resolved[Any], usual: int) -> int:
        """Return how many jobs of a component to have under way: all that a model of its may answer in one batch."""
        models = [self.model(name) for name in resolved.all_models]
        # A deferred model answers hours later: with fewer jobs than it takes at once, one wait would follow the other.
        return max([usual, *(client.at_once for client in models if isinstance(client, Client) and client.deferred)])

    def _context(
        self, name: str, entry: Entry[Any], task: Task | None, seed_name: str, sources: tuple[Source, ...] = ()
    ) -> Context:
        return Context(
            name=name,
            base=self.resolved.suite.base,
            log=self._log(component=name),
            builder=self,
            seed_name=seed_name,
            distribution=entry.distribution,
            task=task,
            sources=sources,
        )

    def _call(self, entry: Entry[Any], options: object, context: BuildContext) -> Any:
        try:
            return make(entry, options, context)
        # A factory that knows what is wrong says it better than a traceback.
        except JrhError:
            raise
        # Apart from other errors of a factory: the remedy is an installation, not a change of the plugin.
        except ModuleNotFoundError as error:
            raise PluginError(
                f"'{entry.qualified}' needs a package that is not installed: {error}; "
                f"install what {entry.distribution} {entry.version} depends on"
            ) from error
        except RAISED as error:
            raise PluginError(
                f"'{entry.qualified}' ({entry.version}) could not be built: {error_line(error)}"
            ) from error


def _seed_name(resolved: Resolved[Any]) -> str:
    spec = resolved.entry.spec
    # What a judge draws must not change with its name in a suite, unless it draws by its name: see `judge_identity`.
    renamable = isinstance(spec, JudgeSpec) and spec.kind is not JudgeKind.SIMULATED
    return spec.name if renamable else resolved.use.name
