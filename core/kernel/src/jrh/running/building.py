"""Components are built here, and nowhere else: options and a context in, a component out."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

import attrs
from attrs import evolve, frozen

from jrh.document.convert import structure, unstructure
from jrh.errors import RAISED, JrhError, PluginError
from jrh.hashing import derive_seed
from jrh.models.client import Client, header_digests
from jrh.plugins.component_identity import Source, code_digest, load_object
from jrh.plugins.factories import make
from jrh.plugins.protocols import (
    BuildContext,
    ChatModel,
    Logger,
    ModelClient,
    Parser,
    Stage,
    Validator,
)
from jrh.plugins.registry import Entry, Plugins
from jrh.plugins.specs import JudgeKind, JudgeSpec, ModelSpec, ParserSpec, StageSpec
from jrh.running.stages.load import check, labelled
from jrh.running.units import Spread
from jrh.suite.definition import ModelUse
from jrh.suite.resolved import Resolved, ResolvedSuite, parts_of
from jrh.text.redact import error_line
from jrh.values.items import Item, Task
from jrh.values.json_values import Json
from jrh.values.report import ComponentUsed

OpenModel: TypeAlias = Callable[[ModelUse, ChatModel], ModelClient]
"""How a model of the suite gets what sends its requests."""


@frozen(kw_only=True)
class Context:
    """What a factory is handed (`jrh.BuildContext`)."""

    name: str
    base: Path
    log: Logger
    _builder: Builder
    _seed_name: str
    _own: str
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
        return self._builder.parser(name, self._task, prefer=self._own)

    def validator(self, name: str) -> Validator:
        """Return a validator by component name."""
        found: Validator = self._builder.nested(
            self._builder.plugins.validators.find(name, prefer=self._own), self._task
        )
        return found

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
        self,
        resolved: ResolvedSuite,
        plugins: Plugins,
        log: Callable[..., Logger],
        open_model: OpenModel,
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

    def build(
        self, resolved: Resolved[Any], task: Task | None = None, *, seed_name: str = "", protocol: type | None = None
    ) -> Any:
        """Build one component of the suite; what it draws does not depend on the name of a judge, unless simulated.

        Raises:
            JrhError: the factory says what is wrong, or breaks; a break names the plugin.
        """
        context = self._context(
            resolved.use.name, resolved.entry, task, seed_name or _seed_name(resolved), resolved.sources
        )
        return self._call(resolved.entry, resolved.options, context, protocol)

    @asynccontextmanager
    async def open_judge(self, resolved: Resolved[JudgeSpec], task: Task) -> AsyncIterator[Any]:
        """Build a judge, and close it at the end if it has an `aclose`.

        What that raises is logged, so that it does not hide how the run ended.
        """
        judge = self.build(resolved, task)
        try:
            yield judge
        finally:
            if hasattr(judge, "aclose"):
                try:
                    await judge.aclose()
                except RAISED as error:
                    log = self._log(component=resolved.use.name)
                    log.warning("judge did not close", judge=resolved.use.name, error=error_line(error))

    def nested(self, entry: Entry[Any], task: Task | None, protocol: type | None = None) -> Any:
        """Build a component that another one names, with its default options."""
        options = structure({}, entry.spec.options, base=self.resolved.suite.base)
        return self._call(entry, options, self._context(entry.spec.name, entry, task, entry.spec.name), protocol)

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
                self._stages[name] = self.nested(entry, None)
        return self._stages[name]

    def identity(self, stage: str) -> Json:
        """Return what makes the work of a stage of the suite this work: code, options, models; None without its key."""
        stages = self.resolved.stages
        return identity(stages[stage], self.resolved) if stage in stages else None

    def data(self, task: Task) -> Sequence[Item]:
        """Return all items of a task's data source, checked, before any sample; the source is read on first use."""
        if task.name not in self._data:
            suite = self.resolved.suite
            for use, source in zip(suite.tasks, self.resolved.sources, strict=True):
                if use.task.name == task.name:
                    self._data[task.name] = labelled(self, use, check(self.build(source, use.task), use))
        return self._data[task.name]

    def parser(self, name: str, task: Task | None, *, prefer: str = "") -> Parser:
        """Return the suite's parser of a name, or else the component with its default options."""
        resolved = self.resolved.parsers.get(name)
        if resolved is not None:
            built: Parser = self.build(resolved, task)
        else:
            built = self.nested(self.plugins.parsers.find(name, prefer=prefer), task)
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
            use = evolve(resolved.use, code=code_digest(resolved.sources))
            self._models[name] = self._open_model(use, self.build(resolved))
        return self._models[name]

    def under_way(self, resolved: Resolved[Any], usual: int) -> int:
        """Return how many jobs of a component to have under way: all that a model of its may answer in one batch."""
        models = [self.model(name) for name in resolved.all_models]
        return max([usual, *(each.at_once for each in models if isinstance(each, Client) and each.deferred)])

    def _context(
        self, name: str, entry: Entry[Any], task: Task | None, seed_name: str, sources: tuple[Source, ...] = ()
    ) -> Context:
        return Context(
            name=name,
            base=self.resolved.suite.base,
            log=self._log(component=name),
            builder=self,
            seed_name=seed_name,
            own=entry.distribution,
            task=task,
            sources=sources,
        )

    def _call(self, entry: Entry[Any], options: object, context: BuildContext, protocol: type | None = None) -> Any:
        try:
            return make(entry, options, context, protocol)
        except JrhError:
            raise
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
    renamable = isinstance(spec, JudgeSpec) and spec.kind is not JudgeKind.SIMULATED
    return spec.name if renamable else resolved.use.name


def identity(resolved: Resolved[Any], suite: ResolvedSuite) -> Json:
    """Return what makes a component's work this component's work: plugin, version, code, options, models, parts.

    Code is the digest of the source wherever it is not an installed release. Parts are the parsers and validators that
    its options refer to: with another version of the parser, another verdict
    may be read from the same reply.
    """
    base = suite.suite.base
    models = [model_identity(suite.models[name], base) for name in resolved.models]
    parts = [identity(part, suite) for part in resolved.parts]
    return {
        "component": resolved.entry.qualified,
        "version": resolved.entry.version,
        "code": code_digest(resolved.sources),
        "options": _options(resolved.options, base),
        "models": models,
        "parts": parts,
    }


def model_identity(resolved: Resolved[ModelSpec], base: Path) -> Json:
    """Return what makes a model's replies this model's: provider, version, options, sampling; not limits or prices."""
    assert isinstance(resolved.use, ModelUse)
    return [
        resolved.entry.qualified,
        resolved.entry.version,
        code_digest(resolved.sources),
        _options(resolved.options, base),
        unstructure(resolved.use.sampling),
    ]


def _options(options: Any, base: Path) -> Json:
    """Return options as part of an identity: a variable stands for the header value in it, never for its own name.

    A header can route to another model, so its value counts. A key does not, so a new one asks nothing again.
    """
    plain = dict(cast(Mapping[str, Json], unstructure(options, base=base)))
    for attribute in attrs.fields(type(options)):
        if attribute.name.endswith("_env"):
            named = plain.pop(attribute.name)
            if isinstance(named, Mapping) and named:
                values = {header: os.environ.get(str(variable), "").strip() for header, variable in named.items()}
                plain[attribute.name] = cast(Json, header_digests(values))
    return plain


def used(role: str, resolved: Resolved[Any], base: Path, *, simulated: bool = False) -> ComponentUsed:
    """Describe a component for the report."""
    options = cast(Mapping[str, Json], unstructure(resolved.options, base=base))
    if isinstance(resolved.use, ModelUse):
        options = {**options, **_set_only(unstructure(resolved.use.sampling))}
    return ComponentUsed(
        role=role,
        name=resolved.use.name,
        component=resolved.entry.qualified,
        version=resolved.entry.version,
        digest=code_digest(resolved.sources),
        options=options,
        simulated=simulated,
    )


def parts_used(components: Iterable[Resolved[Any]], base: Path) -> list[ComponentUsed]:
    """Describe the parsers and validators that components refer to, each once."""
    found: list[ComponentUsed] = []
    for part in parts_of(components):
        described = used("parser" if isinstance(part.entry.spec, ParserSpec) else "validator", part, base)
        if described not in found:
            found.append(described)
    return found


def _set_only(values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
