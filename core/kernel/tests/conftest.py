"""What the kernel's tests stand on: a suite put together from declarations, a store, a plugin directory of its own."""

from __future__ import annotations

import sqlite3
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from jrh.plugins.entry_points import CORE
from jrh.plugins.loading import shipped_distributions
from jrh.plugins.registry import Entry, LoadProblem, Plugins, Registry
from jrh.plugins.specs import (
    AllocatorSpec,
    DataSourceSpec,
    FlagSpec,
    ImporterSpec,
    JudgeSpec,
    MetricSpec,
    ModelSpec,
    ModeSpec,
    ParserSpec,
    PerturberSpec,
    ReporterSpec,
    RuleSpec,
    Spec,
    StageSpec,
    ValidatorSpec,
)
from jrh.running.building import Builder
from jrh.running.progress import Progress
from jrh.running.stages.cases_of_drafts import Perturbed
from jrh.running.stages.perturb import in_slices
from jrh.store.run_store import Store
from jrh.suite.resolve import load_suite
from jrh.suite.resolved import ResolvedSuite, ResolvedTest
from jrh.values.items import Item, Task
from jrh.values.verdicts import Judgement, Status, Verdict
from jrh_testing import RecordingLog

ROLES: Mapping[str, tuple[str, type[Spec]]] = {
    "data_sources": ("data source", DataSourceSpec),
    "perturbers": ("perturber", PerturberSpec),
    "validators": ("validator", ValidatorSpec),
    "judges": ("judge", JudgeSpec),
    "allocators": ("allocator", AllocatorSpec),
    "parsers": ("parser", ParserSpec),
    "metrics": ("metric", MetricSpec),
    "flags": ("flag", FlagSpec),
    "findings": ("rule", RuleSpec),
    "models": ("model provider", ModelSpec),
    "reporters": ("reporter", ReporterSpec),
    "stages": ("stage", StageSpec),
    "modes": ("mode", ModeSpec),
    "importers": ("importer", ImporterSpec),
}

SUITE: Mapping[str, Any] = {
    "name": "lab",
    "data": {"source": "given"},
    "task": {"instruction": "Judge.", "scale": {"labels": ["YES", "NO"]}},
    "judges": ["fixed"],
}


class Given:
    """A data source whose items the test gives."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items

    def read(self) -> Iterator[Item]:
        yield from self.items


class Fixed:
    """A judge that always says the first label."""

    async def judge(self, question: Any) -> Judgement:
        return Judgement(verdict=Verdict(status=Status.OK, presented=question.task.scale.labels[0]))


class Lab:
    """Suites made of declarations, without entry points and files."""

    suite = SUITE

    def __init__(self) -> None:
        self.log = RecordingLog()
        self.items: tuple[Item, ...] = tuple(
            Item(
                id=f"i{number}",
                fields={"request": f"question {number}", "response": f"answer {number}."},
                gold="YES" if number % 2 else "NO",
            )
            for number in range(4)
        )

    async def perturb(self, builder: Builder, test: ResolvedTest, task: Task, items: Sequence[Item]) -> Perturbed:
        """Draft and validate the cases of one test, and hold them all."""
        slices = [made async for made in in_slices(builder, test, task, items, Progress(), self.log)]
        unchanged: dict[int, str] = {}
        outcomes: list[Any] = []
        for made in slices:
            unchanged |= {place + len(outcomes): case_id for place, case_id in made.unchanged.items()}
            outcomes += made.outcomes
        cases = tuple(case for made in slices for case in made.cases)
        whole = Perturbed(cases=cases, outcomes=tuple(outcomes), unchanged=unchanged)
        return whole.drop_unchanged() if len(unchanged) < len(cases) else whole

    def entry(self, spec: Spec, distribution: str = "acme", version: str = "1.0") -> Entry[Any]:
        return Entry(spec=spec, distribution=distribution, version=version, plugin=distribution)

    def plugins(self, *specs: Spec | Entry[Any], problems: Sequence[LoadProblem] = ()) -> Plugins:
        own = [
            DataSourceSpec(name="given", summary="", factory=lambda options, context: Given(self.items)),
            JudgeSpec(name="fixed", summary="", factory=lambda options, context: Fixed(), reads_prompt=False),
        ]
        entries = [each if isinstance(each, Entry) else self.entry(each) for each in (*own, *specs)]
        registries: dict[str, Any] = {
            field: Registry(role, [each for each in entries if isinstance(each.spec, kind)], problems)
            for field, (role, kind) in ROLES.items()
        }
        return Plugins(problems=tuple(problems), **registries)

    def resolve(self, *specs: Spec | Entry[Any], without: Sequence[str] = (), **changes: Any) -> ResolvedSuite:
        suite = {key: value for key, value in SUITE.items() if key not in without}
        return load_suite({**suite, **changes}, self.plugins(*specs))

    def builder(
        self, *specs: Spec | Entry[Any], open_model: Callable[[Any, Any], Any] | None = None, **changes: Any
    ) -> Builder:
        return Builder(
            self.resolve(*specs, **changes),
            self.plugins(*specs),
            lambda **_: self.log,
            open_model or (lambda use, model: model),
        )

    def relabelled(self, **golds: str | None) -> tuple[Item, ...]:
        return tuple(evolve(item, gold=golds.get(item.id, item.gold)) for item in self.items)


@pytest.fixture
def lab() -> Lab:
    return Lab()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A run's store, open for writing."""
    opened = Store.open(tmp_path / "run", "lab")
    yield opened
    opened.close()


@pytest.fixture
def stored() -> Callable[..., list[tuple[Any, ...]]]:
    """Ask a store's file with a connection of its own; what is not committed is not seen."""

    def rows(store: Store, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(store.path)) as connection:
            return connection.execute(sql, parameters).fetchall()

    return rows


class Site:
    """A directory of installed distributions, made for one test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.with_core = False
        """Whether the plugins of jrh's own distributions are loaded too, as they always are outside of tests."""

    def install(
        self, distribution: str, source: str = "", *, points: Mapping[str, str] | None = None, version: str = "1.0"
    ) -> str:
        """Install a distribution of one module, named after it, and return the module's name."""
        module = distribution.replace("-", "_")
        (self.path / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        info = self.path / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        lines = [f"{name} = {value}" for name, value in (points or {distribution: module}).items()]
        (info / "entry_points.txt").write_text("[jrh]\n" + "\n".join(lines) + "\n")
        return module


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An environment in which nothing is installed but what the test installs."""
    known = set(sys.modules)
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(str(path))
    installed, made = metadata.entry_points, Site(path)

    def points(*, group: str) -> list[metadata.EntryPoint]:
        if made.with_core and group == CORE:
            return list(installed(group=group))
        found = metadata.distributions(path=[str(path)])
        return [point for each in found for point in each.entry_points if point.group == group]

    monkeypatch.setattr(metadata, "entry_points", points)
    yield made
    shipped_distributions.cache_clear()  # what it read here is not so for the tests that follow
    for name in [name for name, module in sys.modules.items() if name not in known and _lies_in(module, tmp_path)]:
        del sys.modules[name]


def _lies_in(module: Any, folder: Path) -> bool:
    return str(getattr(module, "__file__", None) or "").startswith(str(folder))
