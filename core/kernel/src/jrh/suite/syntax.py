"""The parts of a suite as people write them, and the modes of judging that a section `task` can be in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
from attrs import frozen

from jrh.document.option_types import field_names
from jrh.document.positions import Document, Location
from jrh.errors import JrhError, SuiteError
from jrh.plugins.protocols import TaskMode
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import ModeSpec, option
from jrh.suite.definition import CHECK_FOLDS, CHECK_REPEATS, JudgeUse, OnMismatch, Sample, SuiteSettings, TestUse
from jrh.text.redact import error_line
from jrh.values.item_covariates import ACCEPTED, GoldSource
from jrh.values.items import Item, Mode, Task
from jrh.values.json_values import Json
from jrh.values.option_values import Text
from jrh.values.scales import Scale, ScaleKind
from jrh.version import __version__

# Plugins declare options with `WrittenScale`: what reads files and builds components is imported where it works.
if TYPE_CHECKING:
    from jrh.document.convert import Node

# A range is two numbers in a file, and every level becomes a label: a slip could ask for millions of them.
MOST_LEVELS: Final = 1000
MOST_FACTORS: Final = 5
"""Factors of one crossing at most: every further one doubles the calls."""


@frozen(kw_only=True)
class WrittenPairwise:
    """A pairwise scale with a tie, or with more than two options."""

    tie: str | int | None = option("The label that prefers neither option.", default=None)
    options: int = option("Number of responses that are compared, 2 to 26: A, B, C, ...", default=2)


@frozen(kw_only=True)
class WrittenScale:
    """The decision space: one of `ordinal`, `labels` and `pairwise`."""

    ordinal: tuple[str | int, ...] | None = option(
        "Levels in order: `[1, 6]` for the whole numbers from 1 to 6, or all levels from the lowest.", default=None
    )
    labels: tuple[str | int, ...] | None = option("Names without order, such as `[YES, NO]`.", default=None)
    pairwise: bool | WrittenPairwise | None = option(
        "Which of A and B: `true`; `{tie: TIE}` if neither may be preferred; `{options: 3}` for A, B and C.",
        default=None,
    )
    positive: str | int | None = option(
        "With `labels`: the positive one, which defines false positives, false negatives and prevalence "
        "in the whole report. Default: the first of two.",
        default=None,
    )

    def __attrs_post_init__(self) -> None:
        """Reject what is no scale, while its place is known."""
        # Built for its checks alone: the reader adds the place to what a constructor raises.
        self.scale()

    def scale(self) -> Scale:
        """Return the scale that is meant.

        Raises:
            JrhError: none or several kinds are given, or the labels make no scale.
        """
        if sum(kind is not None for kind in (self.ordinal, self.labels, self.pairwise)) != 1:
            raise JrhError("give one of `ordinal: [1, 6]`, `labels: [YES, NO]` and `pairwise: true`")
        positive = "" if self.positive is None else _texts((self.positive,))[0]
        return attrs.evolve(self._kind(), positive=positive)

    def _kind(self) -> Scale:
        if self.ordinal is not None:
            return _ordinal(self.ordinal)
        if self.labels is not None:
            return Scale(kind=ScaleKind.LABELS, labels=_texts(self.labels))
        # A key that is written counts as the kind that was chosen, also with the value `false`.
        if self.pairwise is False:
            raise JrhError("write `pairwise: true`, or another scale")
        pairwise = self.pairwise if isinstance(self.pairwise, WrittenPairwise) else WrittenPairwise()
        tie = None if pairwise.tie is None else _texts((pairwise.tie,))[0]
        return Scale.of_pairs(tie=tie, options=pairwise.options)


def _ordinal(levels: tuple[str | int, ...]) -> Scale:
    # Two texts are two levels, and two numbers the ends of a range.
    if len(levels) == 2 and all(isinstance(level, int) for level in levels):  # noqa: PLR2004 - a range has two ends
        low, high = int(levels[0]), int(levels[1])
        if high - low >= MOST_LEVELS:
            raise JrhError(f"an ordinal scale has at most {MOST_LEVELS} levels, got {high - low + 1}")
        return Scale.of_levels(low, high)
    return Scale(kind=ScaleKind.ORDINAL, labels=_texts(levels))


def _texts(labels: tuple[str | int, ...]) -> tuple[str, ...]:
    texts = tuple(str(label) for label in labels)
    if len(texts) == 0 or any(not text.strip() or text != text.strip() for text in texts):
        # Such a label could not be told from the same word in a reply.
        raise JrhError("a label is text without white space around it")
    return texts


@frozen(kw_only=True)
class WrittenTask:
    """What the judge is asked."""

    instruction: Text = option("What the judge is asked to decide.", default=Text(content=""))
    rubric: Text = option("What the labels mean.", default=Text(content=""))
    scale: WrittenScale = option("The decisions a judge can make.")
    mode: Mode | None = option(
        "What the judge is shown; `pairwise` for a pairwise scale and `pointwise` otherwise.", default=None
    )

    def task(self, name: str) -> Task:
        """Return the task that is meant.

        Raises:
            JrhError: the mode does not fit the scale.
        """
        scale = self.scale.scale()
        pairwise = scale.kind is ScaleKind.PAIRWISE
        if pairwise and self.mode not in (None, Mode.PAIRWISE):
            raise JrhError("a pairwise scale compares two responses; leave `mode` out")
        return Task(
            name=name,
            instruction=self.instruction.content,
            rubric=self.rubric.content,
            scale=scale,
            mode=self.mode or (Mode.PAIRWISE if pairwise else Mode.POINTWISE),
        )


@frozen(kw_only=True)
class Named:
    """The keys of every metric, validator and reporter besides its options."""

    name: str | None = option("A name of its own.", default=None)


def _check_gold_source(_: object, __: attrs.Attribute[str], text: str) -> None:
    # Read for its error alone, while the place in the file is known.
    GoldSource.read(text)


@frozen(kw_only=True)
class DataSettings(Named):
    """The keys of every `data` section besides the source's options."""

    sample: Sample | None = option("Take some of the items.", default=None)
    gold_source: str = option(
        f"Where the gold labels come from: {ACCEPTED}. A column of that name takes precedence.",
        _check_gold_source,
        default="",
    )
    covariates: tuple[str, ...] = option(
        "Columns to test verdicts for, besides `length` and `author`; a comparison needs NAME_a, NAME_b.", default=()
    )


@frozen(kw_only=True)
class KeySettings:
    """The keys of every parser besides its options: none; its name is its key."""


@frozen(kw_only=True)
class TestSettings(Named):
    """The keys of every test besides the perturber's options."""

    # pytest would take the class for tests.
    __test__ = False

    validate: tuple[Json, ...] = option(
        "Validators every case has to pass, in addition to the perturber's own.", default=()
    )
    on_mismatch: OnMismatch = option(
        "What to do with a case when a validator arrives at a different label than expected.",
        default=attrs.fields(TestUse).on_mismatch.default,
    )
    repeats: int | None = option("How often to ask each case.", CHECK_REPEATS, default=None)
    sample: Sample | None = option("Perturb some of the task's items only.", default=None)
    ids: tuple[str | int, ...] = option(
        "Perturb the items with these ids only; a `sample` is then drawn from them.", default=()
    )
    allow_empty: bool = option(
        "Accept a test without any case, which otherwise ends the run with code 3.", default=False
    )


@frozen(kw_only=True)
class JudgeSettings(Named):
    """The keys of every judge besides its options."""

    folds: int = option("Folds for judges that are trained.", CHECK_FOLDS, default=attrs.fields(JudgeUse).folds.default)


@frozen(kw_only=True)
class Role:
    """A place of the suite where a component is named."""

    key: str
    """The key that names the component in a mapping of name and options: `test: format`."""
    plural: str
    """The registry in `Plugins`."""
    settings: type
    own_name: bool = True
    """`name` is the suite's name for the component, also where the component has an option of this name."""

    @property
    def noun(self) -> str:
        """Return the key with its article."""
        return f"an {self.key}" if self.key.startswith("a") else f"a {self.key}"


CHAIN: Final = "chain"
"""The key of a test that applies several perturbers in turn."""
CROSS: Final = "cross"
"""The key of a test for every combination of several perturbers."""
DATA: Final = Role(key="source", plural="data_sources", settings=DataSettings, own_name=False)
TEST: Final = Role(key="test", plural="perturbers", settings=TestSettings)
JUDGE: Final = Role(key="judge", plural="judges", settings=JudgeSettings)
ADD: Final = "add"
"""The key of metrics computed in addition to the default ones."""
METRIC: Final = Role(key="metric", plural="metrics", settings=Named)
VALIDATOR: Final = Role(key="validator", plural="validators", settings=Named)
ALLOCATOR: Final = Role(key="allocator", plural="allocators", settings=Named)
REPORTER: Final = Role(key="reporter", plural="reporters", settings=Named)
PARSER: Final = Role(key="parser", plural="parsers", settings=KeySettings, own_name=False)
SECTIONS: Final[Mapping[str, str]] = {
    "name": "The suite's name.",
    "data": "The items of the only task.",
    "task": "What the judge is asked, of the only task.",
    "tasks": "Several tasks, each with `name`, `data` and `task`, and `tests` of its own if it has any.",
    "models": "Chat models by name.",
    "parsers": "Parsers with options of their own, by name.",
    "tests": "What to change before asking the judge again, in every task.",
    "judges": "The judges under test.",
    "allocate": "What drops judges, or ends the judging, after a batch of items. Default: nothing does.",
    "metrics": "Metrics to compute: a list, or `add` with a list of additional ones. Default: those that reports show.",
    "reports": "Reports to write. Default: every reporter that is on by default.",
    **{attribute.name: attribute.metadata["help"] for attribute in attrs.fields(SuiteSettings)},
}
"""The keys of a suite -> what they hold, in the order they are listed in messages."""


LONGEST_NAME: Final = 100
"""Characters of a name: it becomes part of file names, which may have 255 bytes."""


def unfit_name(name: str) -> str:
    """Say why a text cannot name a part of a suite; empty where it can."""
    if len(name) > LONGEST_NAME:
        return f"the name '{name[:20]}...' has {len(name)} characters; choose one of at most {LONGEST_NAME}"
    if name and not name.strip("."):
        return f"the name '{name}' has dots only and would be a directory; choose another"
    if name.isprintable() and name == name.strip() and not {"/", "\\"} & set(name):
        return ""
    return f"the name '{name}' has a slash, a line break or white space around it; choose another"


T = TypeVar("T")


@frozen
class OneVerdict:
    """One verdict on every item of the data, in the mode that is written or that the scale implies."""

    written: WrittenTask

    def tasks(self, name: str, report: Callable[..., None]) -> Sequence[Task]:
        """Return the only task."""
        try:
            return (self.written.task(name),)
        except JrhError as error:
            report(str(error), "mode")
            return ()

    def expand_items(self, items: Iterable[Item], task: Task, problem: Callable[[str], None]) -> Iterable[Item]:  # noqa: ARG002
        """Return the items as they are."""
        return items


_SHOWN: Final[Mapping[Mode, str]] = {
    Mode.POINTWISE: "one response",
    Mode.PAIRWISE: "two responses or more",
    Mode.TRANSCRIPT: "the transcript of an agent",
}
OWN: Final = tuple(
    Entry(
        spec=ModeSpec(name=mode.value, summary=f"one verdict on {shown}", options=WrittenTask, factory=OneVerdict),
        distribution="jrh-core",
        version=__version__,
        plugin="jrh",
    )
    for mode, shown in _SHOWN.items()
)
"""The modes of jrh; the first one is that of a section without `mode`."""


def all_modes(plugins: Plugins) -> Registry[ModeSpec]:
    """Return the modes of jrh and of plugins."""
    return Registry(plugins.modes.role, (*OWN, *plugins.modes), plugins.problems)


def read_tasks(node: Node, name: str, plugins: Plugins) -> tuple[Sequence[Task], TaskMode | None]:
    """Read a section `task` in its mode: one task or several, and what makes their items."""
    from jrh.plugins.factories import make

    try:
        chosen = _mode_of(node, all_modes(plugins))
    except JrhError as error:
        node.report(str(error), "mode")
        return (), None
    written: Any = node.try_read(chosen.spec.options)
    if written is None:
        return (), None
    known = len(node.problems)
    try:
        # Without a build context: tasks are read before any component is looked up.
        mode: TaskMode = make(chosen, written, None)
        tasks = tuple(mode.tasks(name, node.report))
    # Its problems are of a file that the section names, and know their lines there.
    except SuiteError as error:
        node.problems.extend(error.problems)
        return (), None
    except JrhError as error:
        node.report(str(error))
        return (), None
    except Exception as error:  # a plugin's code may fail in any way
        node.report(f"the mode '{chosen.spec.name}' failed: {error_line(error)}")
        return (), None
    # A mode may name its tasks after what the section says.
    for task in tasks:
        if task.name != name and (unfit := unfit_name(task.name)):
            node.report(unfit)
    # A mode reports through `node`: after a mistake, what it made is not to be used.
    return (tasks if len(node.problems) == known else ()), mode


def _mode_of(node: Node, modes: Registry[ModeSpec]) -> Entry[ModeSpec]:
    """Return the mode that has a key of the section to itself, or else the one that `mode` names."""
    usual = field_names(WrittenTask)
    # A section with a key of its own needs no `mode`.
    for entry in modes:
        if any(key in node.value for key in field_names(entry.spec.options) if key not in usual):
            return entry
    written = node.value.get("mode")
    return modes.find(written) if isinstance(written, str) else OWN[0]


def read_file(path: Path, kind: type[T], check: Callable[[T], Iterable[tuple[Location, str]]] | None = None) -> T:
    """Read a YAML or JSON file that a section names as a type, strictly.

    Args:
        path: the file.
        kind: attrs classes, lists of them and so on, as the options of components.
        check: finds what is wrong with the value, each with the keys and positions of its place.

    Raises:
        SuiteError: with every mistake of the file, each with its line and column.
    """
    from jrh.document.convert import collect
    from jrh.document.yaml_reader import read_document

    document: Document = read_document(path)
    value, problems = collect(document.value, kind, base=path.parent, document=document)
    if value is not None and check is not None:
        problems = [document.wrong(at, message) for at, message in check(value)]
    if problems or value is None:
        raise SuiteError(problems)
    return value
