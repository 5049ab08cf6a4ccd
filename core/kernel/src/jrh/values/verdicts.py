"""Define what a judge is asked and what comes back: trials, replies, verdicts, records, and access to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from attrs import Factory, fields, frozen

from jrh.values.cases import Case, Condition, Prompt, Sampling
from jrh.values.items import Item, Task
from jrh.values.json_values import Json

# At run time the table would bring NumPy into every command.
if TYPE_CHECKING:
    from jrh.values.records import RecordTable

ARGUES_FOR_NONE: Final = "(none)"
"""No label in `Record.argued`. A word, because in a table an empty cell would look like a missing value."""


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
    NOT_AVAILABLE = "not_available"
    """The model does not have what the condition asks for, such as an output mode."""
    TIMEOUT = "timeout"
    """No complete answer in time, after all retries."""
    PROVIDER_ERROR = "provider_error"
    """A call failed for good, or after all retries; the run's log has the kind of failure."""
    PLUGIN_ERROR = "plugin_error"
    """A component raised or broke its contract."""

    @property
    def transient(self) -> bool:
        """Return whether running the suite again repeats the trial."""
        return self in _TRANSIENT


# Failures of the moment. Any other status is what the judge or the model gives to this question.
_TRANSIENT: Final = frozenset({Status.TIMEOUT, Status.PROVIDER_ERROR, Status.PLUGIN_ERROR})


@frozen(kw_only=True)
class Usage:
    """Tokens of one call; None if the provider does not report them."""

    # None and not 0: what is unknown must not be added up as free.
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """Those of the prompt that the provider had read before, and may bill at a lower price."""


@frozen(kw_only=True)
class Reply:
    """The result of one request to a model, after retries."""

    status: Status
    """`ok`, `refused`, `truncated`, `incomplete`, `context_overflow`, `not_available`, `timeout`, `provider_error`."""
    text: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    """US dollars; None is unknown, never 0."""
    saved: float = 0.0
    """US dollars that the provider's prompt cache took off, where the price of cached tokens is known."""
    latency: float | None = None
    """Seconds of the attempt that answered."""
    fingerprint: str = ""
    """The model that was asked: provider, model, endpoint."""
    model_version: str = ""
    """The model that the provider says it served, with its system fingerprint; empty: it does not say."""
    detail: str = ""
    """Why there is no usable text."""
    attempts: int = 1
    token_probabilities: tuple[Mapping[str, float], ...] = ()
    """Per generated token, the probabilities of the most likely tokens, if the provider reports them."""
    not_settable: tuple[str, ...] = ()
    """Settings of the request that the model refuses, and that it answered without: `temperature`, `seed`, ..."""
    answered: str = ""
    """Day of the answer in UTC, such as `2026-11-03`; empty: unknown. A reply keeps it wherever it is used again."""

    @property
    def ok(self) -> bool:
        """Return whether there is a text to parse."""
        # Not by the text: a reply that was cut has one, and a part of an answer must not be parsed.
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
    score: float | None = None
    """The number behind the label, of judges that give one: higher is better. Of a comparison of two, the first
    option's as presented minus the second's."""


@frozen(kw_only=True)
class Question:
    """What a judge sees of one trial: everything except the right answer and the condition."""

    trial_id: str
    task: Task
    """The task as presented."""
    fields: Mapping[str, Json]
    prompt: Prompt | None = None
    sampling: Sampling = Sampling()
    output: str = ""
    """The form to ask the reply in, one of `OUTPUT_MODES`; empty: the judge's own."""
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
    changes: bool = False
    """The right answer is another than for the item before the change; which one is unknown."""
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
    """None: nothing is known of what it took, and it counts as a reply of unknown price. Free is `Reply(cost=0.0)`."""
    left_out: int = 0
    """Characters of a transcript that did not fit the judge's budget and were not shown; counted in the report."""
    parse_attempts: int = 1
    """How many replies the judge read for the verdict: more than 1 for judges that ask until they can read one."""
    share: tuple[int, int] = (0, 1)
    """Place, counted from 0, and number of the verdicts that rest on the same reply: its cost is divided among them."""


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
    """The label, as presented, that the rationale argues for, as `rationale_model` read it; `(none)` if it read none.

    None: no model was to read it.
    """
    not_settable: str = ""
    """Settings that the model refuses and that this question was asked without, such as `seed, temperature`, or with
    the least value that it takes, such as `temperature<0.01`."""
    parse_attempts: int = 1
    """How many replies were read for the verdict: 0 where none came, more than 1 for judges that ask again."""
    covariates: str = ""
    """The item's covariates as JSON, such as `{"author":"gpt-4o","length":120}`; empty: none known. A run takes them
    from its items when the records are read: declaring one later asks no judge again."""
    seed: str = ""
    """The sampling seed that the condition fixes, as text; empty: none, or one of its own for every repeat."""
    output: str = ""
    """What the condition asks of the form of the reply: one of `OUTPUT_MODES`, `reasoning=...`, `max_tokens=...`,
    separated by commas; empty: the judge's own."""
    score: float | None = None
    """The number behind the label, if the judge gives one: higher is better. Of a comparison of two, the first option's
    minus the second's, in canonical order."""


_KINDS: Final = {"float": float, "int": int, "bool": int}
NUMBER_TYPES: Final[Mapping[str, type[float]]] = {
    name: _KINDS[kind.partition(" ")[0]]
    for name, kind in Record.__annotations__.items()
    # From `float | None` as from `float`: annotations are text.
    if kind.partition(" ")[0] in _KINDS
}
"""Columns of a record that hold numbers -> their type; true and false are 1 and 0."""
NUMERIC: Final = frozenset(NUMBER_TYPES)
"""Columns held as float64, NaN where the record has None; all others are categorical text."""

COLUMNS: Final = tuple(attribute.name for attribute in fields(Record))
"""The columns of a full table: the fields of `Record`, in order."""


# A plain tuple: its fields are the columns of a query, in this order.
class CaseRecord(NamedTuple):
    """One trial of a case, with its verdict."""

    trial_id: str
    judge: str
    repeat: int
    status: str
    presented: str | None
    canonical: str | None
    rationale: str
    detail: str
    probability: float | None
    cost: float | None


class ReplySource(NamedTuple):
    """Where replies to one component come from in one test, and what they were asked without."""

    model: str
    """The suite's name of the model."""
    not_settable: str
    """Settings that the model does not have, such as `seed, temperature`."""
    role: str
    """`judge`, `writer`, ...: see `SpendLine`."""
    name: str
    """The suite's name of the component."""
    test: str
    model_version: str
    """The model that the provider says it served; see `Reply`."""
    answered: str
    """Day of the answers in UTC; empty: unknown."""
    reused: bool
    """Another run paid for them: they come from the shared cache."""
    replies: int
    """Number of replies; one that several trials share counts for each."""
    distinct: int
    """Number of those that nothing before uses: the sum is the number of replies of the run."""


@frozen(kw_only=True)
class CasesAsMade:
    """The cases as they were before people rejected and edited some of them."""

    valid: Mapping[str, bool]
    """Case id -> whether people accept the case as it was made; cases without a decision that counts are left out."""
    records: RecordTable
    """The records of all cases as they were made, as far as these were judged."""


@runtime_checkable
class Evidence(Protocol):
    """Read what is behind the records on demand; it is large, and absent for imported records.

    What a subclass does not define is missing.
    """

    # Nothing by default, so that a metric need not ask whether a run or an import is behind its records.
    def items(self) -> Mapping[str, Sequence[Item]]:
        """Return the items of every task."""
        return {}

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:  # noqa: ARG002
        """Return the known cases, by id."""
        return {}

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:  # noqa: ARG002
        """Return the known replies, by trial id, with secrets removed."""
        return {}

    def as_made(self) -> CasesAsMade | None:
        """Return the cases as they were made; None if there are no decisions."""
        return None

    def sources(self) -> Sequence[ReplySource]:
        """Return where the replies come from that the run rests on."""
        return ()


class NoEvidence(Evidence):
    """Stand in for missing evidence, as with imported records."""


@frozen(kw_only=True)
class ImportedLog:
    """Tasks and records of one export."""

    tasks: tuple[Task, ...]
    records: tuple[Record, ...]
    """From `jrh_interchange.imported_record`."""
    origins: tuple[str, ...] = ()
    """Where each record comes from, such as `log.jsonl:12`, for messages."""
    notes: tuple[str, ...] = ()
    """How the file was read, one sentence each; readers of the report see them."""
    unmapped: tuple[str, ...] = ()
    """What the file holds and the records do not, one phrase each."""
    items: Mapping[str, tuple[Item, ...]] = Factory(dict)
    """Task -> items, if metrics need their texts."""
    metrics: Json = None
    """What the report computes, as `metrics` in a suite; None: the defaults."""
