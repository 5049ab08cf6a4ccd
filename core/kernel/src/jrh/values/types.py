"""Define the values of a run: items, drafts, cases, trials, replies, verdicts, records, measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from string import ascii_lowercase
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
CodeName = NewType("CodeName", str)
"""An option that names local code, `path/to/file.py:name` or `module:name`; its source is part of the component."""
CommandWord = NewType("CommandWord", str)
"""A word of an option that is a command; the files the command names are part of the component."""


@frozen(kw_only=True)
class Text:
    """An option that is text, written in the suite or in a file that `{file: name}` refers to."""

    content: str
    source: str | None = None
    """The file it came from, as written in the suite."""


class Mode(Enum):
    """What a judge evaluates: one response, several responses, or a transcript."""

    POINTWISE = "pointwise"
    """One response: field `response`."""
    PAIRWISE = "pairwise"
    """Two responses or more: fields `response_a`, `response_b`, ..."""
    TRANSCRIPT = "transcript"
    """An agent's transcript: field `transcript`."""

    @property
    def judged_fields(self) -> tuple[str, ...]:
        """Return the judged fields, of a pair where several responses are compared; see `Task.judged_fields`."""
        return _JUDGED_FIELDS[self]


_JUDGED_FIELDS: Final = {
    Mode.POINTWISE: ("response",),
    Mode.PAIRWISE: ("response_a", "response_b"),
    Mode.TRANSCRIPT: ("transcript",),
}


def option_field(place: int) -> str:
    """Return the field of the option in a place, counted from 0: `response_a`, ..., `response_z`."""
    return f"response_{ascii_lowercase[place]}"


@frozen(kw_only=True)
class Item:
    """One example from a data source."""

    id: str
    fields: Mapping[str, Json]
    """`request`, and `response`, or `response_a`, `response_b`, ..., or `transcript`, and any others."""
    gold: str | None = None
    """The gold label, canonical, exactly as in the file; None if unlabelled."""
    gold_source: str = ""
    """Where the gold label comes from, as `GoldSource` reads it: `people`, `model:NAME`, ...; empty: unknown."""
    stratum: str = ""
    """The subgroup, for results broken down by stratum."""
    group: str = ""
    """Items that belong together (one author, one source) share a group: they are one cluster. Empty: the own id."""
    metadata: Mapping[str, Json] = Factory(dict)
    covariates: Mapping[str, Json] = Factory(dict)
    """What verdicts may depend on besides quality, such as `length` and `author`; the kernel fills it. Of a comparison
    one value for every option: `{A: 120, B: 80}`."""
    origin: str = ""
    """Source and line, for messages: `essays.csv:12`."""


@frozen(kw_only=True)
class Task:
    """The question put to the judge: instruction, rubric, scale and mode."""

    name: str
    instruction: str = ""
    rubric: str = ""
    scale: Scale
    mode: Mode = Mode.POINTWISE

    @property
    def judged_fields(self) -> tuple[str, ...]:
        """Return the judged fields, which perturbers may change; of a comparison one for every option."""
        if self.mode is not Mode.PAIRWISE:
            return self.mode.judged_fields
        return tuple(option_field(place) for place in range(len(self.scale.options)))


class Polarity(Enum):
    """Whether a template asks for the quality or asks the inverted question."""

    POSITIVE = "positive"
    INVERTED = "inverted"


REFERENCE: Final = "reference"
"""The family, and the test, of the unperturbed condition."""


@frozen(kw_only=True)
class Condition:
    """The factor levels of one question."""

    family: str = REFERENCE
    variant: str = ""
    template: str = ""
    """Name of the prompt template; empty: the judge's own."""
    option_order: str = ""
    """The canonical options in presented order, such as `BA`; empty: the item's order."""
    polarity: Polarity = Polarity.POSITIVE
    strength: float = 0.0
    language: str = ""


@frozen(kw_only=True)
class Same:
    """Expect the verdict of the reference condition (CheckList: INV)."""


@frozen(kw_only=True)
class Changes:
    """Expect a different verdict than in the reference condition (CheckList: DIR)."""


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
"""The behaviour expected of a reliable judge under a condition."""


@frozen(kw_only=True)
class Message:
    """One message of a chat."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str


@frozen(kw_only=True)
class Prompt:
    """A prompt template of a case that replaces the judge's own."""

    name: str
    user: str
    """Jinja2 source; variables: `task`, `labels`, and the item's fields."""
    system: str = ""
    language: str = ""
    original: str = ""
    """The template that this one paraphrases, for validators to compare; empty: none."""


@frozen(kw_only=True)
class Sampling:
    """Sampling parameters of a model; None keeps the model's own setting."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None


@frozen(kw_only=True)
class Provenance:
    """Which component made a case, and how, in enough detail to make it again."""

    component: str = ""
    """Qualified name, `distribution/name`."""
    version: str = ""
    model: str = ""
    """Fingerprint of the model that wrote it; empty for rules."""
    seed: int | None = None
    details: Mapping[str, Json] = Factory(dict)
    """Whatever the perturber records, such as attempts, edits or similarities."""


@frozen(kw_only=True)
class Draft:
    """A changed question proposed by a perturber; validators decide whether it becomes a case."""

    variant: str = ""
    strength: float = 0.0
    fields: Mapping[str, Json] = Factory(dict)
    """The changed fields; the others keep the item's values."""
    expectation: Expectation | None = Same()
    """None if nothing can be expected, as with two identical responses and no tie."""
    label_map: Mapping[str, str] | None = None
    """Presented label -> canonical label; None: identity."""
    option_order: str = ""
    polarity: Polarity = Polarity.POSITIVE
    prompt: Prompt | None = None
    task: Task | None = None
    """The task as presented, if the condition changes scale, rubric or instruction."""
    sampling: Sampling = Sampling()
    repeats: int = 1
    """How often each judge is asked; every repeat is a separate call."""
    vary_seed: bool = False
    """Whether every repeat gets a different sampling seed."""
    model: str = ""
    """Fingerprint of the model that wrote it, for the provenance."""
    details: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class Skip:
    """An item, or one variant of it, that a perturber skips; counted and reported."""

    reason: str
    """A short text without item content, because reports count skips by this text."""
    variant: str = ""
    details: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class Validation:
    """A validator's decision about one draft."""

    accepted: bool
    score: float | None = None
    reason: str = ""
    """Why it is rejected: a short text without item content, because reports count rejections by this text."""
    label: str | None = None
    """The canonical label that the validator itself gave, if it gives one."""
    details: Mapping[str, Json] = Factory(dict)
    """Stored with the draft. If it has `votes` (voter -> vote, None: not cast), the report shows their agreement."""


@frozen(kw_only=True)
class Case:
    """Item x condition: the question as presented, and the expected behaviour of a reliable judge."""

    id: str
    task: str
    """Name of its task in the suite."""
    test: str
    """Name of the suite's test; `reference` for the unperturbed question."""
    item_id: str
    condition: Condition = Condition()
    fields: Mapping[str, Json]
    """All fields as presented."""
    prompt: Prompt | None = None
    presented_task: Task | None = None
    """The task as presented, if it differs from the suite's."""
    expectation: Expectation | None = None
    """None if there is neither a gold label nor a reference verdict to compare with."""
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
    """Case x judge x repeat: one question, asked once."""

    id: str
    case_id: str
    judge: str
    repeat: int
    """0-based, within the case."""
    occasion: int
    """0-based, within all trials of this judge with the identical question; part of the cache key."""


class Status(Enum):
    """Whether a trial has a verdict, and if not, why."""

    OK = "ok"
    UNPARSABLE = "unparsable"
    """The text contains no readable decision, or more than one."""
    OFF_SCALE = "off_scale"
    """The decision is not one of the scale's labels."""
    ABSTAINED = "abstained"
    """The judge says that it cannot decide."""
    REFUSED = "refused"
    """The judge or the provider's filter declines to answer."""
    TRUNCATED = "truncated"
    """The reply was cut at the token limit; it is never parsed."""
    INCOMPLETE = "incomplete"
    """The provider ended the reply for a reason that does not mean complete; it is never parsed."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt is longer than the model's context window."""
    TIMEOUT = "timeout"
    PROVIDER_ERROR = "provider_error"
    PLUGIN_ERROR = "plugin_error"
    """A component raised or broke its contract."""

    @property
    def transient(self) -> bool:
        """Return whether running the suite again repeats the trial."""
        return self in _TRANSIENT


_TRANSIENT: Final = frozenset({Status.TIMEOUT, Status.PROVIDER_ERROR, Status.PLUGIN_ERROR})


@frozen(kw_only=True)
class Usage:
    """Tokens of one call; None if the provider does not report them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@frozen(kw_only=True)
class Reply:
    """The result of one request to a model, after retries."""

    status: Status
    """`ok`, `refused`, `truncated`, `incomplete`, `context_overflow`, `timeout` or `provider_error`."""
    text: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    """US dollars; None is unknown, never 0."""
    latency: float | None = None
    """Seconds of the attempt that answered."""
    fingerprint: str = ""
    """The model that answered: provider, model, endpoint, and the version the provider reports."""
    detail: str = ""
    """Why there is no usable text."""
    attempts: int = 1
    token_probabilities: tuple[Mapping[str, float], ...] = ()
    """Per generated token, the probabilities of the most likely tokens, if the provider reports them."""
    not_settable: tuple[str, ...] = ()
    """Settings of the request that the model refuses, and that it answered without: `temperature`, `seed`, ..."""

    @property
    def ok(self) -> bool:
        """Return whether there is a text to parse."""
        return self.status is Status.OK


@frozen(kw_only=True)
class Verdict:
    """The parsed decision of a judge; it has a label only with status `ok`."""

    status: Status
    presented: str | None = None
    """The label as the judge gave it, in terms of the presented question."""
    canonical: str | None = None
    """The label on the task's scale; set by the kernel from the case's label map."""
    rationale: str = ""
    probabilities: Mapping[str, float] = Factory(dict)
    """Presented label -> probability, if the judge reports them."""
    detail: str = ""
    """Why there is no label."""


@frozen(kw_only=True)
class Question:
    """What a judge sees of one trial: everything except the right answer and the condition."""

    trial_id: str
    task: Task
    """The task as presented."""
    fields: Mapping[str, Json]
    prompt: Prompt | None = None
    sampling: Sampling = Sampling()
    occasion: int = 0
    """Pass this to the model as `repeat`; it distinguishes identical questions."""
    seed: int = 0
    """A seed for this trial, for judges that use random numbers."""


@frozen(kw_only=True)
class Truth:
    """What only simulated judges receive: the right answer and the condition."""

    item_id: str
    gold: str | None
    """Canonical gold label."""
    expected: str | None
    """The presented label that is right under this condition; None if unknown."""
    condition: Condition
    label_map: Mapping[str, str]
    reference_fields: Mapping[str, Json]
    """The item's fields before any change."""


@frozen(kw_only=True)
class Example:
    """A labelled item for training a judge; never from the fold that it judges."""

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
    parse_attempts: int = 1
    """How often the judge asked until a verdict could be read; more than 1 for judges that ask again."""


@frozen(kw_only=True)
class Record:
    """Trial + reply + verdict: one row. Statistics read only records."""

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
    """Whether the judge makes up its answers; reports mark such judges everywhere."""
    repeat: int
    gold: str | None
    expectation: str | None
    """`same`, `changes`, `not_above`, `not_below`, `equals`; None if nothing is expected."""
    expected: str | None
    """The canonical label of `equals`."""
    status: Status
    presented: str | None
    canonical: str | None
    probability: float | None
    """The judge's probability of its label, if it reports one."""
    cost: float | None
    """US dollars of the reply; None is unknown, 0 is known to be free."""
    prompt_tokens: int | None
    completion_tokens: int | None
    latency: float | None
    attempts: int
    detail: str
    rationale: str
    left_out: int = 0
    """Characters of a transcript that were not shown to the judge because its length budget was too small."""
    cluster: str = ""
    """Name of the item's cluster: its smallest item id. Empty: the group decides, and without a group the item."""
    gold_source: str = ""
    """Where the gold label comes from, such as `people` or `model:NAME`; empty: not stated. A run takes it from its
    items when the records are read: stating it later asks no judge again."""
    argued: str | None = None
    """The label, as presented, that the rationale argues for, as `rationale_model` read it; empty if it read none.

    None: no model was to read it.
    """
    not_settable: str = ""
    """Settings that the model refuses and that this question was asked without, such as `seed, temperature`."""
    parse_attempts: int = 1
    """How often the judge asked until a verdict could be read."""
    covariates: str = ""
    """The item's covariates as JSON, such as `{"author":"gpt-4o","length":120}`; empty: none known. A run takes them
    from its items when the records are read: declaring one later asks no judge again."""


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
    """An estimate with its interval, sample sizes, missing verdicts and flags."""

    name: str
    judge: str
    task: str = ""
    test: str = ""
    cell: Mapping[str, str] = Factory(dict)
    """Further factor levels, such as variant or stratum; empty for the whole test."""
    estimate: float | None
    """None if it cannot be estimated; `flags` and `note` say why."""
    interval: Interval | None = None
    unit: str = "proportion"
    n_trials: int = 0
    """Number of trials used for the estimate."""
    n_items: int = 0
    """Number of distinct items used for the estimate."""
    n_clusters: int = 0
    """Number of distinct clusters of these items: the unit of analysis."""
    missing: Mapping[str, int] = Factory(dict)
    """Trials of the cell without a usable verdict, by status; `no_reference` if the verdict to compare with is
    missing."""
    bounds: tuple[float, float] | None = None
    """The estimate if all missing verdicts were the worst possible, and if all were the best possible."""
    flags: tuple[str, ...] = ()
    """`degenerate`, `underpowered`, `constant-gold`, `simulated`, `all-missing`, ..."""
    note: str = ""
    margin: float | None = None
    """The margin that an equivalence was tested with; None for other measures."""
