"""Typed declarations: what a plugin says it provides."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from attrs import field, frozen
from attrs.validators import matches_re

from jrh.plugins.factories import check_declared
from jrh.plugins.protocols import (
    BatchJudge,
    BuildContext,
    ChatModel,
    DataSource,
    Judge,
    Metric,
    Parser,
    Perturber,
    Reporter,
    SetPerturber,
    SetValidator,
    SimulatedJudge,
    TrainedJudge,
    Validator,
)
from jrh.values.types import Mode

T = TypeVar("T")

Factory: TypeAlias = str | Callable[[Any, BuildContext], T] | Callable[[Any], T] | Callable[[], T]
"""What makes a component: `package.module:Name`, imported when the component is built, or a callable.

It is called with the options and the build context, with the options alone if it takes one argument, and with nothing
if it takes none. A plugin that is installed writes the import string, so that declaring imports no work; a callable
is for local plugins in a single file.
"""
ALL_MODES = frozenset(Mode)
"""Pointwise, pairwise and transcript."""


@frozen(kw_only=True)
class NoOptions:
    """For components without options."""


class Scope(Enum):
    """How much a perturber or a validator has to see at once."""

    ITEM = "item"
    SET = "set"


class JudgeKind(Enum):
    """How a judge is called, and what it may see."""

    SINGLE = "single"
    """`Judge`: one question at a time, asynchronously, no labels."""
    BATCH = "batch"
    """`BatchJudge`: many questions at once, no labels."""
    TRAINED = "trained"
    """`TrainedJudge`: fitted on the labels of the other folds only."""
    SIMULATED = "simulated"
    """`SimulatedJudge`: handed the truth; marked as simulated wherever it appears."""


class ReportTarget(Enum):
    """Where a report goes."""

    TERMINAL = "terminal"
    """Printed at the end of a run."""
    FILE = "file"
    """Written into the run directory."""
    DIRECTORY = "directory"
    """Several files, written into a directory of the run directory."""


@frozen(kw_only=True)
class Spec:
    """What every declaration has. Each kind adds `factory`, which makes the component."""

    name: str = field(validator=matches_re(r"[a-z0-9][a-z0-9._-]*"))
    """Lower case, as a suite writes it."""
    summary: str
    """One line for `jrh plugins list`."""
    options: type = NoOptions
    """A frozen attrs class; structured strictly from the suite. Every field's `metadata["help"]` is shown."""
    starter: str = ""
    """YAML that `jrh init` puts into a new suite, comments included; empty: not suggested.

    For a data source: the suite's `data:` and `task:` (or `tasks:`) sections. For perturbers and judges: one list
    entry. Must run without a key and without a network.
    """


@frozen(kw_only=True)
class DataSourceSpec(Spec):
    """Declare a data source."""

    factory: Factory[DataSource] = field(validator=check_declared)


@frozen(kw_only=True)
class PerturberSpec(Spec):
    """Declare a perturber: one test family."""

    factory: Factory[Perturber | SetPerturber] = field(validator=check_declared)
    scope: Scope = Scope.ITEM
    modes: frozenset[Mode] = ALL_MODES
    validators: tuple[str, ...] = ()
    """Validators every draft has to pass, by component name, before those the suite names."""


@frozen(kw_only=True)
class ValidatorSpec(Spec):
    """Declare a validator."""

    factory: Factory[Validator | SetValidator] = field(validator=check_declared)
    scope: Scope = Scope.ITEM


@frozen(kw_only=True)
class JudgeSpec(Spec):
    """Declare a judge."""

    factory: Factory[Judge | BatchJudge | TrainedJudge | SimulatedJudge] = field(validator=check_declared)
    kind: JudgeKind = JudgeKind.SINGLE
    modes: frozenset[Mode] = ALL_MODES
    reads_prompt: bool = True
    """Whether the wording of the prompt reaches the judge; if not, cases that change only it are not put."""


@frozen(kw_only=True)
class ParserSpec(Spec):
    """Declare a parser."""

    factory: Factory[Parser] = field(validator=check_declared)


@frozen(kw_only=True)
class MetricSpec(Spec):
    """Declare a metric; every declared metric that is a default runs unless the suite lists some."""

    factory: Factory[Metric] = field(validator=check_declared)
    default: bool = True
    """Whether it runs without being named. Declare False for what no report shows and not every run needs."""


@frozen(kw_only=True)
class ModelSpec(Spec):
    """Declare a provider of chat models."""

    factory: Factory[ChatModel] = field(validator=check_declared)
    simulated: bool = False
    """Its answers are made up; whatever uses it is marked as simulated."""


@frozen(kw_only=True)
class ReporterSpec(Spec):
    """Declare a reporter; every declared reporter that is a default writes unless the suite lists some."""

    factory: Factory[Reporter] = field(validator=check_declared)
    target: ReportTarget = ReportTarget.FILE
    filename: str = ""
    """The name of the file, or of the directory, in the run directory; not for `TERMINAL` reporters."""
    default: bool = True
    """Whether it writes where the suite lists no reports; others write only where they are named."""


AnySpec: TypeAlias = (
    DataSourceSpec | PerturberSpec | ValidatorSpec | JudgeSpec | ParserSpec | MetricSpec | ModelSpec | ReporterSpec
)
