"""Typed declarations of the components that a plugin provides, and of their options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from pkgutil import resolve_name
from typing import Any, Final, TypeAlias, TypeVar

import attrs
from attrs import Factory as Default
from attrs import field, frozen
from attrs.validators import ge, gt, in_, instance_of, lt, matches_re, min_len, optional

from jrh.plugins.protocols import (
    Allocator,
    BatchJudge,
    BuildContext,
    ChatModel,
    DataSource,
    Executor,
    Exporter,
    Importer,
    Judge,
    Metric,
    Parser,
    Perturber,
    Reporter,
    Rule,
    SectionWriter,
    SetPerturber,
    SetValidator,
    SimulatedJudge,
    Stage,
    TaskMode,
    TrainedJudge,
    Validator,
)
from jrh.values.items import Mode
from jrh.values.measures import Flag, FlagEffect

T = TypeVar("T")


def option(
    help: str, *validators: Callable[[Any, Any, Any], Any], default: Any = attrs.NOTHING, repr: bool = True
) -> Any:
    """Make a field of an options class; `jrh plugins show` prints its help text and its default.

    Example:
        `attempts: int = option("attempts per text", ge(1), le(20), default=3)`

    Args:
        help: what the option does, in one sentence.
        validators: attrs validators; a value has to pass all of them.
        default: the value where a suite says nothing, or an `attrs.Factory`; without one the option is required.
        repr: whether the value may be shown.
    """
    # attrs runs a single validator as it is, and several one after the other.
    check = validators[0] if len(validators) == 1 else list(validators) or None
    return attrs.field(default=default, validator=check, repr=repr, metadata={"help": help})


def read_value(value: Any, kind: type[T]) -> T:
    """Return a plain value, such as one from JSON, as a type, strictly: as the options of a suite are read.

    Raises:
        JrhError: it does not fit; the text says where.
    """
    from jrh.document.convert import structure  # declarations are made without cattrs

    return structure(value, kind)


def plain_value(value: object) -> Any:
    """Return a value as JSON can hold it; `read_value` reads it back."""
    from jrh.document.convert import to_json

    return to_json(value)


Factory: TypeAlias = str | Callable[[Any, BuildContext], T] | Callable[[Any], T] | Callable[[], T]
"""What makes a component: `package.module:Name`, imported when the component is built, or a callable.

It is called with the options and the build context, with the options alone if it takes one argument, and with nothing
if it takes none. A plugin that is installed writes the import string, so that declaring imports no work; a callable
is for local plugins in a single file.
"""
ALL_MODES = frozenset(Mode)
"""Pointwise, pairwise and transcript."""
LONGEST_NAME: Final = 80
"""Characters of a component's name: it is part of file names and of columns of tables."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")
_IMPORT_STRING: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def check_declared(_spec: object, _field: Any, factory: Any) -> None:
    """Validate the form of a declared factory (an attrs validator). Imports nothing."""
    if isinstance(factory, str):
        if _IMPORT_STRING.fullmatch(factory) is None:
            raise ValueError(f"the factory '{factory}' must have the form 'package.module:Name'")
    elif not callable(factory):
        raise TypeError(f"the factory must be 'package.module:Name' or a callable, got {type(factory).__name__}")


def _check_name(_spec: object, _field: Any, name: Any) -> None:
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        # A declared name may be of any length, and the message goes to a terminal.
        shown = name if not isinstance(name, str) or len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]} ..."
        raise ValueError(f"the name {shown!r} must begin with a-z or 0-9, and continue with these, '.', '_' and '-'")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"the name '{name[:20]}...' has {len(name):,} characters; at most {LONGEST_NAME} are allowed")


@frozen(kw_only=True)
class NoOptions:
    """For components without options."""


class Scope(Enum):
    """How much a perturber or a validator sees at once: one item, or all items of a task."""

    ITEM = "item"
    SET = "set"


class JudgeKind(Enum):
    """How jrh calls a judge, and what the judge may see."""

    SINGLE = "single"
    """`Judge`: one question at a time, asynchronously, no labels."""
    BATCH = "batch"
    """`BatchJudge`: many questions at once, no labels."""
    TRAINED = "trained"
    """`TrainedJudge`: fitted on the labels of the other folds only."""
    SIMULATED = "simulated"
    """`SimulatedJudge`: receives the right answer; marked as simulated wherever it appears."""


class ReportTarget(Enum):
    """Where a report goes."""

    TERMINAL = "terminal"
    """Printed at the end of a run."""
    FILE = "file"
    """Written into the run directory."""
    DIRECTORY = "directory"
    """Several files, written into a directory of the run directory."""
    NOTEBOOK = "notebook"
    """A piece of HTML that a notebook shows for the result of `jrh.run`; a file if a suite names the reporter."""


@frozen(kw_only=True)
class Spec:
    """Hold the fields common to all declarations. Each kind adds `factory`, which makes the component."""

    name: str = field(validator=_check_name)
    """Lower case, as a suite writes it."""
    summary: str
    """One line for `jrh plugins list`."""
    options: type = NoOptions
    """A frozen attrs class; structured strictly from the suite. Every field's `metadata["help"]` is shown.

    A method `check_suite(suite, plugins)` of it yields places in the options, such as `("tests", 0)`, with what is
    wrong there.
    """
    cpus: float = field(default=1.0, validator=gt(0))
    """Processors that it keeps busy where an executor works on it elsewhere; a perturber's, validator's or judge's."""
    gpus: float = field(default=0.0, validator=ge(0))
    """Graphics processors that it needs there; a part of one, such as 0.5, shares it."""
    starter: str = ""
    """YAML that `jrh init` puts into a new suite, comments included; empty: not suggested.

    For a data source: the suite's `data:` and `task:` (or `tasks:`) sections. For perturbers and judges: one list
    entry. Must run without a key and without a network, but for a judge with the key `model`: it is written with the
    model providers' starters, as a comment unless `jrh init --judge MODEL` asks for it.

    For a model provider: one entry of `models:`, whose name is the vendor's in `--judge VENDOR/MODEL`. The provider
    whose `model:` has a slash takes the models of all other vendors.
    """
    instead_of: Mapping[str, str] = field(factory=dict)
    """Ambiguous names that people write -> what this component is, in a few words.

    Where no component has such a name, the error asks which of those that declare it is meant.
    """


@frozen(kw_only=True)
class DataSourceSpec(Spec):
    """Declare a data source."""

    factory: Factory[DataSource] = field(validator=check_declared)
    takes: str = ""
    """Name of the option, a `CodeName`, that takes rows from Python: a suite in Python may hold a list of mappings or
    a data frame in place of `source`."""
    preset: str = ""
    """YAML for `jrh init --preset NAME`: the suite's `data:` and `task:`, and `tests:` if the usual ones do not fit.

    `{data}` is replaced by where the user's copy is, or that it is downloaded; `{path}` where it must be a copy. Empty:
    no benchmark.
    """
    suffixes: tuple[str, ...] = ()
    """Ends of the names of files that it reads, such as `.csv`, for `jrh init --data FILE`."""
    propose: str = ""
    """`package.module:function` that guesses a suite's `data:` and `task:` for such a file.

    It gets the path, the path as the suite writes it, and what the user said: target -> column (empty: none), the
    scale or None, text of a label -> label, and options of the data source. It returns the YAML, and sentences that say
    what was guessed.
    """


@frozen(kw_only=True)
class PerturberSpec(Spec):
    """Declare a perturber: one test family."""

    factory: Factory[Perturber | SetPerturber] = field(validator=check_declared)
    scope: Scope = Scope.ITEM
    modes: frozenset[Mode] = ALL_MODES
    validators: tuple[str, ...] = ()
    """Validators that every draft must pass, by component name; they run before those of the suite."""
    whole_data: bool = False
    """Whether the perturber reads `BuildContext.data()`: then its cases also depend on items outside of the sample."""


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
    """Whether the judge sees the wording of the prompt. If not, it is not asked cases that change only the wording."""
    takes: str = ""
    """Name of the option, a `CodeName`, that takes a callable from Python: `jrh.run(..., judges=[callable])` uses the
    judge that has one."""


@frozen(kw_only=True)
class AllocatorSpec(Spec):
    """Declare an allocator of the judge stage. Its factory serves all tasks of a run."""

    factory: Factory[Allocator] = field(validator=check_declared)
    sees_verdicts: bool = False
    """Whether it is shown what the verdicts are. If so, reports say that intervals are conditional on its decisions.

    If not, it sees neither labels, scores nor rationales, and what it decides cannot follow them.
    """


@frozen(kw_only=True)
class ParserSpec(Spec):
    """Declare a parser."""

    factory: Factory[Parser] = field(validator=check_declared)


class Role(Enum):
    """What a measure is to the rules and the reports, whatever its name."""

    AGREEMENT = "agreement"
    """Agreement with the labels of people."""
    EXPECTATION = "expectation"
    """Share of verdicts that meet the expectation of a test."""
    SELF_AGREEMENT = "self-agreement"
    """Share of verdicts that equal the same judge's verdict in the reference condition."""
    NOISE = "noise"
    """How often reruns of one question disagree."""
    CHANGE = "change"
    """How much more often a test changes verdicts than reruns do."""
    ORDER = "order"
    """Preference for a place among the options."""
    MISSING_SHARE = "missing-share"
    """Share of trials without a verdict."""
    DISTANCE = "distance"
    """Mean distance of verdicts to the right level."""
    SCORE = "score"
    """The score of a response over its criteria."""
    SCORE_ERROR = "score-distance"
    """Distance of that score to that of the gold labels."""


@frozen(kw_only=True)
class MeasureInfo:
    """Describe a measure of a metric: what it is, its unit, which values are better, how its interval is made."""

    name: str
    """A `*` replaces what differs: `*-position-rate`."""
    formula: str
    """What it is, in one line of Markdown."""
    unit: str = "proportion"
    """The unit that its measures state."""
    better: str = field(default="", validator=in_(("", "higher", "lower", "zero")))
    """Which values speak for the judge: `higher`, `lower`, `zero`; empty if none do."""
    interval: str = ""
    """How the interval is made, with the `method` that it states; empty: none, or for a rate that of every rate."""
    flags: tuple[str, ...] = ()
    """Flags that it can have besides those of every measure."""
    source: str = ""
    """Where the formula comes from."""
    role: str = field(default="", validator=in_(("", *(role.value for role in Role))))
    """What rules and reports ask for instead of a name: one of `Role`; empty: nothing in particular."""
    rate: bool = False
    """Whether it is a share of verdicts (`MeasureBuilder.rate`)."""
    tested: bool = False
    """Whether `jrh_measuring.p_values` tests it, which adds `-p`, `-p-least`, `-p-holm` and `-p-bh` to its name."""
    on_request: bool = False
    """Whether it is made only where the options of its metric ask for it: no report, rule or gate needs it."""

    def describes(self, name: str) -> bool:
        """Return whether a measure of this name is the one described, or a p-value of it."""
        # Only where p-values are derived: elsewhere `-p` may be the end of a measure's own name.
        plain = re.sub(r"-p(-least|-holm|-bh)?$", "", name) if self.tested else name
        return any(re.fullmatch(re.escape(self.name).replace(r"\*", ".+"), text) for text in (name, plain))


@frozen(kw_only=True)
class MetricSpec(Spec):
    """Declare a metric. Default metrics run unless the suite lists its own."""

    factory: Factory[Metric] = field(validator=check_declared)
    default: bool = True
    """Whether it runs without being named in the suite. Use False if no report shows it and few runs need it."""
    measures: tuple[MeasureInfo, ...] = ()
    """What it measures, for the page of measures and `jrh plugins show`; contract tests find measures that it omits."""

    @property
    def rates(self) -> frozenset[str]:
        """Return its measures that are shares of verdicts: the plan says which gate rules so many items can decide."""
        return frozenset(measure.name for measure in self.measures if measure.rate)


@frozen(kw_only=True)
class FlagSpec(Spec):
    """Declare a flag of measures: a reason to doubt a number."""

    # A single sentence on one line: reports and the page of measures print it after the name of the flag.
    meaning: str = field(validator=matches_re(r"[^\n]{1,300}\.", re.DOTALL))
    """What is wrong and how much to care, in one sentence that ends with a full stop."""
    # The list of plugins and the report say the same sentence about a flag; two texts would drift apart.
    summary: str = field(init=False, default=Default(attrgetter("meaning"), takes_self=True))
    effect: FlagEffect = field(default=FlagEffect.NOTHING, validator=instance_of(FlagEffect))
    settled_by: tuple[str, ...] = ()
    """Methods of intervals, or their beginnings, that hold in spite of the flag."""

    @property
    def flag(self) -> Flag:
        """Return what a report holds of the declaration."""
        return Flag(name=self.name, meaning=self.meaning, effect=self.effect, settled_by=self.settled_by)


class RuleScope(Enum):
    """What a rule looks at, and how often it is asked."""

    JUDGE = "judge"
    """One judge of a report, with all its tasks and tests; asked judge by judge."""
    DATA = "data"
    """The data and the tests of a report; asked once, and it tests no hypothesis."""


@frozen(kw_only=True)
class KindSpec:
    """Declare a kind of finding that a rule writes."""

    name: str = field(validator=_check_name)
    order: int = 1000
    """Its place among findings of one severity; equal ones keep the order of rules."""
    floored: bool = False
    """Whether its effects are held against an effect floor; a suite may then set one under `findings: floors:`."""
    floor: float | None = field(default=None, validator=optional([ge(0), lt(1)]))
    """Its own default of the floor; None: that of the suite."""
    silences: tuple[str, ...] = ()
    """Kinds that a finding of this kind makes redundant for the same judge, task and test where it is bad."""
    doubts: tuple[str, ...] = ()
    """Measures of the same task of which nothing good is said if this finding about the data is at least a warning."""


@frozen(kw_only=True)
class RuleSpec(Spec):
    """Declare a rule: it tests hypotheses about measures and writes what was decided as findings."""

    factory: Factory[Rule] = field(validator=check_declared)
    scope: RuleScope = RuleScope.JUDGE
    reads: tuple[str, ...] = ()
    """The measures it reads, or their roles; the only place where a rule names what another plugin declares."""
    kinds: tuple[KindSpec, ...] = ()
    """The kinds of finding that it writes."""


@frozen(kw_only=True)
class ModelSpec(Spec):
    """Declare a provider of chat models."""

    factory: Factory[ChatModel] = field(validator=check_declared)
    simulated: bool = False
    """Whether it makes up its answers; everything that uses it is marked as simulated."""
    deferred: bool = False
    """Whether it answers hours later (`jrh.plugins.DeferredModel`): its calls survive a kill, and no preflight asks."""


@frozen(kw_only=True)
class ReporterSpec(Spec):
    """Declare a reporter. Default reporters write unless the suite lists its own."""

    factory: Factory[Reporter] = field(validator=check_declared)
    target: ReportTarget = ReportTarget.FILE
    filename: str = ""
    """Name of the file or directory inside the run directory; empty for `TERMINAL` reporters."""
    default: bool = True
    """Whether it writes if the suite lists no reports. Other reporters write only if the suite names them."""


@frozen(kw_only=True)
class ModeSpec(Spec):
    """Declare a mode of judging: a way to write a task, and the items that its judges are asked about."""

    factory: Factory[TaskMode] = field(validator=check_declared)
    options: type = field()
    """The keys of a section `task` in this mode, `mode` among them. A key that no mode of jrh has chooses the mode."""

    @options.validator
    def _check_options(self, _field: object, options: type) -> None:
        # The section is read with these options alone, and an unknown key is an error: without the field, a suite could
        # not name the mode.
        if "mode" not in getattr(options, "__annotations__", {}):
            raise ValueError("the options of a mode are the keys of a section `task`: give them a field `mode`")


OWN_STAGES: Final = ("load", "perturb", "judge")
"""The stages of jrh that a declared one may come after or before."""


@frozen(kw_only=True)
class StageSpec(Spec):
    """Declare a stage of a run."""

    factory: Factory[Stage] = field(validator=check_declared)
    after: tuple[str, ...] = ("judge",)
    """Stages that end before this one begins: `load`, `perturb`, `judge`, or the names of declared ones.

    Those that are not installed are ignored.
    """
    before: tuple[str, ...] = ()
    """Stages that wait for this one."""
    asks: bool = False
    """Whether it asks models: after the judges it then runs before records are read, and `work.records` is empty."""
    of_data: bool = False
    """Whether the key is one of sections `data`; the factory gets None, and `Stage.label` the options of a task."""
    key: str = ""
    """The key of a suite that holds its options; the factory gets None where a suite has no such key.

    Of options with a single field, a suite may write the value alone.
    """


@frozen(kw_only=True)
class SectionSpec(Spec):
    """Declare a section of reports."""

    factory: Factory[SectionWriter] = field(validator=check_declared)
    title: str = field(validator=min_len(1))
    """Its heading."""
    reads: tuple[str, ...] = ()
    """Names of the measures it shows; a `*` replaces what differs."""
    order: int = 50
    """Its place among sections of the same importance, the smallest number first."""
    kinds: tuple[str | type, ...] = ()
    """Kinds of parts that it has besides tables and texts, such as `jrh_measuring:HeatPart`: the JSON Schema of results
    describes them. A plugin of one file gives its own class."""

    def part_kinds(self) -> tuple[type, ...]:
        """Import the kinds of parts."""
        # Resolved on call: specifications are made while plugins load, which must import none of the work.
        return tuple(resolve_name(kind) if isinstance(kind, str) else kind for kind in self.kinds)


@frozen(kw_only=True)
class ImporterSpec(Spec):
    """Declare an importer: it reads the verdicts that another tool has exported."""

    factory: Factory[Importer] = field(validator=check_declared)


@frozen(kw_only=True)
class ExporterSpec(Spec):
    """Declare an exporter: it brings the measures and records of a run into another tool."""

    factory: Factory[Exporter] = field(validator=check_declared)
    attach: tuple[str, ...] = ()
    """Names of reporters that write files; the exporter gets what they write. Those not installed are left out."""


@frozen(kw_only=True)
class ExecutorSpec(Spec):
    """Declare where the units of a run are worked on. The factory gets the options and a logger."""

    # Not `Factory`: an executor has no task, model or data, so that a build context would be empty.
    factory: Callable[..., Executor] | str = field(validator=check_declared)


@frozen
class ComponentKind:
    """A kind of component: what declares it, and what a component of it follows."""

    role: str
    """In words."""
    spec: type[Spec]
    protocol: type | None
    """None for what is never built."""


KINDS: Final[Mapping[str, ComponentKind]] = {
    "data_sources": ComponentKind("data source", DataSourceSpec, DataSource),
    "modes": ComponentKind("mode", ModeSpec, TaskMode),
    "perturbers": ComponentKind("perturber", PerturberSpec, Perturber),
    "validators": ComponentKind("validator", ValidatorSpec, Validator),
    "models": ComponentKind("model provider", ModelSpec, ChatModel),
    "judges": ComponentKind("judge", JudgeSpec, Judge),
    "allocators": ComponentKind("allocator", AllocatorSpec, Allocator),
    "parsers": ComponentKind("parser", ParserSpec, Parser),
    "metrics": ComponentKind("metric", MetricSpec, Metric),
    "stages": ComponentKind("stage", StageSpec, Stage),
    "findings": ComponentKind("rule", RuleSpec, Rule),
    "sections": ComponentKind("section", SectionSpec, SectionWriter),
    "reporters": ComponentKind("reporter", ReporterSpec, Reporter),
    "importers": ComponentKind("importer", ImporterSpec, Importer),
    "exporters": ComponentKind("exporter", ExporterSpec, Exporter),
    "executors": ComponentKind("executor", ExecutorSpec, Executor),
    "flags": ComponentKind("flag", FlagSpec, None),
}
"""Name of the registry, and of the hook behind `jrh_` -> the kind: in pipeline order, then those no suite names."""
