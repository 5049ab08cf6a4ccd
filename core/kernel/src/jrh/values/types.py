"""The words of the project as values: items, cases, trials, replies, verdicts, records, measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, NewType, TypeAlias

from attrs import Factory, frozen

from jrh.values.scales import Scale

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that JSON can hold."""

ModelName = NewType("ModelName", str)
"""An option that names a model of the suite's `models`; checked when the suite is loaded."""
ParserName = NewType("ParserName", str)
"""An option that names a parser; checked when the suite is loaded."""
ValidatorName = NewType("ValidatorName", str)
"""An option that names a validator; checked when the suite is loaded."""


@frozen(kw_only=True)
class Text:
    """An option that is text, written in the suite or as `{file: name}` beside it."""

    content: str
    source: str | None = None
    """The file it came from, as written in the suite."""


class Mode(Enum):
    """What a judge is shown."""

    POINTWISE = "pointwise"
    """One response: field `response`."""
    PAIRWISE = "pairwise"
    """Two responses: fields `response_a` and `response_b`."""
    TRANSCRIPT = "transcript"
    """An agent's transcript: field `transcript`."""

    @property
    def judged_fields(self) -> tuple[str, ...]:
        """Return the fields that hold what is judged, which perturbers may change."""
        return _JUDGED_FIELDS[self]


_JUDGED_FIELDS: Final = {
    Mode.POINTWISE: ("response",),
    Mode.PAIRWISE: ("response_a", "response_b"),
    Mode.TRANSCRIPT: ("transcript",),
}


@frozen(kw_only=True)
class Item:
    """One example from a data source."""

    id: str
    fields: Mapping[str, Json]
    """`request`, and `response`, or `response_a` and `response_b`, or `transcript`, and any others."""
    gold: str | None = None
    """The gold label, canonical, exactly as the file has it; None where unlabelled."""
    stratum: str = ""
    """The subgroup results are broken down by."""
    group: str = ""
    """Items of one group belong together (one author, one source); folds never part them. Empty: its own id."""
    metadata: Mapping[str, Json] = Factory(dict)
    origin: str = ""
    """Where it stands, for messages: `essays.csv:12`."""


@frozen(kw_only=True)
class Task:
    """What the judge is asked."""

    name: str
    instruction: str = ""
    rubric: str = ""
    scale: Scale
    mode: Mode = Mode.POINTWISE


class Polarity(Enum):
    """Whether a template asks for the quality or for its opposite."""

    POSITIVE = "positive"
    INVERTED = "inverted"


REFERENCE: Final = "reference"
"""The family, and the test, of the unperturbed condition."""


@frozen(kw_only=True)
class Condition:
    """The factor levels under which one question is put."""

    family: str = REFERENCE
    variant: str = ""
    template: str = ""
    """Name of the prompt template; empty: the judge's own."""
    option_order: str = ""
    """The canonical options in presented order, such as `BA`; empty: as the item has them."""
    polarity: Polarity = Polarity.POSITIVE
    strength: float = 0.0
    language: str = ""


@frozen(kw_only=True)
class Same:
    """Expect the verdict of the reference condition (CheckList: INV)."""


@frozen(kw_only=True)
class Changes:
    """Expect another verdict than in the reference condition (CheckList: DIR)."""


@frozen(kw_only=True)
class NotAbove:
    """Expect no higher level than in the reference condition (CheckList: DIR)."""


@frozen(kw_only=True)
class NotBelow:
    """Expect no lower level than in the reference condition (CheckList: DIR)."""


@frozen(kw_only=True)
class Equals:
    """Expect a stated canonical label (CheckList: MFT)."""

    label: str


Expectation: TypeAlias = Same | Changes | NotAbove | NotBelow | Equals
"""What a reliable judge does under a condition."""


@frozen(kw_only=True)
class Message:
    """One message of a chat."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str


@frozen(kw_only=True)
class Prompt:
    """A prompt template that a case brings along instead of the judge's own."""

    name: str
    user: str
    """Jinja2 source; variables: `task`, `labels`, and the item's fields."""
    system: str = ""
    language: str = ""
    original: str = ""
    """The template this one rewords, for validators to compare with; empty: none."""


@frozen(kw_only=True)
class Sampling:
    """How a model samples; None leaves the model's own setting."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None


@frozen(kw_only=True)
class Provenance:
    """Which component made a case and how; enough to make it again."""

    component: str = ""
    """Qualified name, `distribution/name`."""
    version: str = ""
    model: str = ""
    """Fingerprint of the model that wrote it; empty for rules."""
    seed: int | None = None
    details: Mapping[str, Json] = Factory(dict)
    """Attempts, edits, similarities: whatever the perturber records."""


@frozen(kw_only=True)
class Draft:
    """A changed question as a perturber proposes it; validators decide whether it becomes a case."""

    variant: str = ""
    strength: float = 0.0
    fields: Mapping[str, Json] = Factory(dict)
    """The fields that change; the others stay as the item has them."""
    expectation: Expectation | None = Same()
    """None where nothing can be expected, such as of two identical responses without a tie."""
    label_map: Mapping[str, str] | None = None
    """Presented label -> canonical label; None: identity."""
    option_order: str = ""
    polarity: Polarity = Polarity.POSITIVE
    prompt: Prompt | None = None
    task: Task | None = None
    """The task as presented, where the condition changes scale, rubric or instruction."""
    sampling: Sampling = Sampling()
    repeats: int = 1
    """How often each judge is asked; a repeat is never answered from another."""
    vary_seed: bool = False
    """Send every repeat with a sampling seed of its own."""
    model: str = ""
    """Fingerprint of the model that wrote it, for the provenance."""
    details: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class Skip:
    """An item, or one variant of it, that a perturber cannot treat; counted and reported."""

    reason: str
    """A short text without item content, the same for all items of one kind: it is counted by text."""
    variant: str = ""
    details: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class Validation:
    """What a validator says of one draft."""

    accepted: bool
    score: float | None = None
    reason: str = ""
    """Why not, a short text without item content: it is counted by text."""
    label: str | None = None
    """The canonical label the validator itself reached, where it judges one."""
    details: Mapping[str, Json] = Factory(dict)
    """Kept with the draft. Where it has `votes`, voter -> vote (None: not cast), the report shows their agreement."""


@frozen(kw_only=True)
class Case:
    """Item x condition: the question as presented, and what a reliable judge does with it."""

    id: str
    task: str
    """Name of the suite's task it belongs to."""
    test: str
    """Name of the suite's test; `reference` for the unperturbed question."""
    item_id: str
    condition: Condition = Condition()
    fields: Mapping[str, Json]
    """All fields as presented."""
    prompt: Prompt | None = None
    presented_task: Task | None = None
    """The task as presented where it differs from the suite's."""
    expectation: Expectation | None = None
    """None where there is neither a gold label nor a reference to compare with."""
    label_map: Mapping[str, str]
    """Presented label -> canonical label, for every presented label."""
    sampling: Sampling = Sampling()
    repeats: int = 1
    vary_seed: bool = False
    gold: str | None = None
    stratum: str = ""
    group: str = ""
    provenance: Provenance = Provenance()


@frozen(kw_only=True)
class Trial:
    """Case x judge x repeat: one question put once."""

    id: str
    case_id: str
    judge: str
    repeat: int
    """0-based, within the case."""
    occasion: int
    """0-based, within all trials of this judge that put the identical question; part of the cache key."""


class Status(Enum):
    """Whether there is a verdict, and if not, why."""

    OK = "ok"
    UNPARSABLE = "unparsable"
    """There is text, but no decision can be read from it, or more than one."""
    OFF_SCALE = "off_scale"
    """A decision that is not one of the scale's labels."""
    ABSTAINED = "abstained"
    """The judge says that it cannot decide."""
    REFUSED = "refused"
    """The judge declines, or the provider's filter does."""
    TRUNCATED = "truncated"
    """The reply was cut at the token limit; it is never parsed."""
    TIMEOUT = "timeout"
    PROVIDER_ERROR = "provider_error"
    PLUGIN_ERROR = "plugin_error"
    """A component raised or broke its contract."""

    @property
    def transient(self) -> bool:
        """Tell whether running the suite again asks the trial again."""
        return self in _TRANSIENT


_TRANSIENT: Final = frozenset({Status.TIMEOUT, Status.PROVIDER_ERROR, Status.PLUGIN_ERROR})


@frozen(kw_only=True)
class Usage:
    """Tokens of one call; None where the provider does not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@frozen(kw_only=True)
class Reply:
    """What came back for one question, after retries."""

    status: Status
    """`ok`, `refused`, `truncated`, `timeout` or `provider_error`."""
    text: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    """US dollars; None is unknown, never 0."""
    latency: float | None = None
    """Seconds of the attempt that answered."""
    fingerprint: str = ""
    """Which model answered: provider, model, endpoint, and the version the provider reports."""
    detail: str = ""
    """Why there is no usable text."""
    attempts: int = 1
    token_probabilities: tuple[Mapping[str, float], ...] = ()
    """Per generated token the probabilities of the likeliest tokens, where the provider gives them."""

    @property
    def ok(self) -> bool:
        """Tell whether there is text that may be parsed."""
        return self.status is Status.OK


@frozen(kw_only=True)
class Verdict:
    """The parsed decision of a judge; without status `ok` there is no label."""

    status: Status
    presented: str | None = None
    """The label in the words of the question as put."""
    canonical: str | None = None
    """The label on the task's scale; set by the kernel from the case's label map."""
    rationale: str = ""
    probabilities: Mapping[str, float] = Factory(dict)
    """Presented label -> probability, where the judge gives them."""
    detail: str = ""
    """Why there is no label."""


@frozen(kw_only=True)
class Question:
    """What a judge sees of one trial: everything but the truth and the condition."""

    trial_id: str
    task: Task
    """The task as presented."""
    fields: Mapping[str, Json]
    prompt: Prompt | None = None
    sampling: Sampling = Sampling()
    occasion: int = 0
    """Hand this to the model as `repeat`: identical questions are told apart by it."""
    seed: int = 0
    """A seed of this trial's own, for judges that draw."""


@frozen(kw_only=True)
class Truth:
    """What only a simulated judge is handed: the right answer and the condition."""

    item_id: str
    gold: str | None
    """Canonical gold label."""
    expected: str | None
    """The presented label that is right under this condition; None where it is unknown."""
    condition: Condition
    label_map: Mapping[str, str]
    reference_fields: Mapping[str, Json]
    """The item's fields before any change."""


@frozen(kw_only=True)
class Example:
    """A labelled item for judges that are trained; never of the fold it judges."""

    fields: Mapping[str, Json]
    gold: str
    group: str


@frozen(kw_only=True)
class Judgement:
    """A judge's answer to one question."""

    verdict: Verdict
    reply: Reply | None = None
    left_out: int = 0
    """Characters of a transcript that did not fit the judge's budget and were not shown; counted in the report."""


@frozen(kw_only=True)
class Record:
    """Trial + reply + verdict: one row. Statistics read records and nothing else."""

    trial_id: str
    case_id: str
    item_id: str
    task: str
    test: str
    family: str
    variant: str
    template: str
    option_order: str
    polarity: str
    strength: float
    language: str
    temperature: float | None
    stratum: str
    group: str
    judge: str
    simulated: bool
    """The judge's answers are made up; marked wherever they appear."""
    repeat: int
    gold: str | None
    expectation: str | None
    """`same`, `changes`, `not_above`, `not_below`, `equals`; None where nothing is expected."""
    expected: str | None
    """The canonical label of `equals`."""
    status: Status
    presented: str | None
    canonical: str | None
    probability: float | None
    """The judge's probability of the label it gave, where it gives one."""
    cost: float | None
    """US dollars of the reply; None is unknown, 0 is known to be free."""
    prompt_tokens: int | None
    completion_tokens: int | None
    latency: float | None
    attempts: int
    detail: str
    rationale: str
    left_out: int = 0
    """Characters of a transcript that the judge was not shown, its budget being smaller."""


@frozen(kw_only=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    """The estimator, such as `wilson` or `cluster-bootstrap`."""


@frozen(kw_only=True)
class Measure:
    """A number with everything needed to believe it."""

    name: str
    judge: str
    task: str = ""
    test: str = ""
    cell: Mapping[str, str] = Factory(dict)
    """Further factor levels, such as variant or stratum; empty for the whole test."""
    estimate: float | None
    """None where it cannot be estimated; `flags` and `note` say why."""
    interval: Interval | None = None
    unit: str = "proportion"
    n_trials: int = 0
    """Trials the estimate rests on."""
    n_items: int = 0
    """Distinct items the estimate rests on: the unit of analysis."""
    missing: Mapping[str, int] = Factory(dict)
    """Trials of the cell without a usable verdict, by status; `no_reference` where the verdict it is compared with is
    missing."""
    bounds: tuple[float, float] | None = None
    """The estimate if every missing verdict had been the worst, and the best."""
    flags: tuple[str, ...] = ()
    """`degenerate`, `underpowered`, `constant-gold`, `simulated`, `all-missing`, ..."""
    note: str = ""
