"""What components look like to the kernel. Structural types: nothing has to be inherited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from attrs import Factory, frozen

from jrh.values.evidence import Evidence, NoEvidence
from jrh.values.scales import Scale
from jrh.values.types import (
    Draft,
    Example,
    Item,
    Json,
    Judgement,
    Measure,
    Message,
    Question,
    Reply,
    Sampling,
    Skip,
    Task,
    Truth,
    Usage,
    Validation,
    Verdict,
)

if TYPE_CHECKING:
    from jrh.values.records import RecordTable
    from jrh.values.report import RunReport

LONGEST_ANSWER: Final = 8 * 1024 * 1024
"""Bytes of a model's answer; a longer one is not read."""
TOO_LONG: Final = "too_long"
"""The finish reason of an answer that is longer: it is final, has no text, and counts as truncated."""


@runtime_checkable
class DataSource(Protocol):
    """Yields the items of a task."""

    def read(self) -> Iterable[Item]:
        """Yield items in a stable order, ids distinct; raise `JrhError` with file and line on bad data."""


@runtime_checkable
class Perturber(Protocol):
    """Changes one item at a time."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the drafts of one item, in a stable order, and a `Skip` for what cannot be treated.

        The result depends on the item, the options and the replies alone, not on the order of calls.
        """


@runtime_checkable
class SetPerturber(Protocol):
    """Needs all items at once (`PerturberSpec(scope=Scope.SET)`)."""

    async def perturb_set(self, items: Sequence[Item]) -> Sequence[tuple[Item, Draft | Skip]]:
        """Return drafts and skips with the item each belongs to."""


@runtime_checkable
class Validator(Protocol):
    """Decides about one draft at a time."""

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Accept or reject the draft of the item."""


@runtime_checkable
class SetValidator(Protocol):
    """Decides about drafts in the light of the others (`ValidatorSpec(scope=Scope.SET)`)."""

    async def validate_set(self, drafts: Sequence[tuple[Item, Draft]]) -> Sequence[Validation]:
        """Return one validation per draft, in the order given."""


@runtime_checkable
class Judge(Protocol):
    """Answers one question at a time.

    Judges of every kind may have `async def aclose(self)` as well, to close connections: it is awaited once, after the
    last question, also where the run ends early.
    """

    async def judge(self, question: Question) -> Judgement:
        """Answer the question; a missing verdict is a status, not an exception."""


@runtime_checkable
class BatchJudge(Protocol):
    """Answers many questions in one call (CPU-bound judges)."""

    def judge_batch(self, questions: Sequence[Question]) -> Sequence[Judgement]:
        """Return one judgement per question, in the order given. Called in a worker thread."""


@runtime_checkable
class TrainedJudge(Protocol):
    """Learns from the labels of other folds before it judges one."""

    def fit(self, examples: Sequence[Example]) -> BatchJudge:
        """Return a judge trained on these examples and on nothing else."""


@runtime_checkable
class SimulatedJudge(Protocol):
    """Makes its answers up from the truth and a planted defect."""

    async def judge(self, question: Question, truth: Truth) -> Judgement:
        """Answer with the planted behaviour; the same question and seed give the same answer."""


@runtime_checkable
class Parser(Protocol):
    """Reads a verdict from a reply."""

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the presented label or the status that says why there is none. Pure; `reply.ok` is True."""


@frozen(kw_only=True)
class MetricContext:
    """What a metric may know beside the records."""

    tasks: Mapping[str, Task]
    items: Mapping[str, Sequence[Item]] = Factory(dict)
    """Task -> its items, for findings about the data themselves; empty where only records are known."""
    evidence: Evidence = NoEvidence()
    """What stands behind the records: how a case was edited, for findings about that."""
    level: float = 0.95
    """Coverage of the intervals."""
    resamples: int = 2000
    seed: int = 0


@runtime_checkable
class Metric(Protocol):
    """Turns records into measures."""

    def measure(self, records: RecordTable, context: MetricContext) -> Iterable[Measure]:
        """Yield measures in a stable order. Pure and deterministic: any randomness comes from `context.seed`."""


@frozen(kw_only=True)
class ChatRequest:
    """One request to a chat model; the sampling's None values are filled from the suite's model."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    json_schema: Mapping[str, Json] | None = None
    """Ask for JSON of this shape where the provider can."""
    top_logprobs: int = 0
    """Ask for the probabilities of so many likeliest tokens per position; 0 for none."""


@frozen(kw_only=True)
class Rates:
    """Prices of a model in US dollars per token."""

    input: float
    output: float
    max_output_tokens: int | None = None
    """The most a reply can have, where the provider limits it."""


@frozen(kw_only=True)
class Completion:
    """One answer of a provider, before the gateway judges it."""

    text: str | None
    finish_reason: str
    """As the provider says it; `TOO_LONG` where the answer was too long to be read."""
    usage: Usage = Usage()
    cost: float | None = None
    """Only where the provider itself states a cost; otherwise the gateway computes it from `rates`."""
    refusal: str | None = None
    model_version: str = ""
    """What the provider says answered."""
    token_probabilities: tuple[Mapping[str, float], ...] = ()


@runtime_checkable
class ChatModel(Protocol):
    """A chat model of one provider. Sends one attempt; the gateway does everything else."""

    @property
    def fingerprint(self) -> str:
        """Name what answers: provider, model, endpoint. Part of every cache key. Holds no secret."""

    @property
    def rates(self) -> Rates | None:
        """Return the prices, or None where they are unknown."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Send once, without retries or a total timeout; raise `ModelFault` for every failure."""

    async def aclose(self) -> None:
        """Close connections; called once, also after failures."""


@runtime_checkable
class ModelClient(Protocol):
    """A model as components see it: through the gateway."""

    @property
    def name(self) -> str:
        """Return the suite's name of the model."""

    @property
    def fingerprint(self) -> str:
        """Return what answers, including the sampling set in the suite."""

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:
        """Answer from the cache or ask the provider, within budget and limits, with retries.

        Failures are values: the reply's status says what happened. `repeat` tells identical requests apart.
        """


@runtime_checkable
class Reporter(Protocol):
    """Writes a run down for people or programs."""

    def render(self, report: RunReport) -> str | bytes | Iterable[bytes] | Mapping[str, str | bytes]:
        """Return the whole document. Pure: same report, same bytes.

        A file may also come as chunks of bytes, in order, which are written as they come: for documents that are too
        large to be held whole. A directory is a mapping of plain file names to their contents.
        """


class Logger(Protocol):
    """The part of a structlog logger that components use."""

    def debug(self, event: str, /, **values: Any) -> Any:
        """Log detail."""

    def info(self, event: str, /, **values: Any) -> Any:
        """Log what happened."""

    def warning(self, event: str, /, **values: Any) -> Any:
        """Log what somebody should look at."""


class BuildContext(Protocol):
    """What a factory is handed beside its options: how components of different plugins meet."""

    @property
    def name(self) -> str:
        """Return the name the suite gives the component."""

    @property
    def task(self) -> Task:
        """Return the task the component is built for."""

    @property
    def base(self) -> Path:
        """Return the directory that relative paths of the suite start from."""

    @property
    def log(self) -> Logger:
        """Return a logger bound to the component."""

    def seed(self, *parts: object) -> int:
        """Derive a seed from the run's seed and these parts, such as item id and variant."""

    def model(self, name: str) -> ModelClient:
        """Return a model of the suite, behind the gateway."""

    def parser(self, name: str) -> Parser:
        """Return a parser by component name."""

    def validator(self, name: str) -> Validator:
        """Return a validator by component name."""
