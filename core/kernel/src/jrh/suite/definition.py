"""A suite as values: what `suite.yaml` says, before any component is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal

from attrs import Factory, field, frozen
from attrs.validators import ge, gt, le, lt, optional

from jrh.document.positions import Location
from jrh.hashing import content_id
from jrh.plugins.protocols import TaskMode
from jrh.plugins.specs import option
from jrh.values.cases import Sampling
from jrh.values.finding import FindingSettings
from jrh.values.items import Task
from jrh.values.json_values import Json

MOST_REPEATS: Final = 10_000
"""More is a slip of the pen, and would be planned for hours."""
CHECK_REPEATS: Final = optional([gt(0), le(MOST_REPEATS)])
"""Checks the repeats of a test (an attrs validator)."""
# A judge learns from the other folds alone: with a single one it would be trained on nothing.
CHECK_FOLDS: Final = ge(2)
"""Checks the folds of a judge (an attrs validator)."""


@frozen(kw_only=True)
class Use:
    """One component as the suite uses it."""

    name: str
    """The suite's name for it; the component's unless the suite says `name:`."""
    component: str
    """The component as written: `name` or `distribution/name`."""
    options: Mapping[str, Json] = Factory(dict)
    """What the suite sets, not yet structured."""
    location: Location = ()
    """Where its options are, such as `("tests", 2, "validate", 0)`."""


@frozen(kw_only=True)
class Sample:
    """Take some of the items."""

    n: int = field(validator=gt(0))
    """How many items."""
    seed: int = 0
    """Another seed draws other items."""
    stratify: bool | str = False
    """Keep the shares of the strata (`true`), or of a field or metadata key."""


@frozen(kw_only=True)
class DataUse(Use):
    """The `data` section."""

    sample: Sample | None = None
    gold_source: str = ""
    """Where the gold labels come from, for items whose source does not say."""
    stages: Mapping[str, Any] = Factory(dict)
    """Name of a declared stage -> its options, for those whose keys the section has."""
    covariates: tuple[str, ...] = ()
    """Further columns that verdicts are tested for, besides `length` and `author`."""


class OnMismatch(Enum):
    """What a validator that reaches another label than expected does to the case."""

    REJECT = "reject"
    RELABEL = "relabel"
    """The label the validator reached becomes the expected one."""
    KEEP = "keep"


@frozen(kw_only=True)
class TestUse(Use):
    """One entry of `tests`."""

    # Or pytest takes a class whose name begins with `Test` for tests.
    __test__ = False

    validate: tuple[Use, ...] = ()
    on_mismatch: OnMismatch = OnMismatch.REJECT
    repeats: int | None = field(default=None, validator=CHECK_REPEATS)
    """Ask every case so often; None: as the perturber says."""
    sample: Sample | None = None
    """Perturb some of the task's items only."""
    ids: tuple[str, ...] = ()
    """Perturb these items only; empty: all."""
    allow_empty: bool = False
    """Accept that the test makes no case; otherwise such a run ends with exit code 3."""
    tasks: tuple[str, ...] | None = None
    """The tasks the test belongs to; None for a test of the suite, which serves all of them."""
    steps: tuple[TestUse, ...] = ()
    """The perturbers of a chain in the order they are applied; empty where the test is one perturber."""


@frozen(kw_only=True)
class JudgeUse(Use):
    """One entry of `judges`."""

    folds: int = field(default=5, validator=CHECK_FOLDS)
    """Folds for judges that are trained."""


@frozen(kw_only=True)
class Price:
    """Prices in US dollars: per million tokens, and per call."""

    input: float = field(validator=ge(0))
    """Of the prompt."""
    output: float = field(validator=ge(0))
    """Of the reply, reasoning included."""
    cached_input: float | None = field(default=None, validator=optional(ge(0)))
    """Of tokens of the prompt that the provider says it had cached. Default: as all others."""
    call: float = field(default=0.0, validator=[ge(0), le(1e6)])
    """Of every answer, whatever its length."""


@frozen(kw_only=True)
class Limits:
    """How hard a model may be used."""

    concurrency: int = field(default=16, validator=gt(0))
    requests_per_minute: float | None = field(default=None, validator=optional(gt(0)))
    tokens_per_minute: float | None = field(default=None, validator=optional(gt(0)))
    timeout: float = field(default=120.0, validator=gt(0))
    """Seconds for one attempt, from sending to the last byte."""
    max_attempts: int = field(default=5, validator=gt(0))
    max_wait: float = field(default=300.0, validator=ge(0))
    """Seconds all retries of one call may wait in total."""


@frozen(kw_only=True)
class Turns:
    """How the messages of a request are arranged for a model."""

    system: Literal["system", "user"] = "system"
    """Where a system message goes: a turn of its own, or, where the provider takes none, `user`: before the text of the
    first user message."""


@frozen(kw_only=True)
class ModelUse(Use):
    """One entry of `models`; `component` is the provider."""

    sampling: Sampling = Sampling()
    limits: Limits = Limits()
    price: Price | None = None
    """Overrides the provider's own prices."""
    turns: Turns = Turns()
    code: str = ""
    """Digest of the provider's source, where it is not an installed release; set when the model is built."""


@frozen(kw_only=True)
class TaskUse:
    """One task with its data."""

    task: Task
    data: DataUse
    # Not compared: two readings of one suite make two objects of the mode.
    mode: TaskMode | None = field(default=None, eq=False, repr=False)
    """What makes the items that judges are asked about of those of the data; None: they are the same."""


@frozen(kw_only=True)
class Budget:
    """What a run may spend; None is no limit."""

    usd: float | None = field(default=None, validator=optional(ge(0)))
    """US dollars; a call is not sent if its worst case would exceed them."""
    calls: int | None = field(default=None, validator=optional(ge(0)))
    """Model calls, those of writers and validators included."""


@frozen(kw_only=True)
class Reference:
    """The unperturbed condition."""

    repeats: int = option(
        "How often every item is judged unperturbed; the disagreement is the noise floor.",
        ge(1),
        le(MOST_REPEATS),
        # The least that shows whether a judge agrees with itself; with one there is no rerun to compare with.
        default=2,
    )


@frozen(kw_only=True)
class SuiteSettings:
    """The single values of a suite, as a suite file has them."""

    budget: Budget = option("What a run may spend.", default=Budget())
    seed: int = option("All other seeds follow from it.", default=0)
    reference: Reference = option("The unperturbed condition.", default=Reference())
    level: float = option("Coverage of the intervals.", gt(0), lt(1), default=0.95)
    # Below 100, an end of a 95% interval is one of the two or three most extreme draws.
    resamples: int = option("Resamples of every bootstrap.", ge(100), default=2000)
    findings: FindingSettings = option(
        "Effect floor and equivalence margin of the findings.", default=FindingSettings()
    )


@frozen(kw_only=True)
class Suite(SuiteSettings):
    """A whole suite."""

    name: str
    tasks: tuple[TaskUse, ...]
    models: Mapping[str, ModelUse] = Factory(dict)
    parsers: Mapping[str, Use] = Factory(dict)
    """Parsers with options, by the name that judges call them by."""
    tests: tuple[TestUse, ...] = ()
    judges: tuple[JudgeUse, ...]
    metrics: tuple[Use, ...] | None = None
    """None: the metrics that are a default, of all that are installed."""
    added_metrics: tuple[Use, ...] = ()
    """Metrics in addition to the defaults; a default that is named here runs once, with these options."""
    allocate: Use | None = None
    """What ends the judging early; None: nothing."""
    reports: tuple[Use, ...] | None = None
    """None: every reporter that is a default."""
    stages: tuple[Use, ...] = ()
    """The sections of declared stages."""
    base: Path = Path()
    """Where relative paths start: the suite file's directory."""
    source: str = "suite"
    """The file's name, for messages."""

    @property
    def run_id(self) -> str:
        """Return the id of its runs."""
        return content_id("run", self.name, self.seed)

    @property
    def reference_repeats(self) -> int:
        """Return how often every item is judged unperturbed."""
        return self.reference.repeats
