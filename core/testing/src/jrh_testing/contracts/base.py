"""Test what every component must satisfy, whatever its kind: declaration, options, factory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final, get_args

import attrs
import pytest
import yaml
from jrh import Item, JrhError, Json, Mode, ModelClient, Task
from jrh.document.convert import structure
from jrh.document.option_types import settable_fields
from jrh.errors import PluginError
from jrh.plugins import ALL_MODES, Parser, Validator
from jrh.plugins.specs import Spec

from jrh_testing.building import HOOKS, build, factory_of, find_spec
from jrh_testing.fakes import ScriptedModel
from jrh_testing.samples import sample_items, sample_task

_LONGEST_REASON = 200
_TELLING = 12
"""Characters in a row that are taken to be an item's words rather than chance."""


def assert_countable(reason: str, item: Item) -> None:
    """Require a reason that can be counted: short, one line, the same for all items of its kind."""
    assert reason.strip(), "a reason is empty"
    assert "\n" not in reason, f"a reason is one line, got {reason!r}"
    # Reasons are counted by text in the report: a reason that differs per item would make a table of one-offs.
    assert len(reason) <= _LONGEST_REASON, f"a reason has {len(reason)} characters; {_LONGEST_REASON} are enough"
    assert item.id not in reason, f"the reason {reason!r} names the item; put it into details"
    quoted = next((text for text in texts_of(item.fields) if _quotes(reason, text)), None)
    assert quoted is None, f"the reason {reason!r} quotes the item; put it into details"


def _quotes(reason: str, text: str) -> bool:
    return any(text[start : start + _TELLING] in reason for start in range(len(text) - _TELLING + 1))


def texts_of(value: Json) -> Iterator[str]:
    """Yield every text within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from texts_of(inner)


def assert_json(value: object, what: str) -> None:
    """Require a value that the store can keep: JSON without NaN, keys are text."""
    try:
        json.dumps(value, allow_nan=False, default=_mapping)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{what} is not JSON: {error}") from error


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


_SCRIPT = """
import importlib, json, sys
import jrh.hashing
import jrh.plugins.hookspecs, jrh.plugins.specs, jrh.suite.definition, jrh.values.cases, jrh.values.verdicts
before = {name.partition(".")[0] for name in sys.modules}
plugin = importlib.import_module(sys.argv[1])
hooks = [name for name in sys.argv[2].split(",") if hasattr(plugin, name)]
declared = [spec.name for name in hooks for spec in getattr(plugin, name)() or ()]
after = {name.partition(".")[0] for name in sys.modules} - before
known = set(sys.stdlib_module_names) | {"jrh", sys.argv[1].partition(".")[0]}
known |= {"jrh_authoring", "jrh_chat", "jrh_interchange", "jrh_measuring"}  # what they import in turn counts
if "jrh_stats" in after:  # every run needs it, and numpy is all it loads
    known |= {"jrh_stats", "numpy"}
print(json.dumps(sorted(after - known)))
"""


@lru_cache(maxsize=64)
def foreign_modules(plugin: str, hooks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the top-level packages that importing a plugin and calling its hooks loads in a fresh interpreter.

    The standard library, `jrh`, what `jrh` itself needs to declare, the other distributions of the core, numpy where
    `jrh_stats` loads it, and the plugin's own package are left out.
    """
    # A fresh interpreter: this one has loaded nearly everything for other tests.
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, plugin, ",".join(hooks)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{plugin} cannot be imported on its own:\n{done.stderr}")
    # A plugin may print while it is imported; the answer is the last line.
    return tuple(json.loads(done.stdout.splitlines()[-1]))


# Flags of `os.open` that can change a file; audit events carry flags, not modes.
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Watch:
    """Side effects of one thread while it is watched."""

    def __init__(self, base: Path) -> None:
        self.thread = threading.get_ident()
        self.base = str(base)
        self.seen: list[str] = []

    def tell(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            self._note_file(*arguments)
        elif event in ("socket.connect", "socket.getaddrinfo"):
            self.seen.append(f"opens a connection ({event})")
        elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork"):
            self.seen.append(f"starts a process ({event})")

    def _note_file(self, path: object, _mode: object, flags: object) -> None:
        # Descriptors are opened files already: no path, and nothing new.
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.fsdecode(path)
        if "__pycache__" in name:
            return  # the interpreter's own
        if isinstance(flags, int) and flags & _WRITING and name != os.devnull:
            self.seen.append(f"writes {Path(name).name}")
        elif self.base and os.path.abspath(name).startswith(self.base + os.sep):  # noqa: PTH100 - no I/O here
            self.seen.append(f"reads {Path(name).name}")


_watches: list[_Watch] = []


@lru_cache(maxsize=1)
def _install_hook() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    # Other threads of the test process, such as the chat server, do things of their own.
    for watch in _watches:
        if watch.thread == threading.get_ident():
            watch.tell(event, arguments)


@contextmanager
def watch_side_effects(base: Path) -> Iterator[list[str]]:
    """Collect what the block does in this thread: connections, processes, files written, files of `base` read.

    Audit hooks cannot be taken away again, so one is installed per process and is idle outside such blocks.
    """
    _install_hook()
    watch = _Watch(base.resolve())
    _watches.append(watch)
    try:
        yield watch.seen
    finally:
        _watches.remove(watch)


OPTIONAL: Final = frozenset(
    {
        "test_a_file_of_something_else_is_an_error",
        "test_a_wait_can_be_given_up",
        "test_an_empty_run_is_exported",
        "test_an_empty_run_is_reported",
        "test_closing_is_harmless",
        "test_declaring_loads_no_other_library",
        "test_odd_texts_are_decided",
        "test_odd_texts_are_treated_or_skipped",
        "test_odd_texts_get_a_sound_judgement",
        "test_one_label_in_training_is_enough",
        "test_one_record_is_measured",
        "test_rejections_can_be_counted",
        "test_skips_can_be_counted",
        "test_the_factory_touches_nothing_outside",
        "test_the_flags_are_those_of_every_metric",
        "test_the_options_are_explained_and_have_defaults",
        "test_the_starter_is_yaml_that_uses_the_component",
        "test_the_time_to_wait_is_passed_on",
        "test_unknown_usage_is_not_zero",
    }
)
"""Contract tests that a component of a first version may leave out; it must pass all others."""


class ComponentContract:
    """Contract tests for every component; subclass the contract of its kind, not this one.

    A subclass says which component it tests, and may say with what. A contract test that is overridden (or switched
    off with `test_x = None`) needs its reason in `overrides`.
    """

    plugin: ClassVar[Any]
    """The module that holds the hook implementations."""
    component: ClassVar[str]
    """The declared name."""
    options: ClassVar[Mapping[str, Json]] = {}
    """The component's options, as a suite would write them."""
    required_options: ClassVar[tuple[str, ...]] = ()
    """Options that have no default because there can be none."""
    files: ClassVar[Mapping[str, str | bytes]] = {}
    """Files to write into the directory that relative paths start from."""
    models: ClassVar[Mapping[str, ModelClient]] = {}
    """What `context.model(name)` returns; scripted models are used from the start in every test."""
    parsers: ClassVar[Mapping[str, Parser]] = {}
    validators: ClassVar[Mapping[str, Validator]] = {}
    task: ClassVar[Task | None] = None
    """Test with this task alone; None: with a sample task for every mode the component declares."""
    items: ClassVar[tuple[Item, ...]] = ()
    """Test with these items; empty: with `sample_items(task)`."""
    overrides: ClassVar[Mapping[str, str]] = {}
    """Contract test -> why this component overrides it."""

    role: ClassVar[type[Spec]] = Spec

    def __init_subclass__(cls) -> None:
        """Reject a contract that is weakened without a reason, when the class is made: no test can hide that."""
        super().__init_subclass__()
        _reject_silent_overrides(cls)

    @pytest.fixture
    def base(self, tmp_path: Path) -> Path:
        """Write the contract's files and return the directory they are in."""
        for name, content in self.files.items():
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    @property
    def spec(self) -> Any:
        """Return the component's declaration."""
        return find_spec(self.plugin, self.component, self.role)

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks to test with: the one given, or one for every mode that is declared."""
        if self.task is not None:
            return (self.task,)
        modes = getattr(self.spec, "modes", ALL_MODES)
        return tuple(sample_task(mode) for mode in Mode if mode in modes)

    def items_of(self, task: Task) -> tuple[Item, ...]:
        """Return the items to test a task with."""
        return self.items or sample_items(task)

    def models_for(self, task: Task) -> Mapping[str, ModelClient]:  # noqa: ARG002 - for those who override it
        """Return the models for a task; override if the answers depend on it. Scripted models are returned unused."""
        return {
            name: model.fresh() if isinstance(model, ScriptedModel) else model for name, model in self.models.items()
        }

    def build_component(self, base: Path, task: Task | None = None, options: Mapping[str, Json] | None = None) -> Any:
        """Build the component; the given options are merged over the contract's."""
        task = task or self.tasks()[0]
        return build(
            self.plugin,
            self.component,
            options={**self.options, **(options or {})},
            task=task,
            base=base,
            models=self.models_for(task),
            parsers=self.parsers,
            validators=self.validators,
            role=self.role,
        )

    def test_the_declaration_can_be_read_twice(self) -> None:
        """If this fails: make the hook yield one complete declaration, the same one each time it is called."""
        spec = self.spec
        # Hooks are called whenever plugins are loaded; options are compared by identity of their class.
        again = find_spec(self.plugin, self.component, self.role)
        assert again.name == spec.name, "the hook declares another name when it is called again"
        assert again.options is spec.options, "the hook makes a new options class each time it is called"
        assert spec.summary.strip() == spec.summary != "", "the summary is empty or padded"
        assert "\n" not in spec.summary, "the summary is more than one line"

    def test_the_factory_is_declared_by_name_and_can_be_called(self) -> None:
        """If this fails: write `factory="package.module:Name"`, and check that module and name exist."""
        assert callable(factory_of(self.plugin, self.spec))
        # A plugin in one file may declare its class directly; an installed one must not import its work to declare
        # it.
        if isinstance(self.plugin, ModuleType) and self.plugin.__name__.endswith(".plugin"):
            assert isinstance(self.spec.factory, str), "plugin.py declares only: write 'package.module:Name'"

    def test_declaring_loads_no_other_library(self) -> None:
        """If this fails: import the library in the factory; `plugin.py` imports the standard library and jrh."""
        if not isinstance(self.plugin, ModuleType) or sys.modules.get(self.plugin.__name__) is not self.plugin:
            pytest.skip("the plugin is not a module that can be imported by name")
        loaded = foreign_modules(self.plugin.__name__, tuple(HOOKS))
        assert not loaded, f"importing {self.plugin.__name__} and declaring loads {', '.join(loaded)}"

    def test_the_options_are_explained_and_have_defaults(self) -> None:
        """If this fails: give every field a default and `metadata={"help": ...}`; `jrh plugins show` prints both."""
        for cls in _option_classes(self.spec.options):
            assert attrs.has(cls), f"{cls.__name__} is not an attrs class"
            for field in settable_fields(cls):
                place = f"{cls.__name__}.{field.name}"
                assert str(field.metadata.get("help", "")).strip(), f"{place} has no help text"
                optional = field.default is not attrs.NOTHING or field.name in self.required_options
                assert optional, f"{place} has no default, and is not in required_options"

    def test_the_options_cannot_be_changed(self, base: Path) -> None:
        """If this fails: use `attrs.frozen` for the options class and for the classes its fields are made of."""
        for value in _option_values(structure(dict(self.options), self.spec.options, base=base)):
            for field in attrs.fields(type(value)):
                # The digest of options identifies a component: options that change later would belong to another one.
                with pytest.raises(attrs.exceptions.FrozenInstanceError):
                    setattr(value, field.name, None)

    def test_an_unknown_option_is_an_error(self, base: Path) -> None:
        """If this fails: the options class takes keys it does not know; a misspelt option would go unnoticed."""
        with pytest.raises(JrhError) as caught:
            self.build_component(base, options={"no_such_option_9": 1})
        assert "no_such_option_9" in str(caught.value), "the message does not name the unknown option"

    def test_a_missing_required_option_is_an_error(self, base: Path) -> None:
        """If this fails: an option listed in `required_options` has a default after all; take it off the list."""
        for name in self.required_options:
            remaining = {key: value for key, value in self.options.items() if key != name}
            with pytest.raises(JrhError):
                build(self.plugin, self.component, options=remaining, base=base, role=self.role)

    def test_the_starter_is_yaml_that_uses_the_component(self) -> None:
        """If this fails: `jrh init` would write a suite that does not load; correct the starter."""
        starter = self.spec.starter
        if not starter:
            return
        loaded = yaml.safe_load(starter)
        assert loaded, "the starter holds nothing but comments"
        assert self.component in set(_strings(loaded)), f"the starter does not name '{self.component}'"

    def test_the_factory_touches_nothing_outside(self, base: Path) -> None:
        """If this fails: move the connection, process or file access to where the work is done; plans are free."""
        self.build_component(base)  # the first time may import libraries, which read and cache what they like
        with watch_side_effects(base) as effects:
            self.build_component(base)
        assert not effects, f"the factory {'; '.join(effects)}"


def _reject_silent_overrides(cls: type[ComponentContract]) -> None:
    contracts = [base for base in cls.__mro__ if base.__module__.startswith("jrh_testing.contracts.")]
    names = sorted({name for base in contracts for name in vars(base) if name.startswith("test_")})
    overridden = [name for name in names if not _owner(cls, name).__module__.startswith("jrh_testing.contracts.")]
    # Raised while the class is made: a test could be deselected, a class cannot.
    silent = [name for name in overridden if not cls.overrides.get(name, "").strip()]
    if silent:
        raise PluginError(f"{cls.__name__} overrides {', '.join(silent)}; say why in `overrides`")
    # A reason that outlives its override would excuse the next one.
    stale = [name for name in cls.overrides if name not in overridden]
    if stale:
        raise PluginError(f"{cls.__name__} gives reasons for {', '.join(stale)}, which it does not override")


def _owner(cls: type, name: str) -> type:
    return next(base for base in cls.__mro__ if name in vars(base))


def _option_classes(cls: type) -> Iterator[type]:
    """Yield an options class and the attrs classes of its own package that its fields are made of."""
    yield cls
    if not attrs.has(cls):
        return
    # Classes of other packages, such as a scale of the kernel, are documented where they are defined.
    package = cls.__module__.partition(".")[0]
    for field in settable_fields(cls):
        for part in _parts(field.type):
            if isinstance(part, type) and attrs.has(part) and part.__module__.partition(".")[0] == package:
                yield from _option_classes(part)


def _option_values(value: Any) -> Iterator[Any]:
    yield value
    for inner in attrs.asdict(value, recurse=False).values():
        if attrs.has(type(inner)) and not isinstance(inner, type):
            yield from _option_values(inner)


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)


def _strings(value: Any) -> Iterator[str]:
    """Yield every key and text of a YAML value, also without the distribution: `acme/format` is `format`."""
    if isinstance(value, str):
        yield value
        yield value.rpartition("/")[2]
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
