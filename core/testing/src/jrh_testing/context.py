"""A build context for tests: what a factory is handed, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from attrs import Factory, define, frozen
from jrh.errors import JrhError
from jrh.hashing import derive_seed
from jrh.plugins.component_identity import Source, python_source
from jrh.plugins.local_code import load_object
from jrh.plugins.protocols import ModelClient, Parser, Validator
from jrh.values.items import Item, Task

T = TypeVar("T")


@frozen(kw_only=True)
class LogEntry:
    """One line that a component logged."""

    level: str
    event: str
    values: Mapping[str, Any]


@define
class RecordingLog:
    """A logger that keeps what components log."""

    entries: list[LogEntry] = Factory(list)

    def debug(self, event: str, /, **values: Any) -> None:
        """Keep detail."""
        self.entries.append(LogEntry(level="debug", event=event, values=values))

    def info(self, event: str, /, **values: Any) -> None:
        """Keep what happened."""
        self.entries.append(LogEntry(level="info", event=event, values=values))

    def warning(self, event: str, /, **values: Any) -> None:
        """Keep what somebody should look at."""
        self.entries.append(LogEntry(level="warning", event=event, values=values))


@frozen(kw_only=True)
class FakeContext:
    """A `BuildContext` with the models, parsers and validators that a test provides."""

    name: str
    task: Task
    base: Path = Path()
    log: RecordingLog = Factory(RecordingLog)
    run_seed: int = 0
    models: Mapping[str, ModelClient] = Factory(dict)
    parsers: Mapping[str, Parser] = Factory(dict)
    validators: Mapping[str, Validator] = Factory(dict)
    items: Sequence[Item] = ()
    """What `data` returns."""

    def seed(self, *parts: object) -> int:
        """Derive a seed from the run's seed, the component's name and the parts."""
        return derive_seed(self.run_seed, self.name, *parts)

    def model(self, name: str) -> ModelClient:
        """Return the model a test gave under this name."""
        return _given("model", self.models, name)

    def parser(self, name: str) -> Parser:
        """Return the parser a test gave under this name."""
        return _given("parser", self.parsers, name)

    def validator(self, name: str) -> Validator:
        """Return the validator a test gave under this name."""
        return _given("validator", self.validators, name)

    def data(self) -> Sequence[Item]:
        """Return the items a test gave as the whole data set."""
        return self.items

    def code(self, written: str) -> Any:
        """Return what `path/to/file.py:name` or `module:name` names."""
        path = self.base / written.rpartition(":")[0]
        changed = path.stat().st_mtime_ns if path.is_file() else 0
        return load_object(written, self.base, _source(written, self.base, changed))


@lru_cache(maxsize=64)
def _source(written: str, base: Path, _changed: int) -> Source:
    """Read a source once: a suite reads it when it is loaded, so that factories touch no file."""
    return python_source(written, base)


def _given(kind: str, given: Mapping[str, T], name: str) -> T:
    try:
        return given[name]
    except KeyError:
        known = ", ".join(given) or "none"
        raise JrhError(f"the test gave no {kind} '{name}' (given: {known}); pass {kind}s={{'{name}': ...}}") from None
