"""Define the interfaces of components as protocols: a component needs no base class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from attrs import Factory, frozen

from jrh.values.cases import Case, Draft, Message, Sampling, Skip, Validation
from jrh.values.items import Item, Task
from jrh.values.json_values import Json
from jrh.values.measures import Measure
from jrh.values.scales import Scale
from jrh.values.verdicts import (
    Evidence,
    Example,
    ImportedLog,
    Judgement,
    NoEvidence,
    Question,
    Reply,
    Truth,
    Usage,
    Verdict,
)

if TYPE_CHECKING:
    from jrh.values.records import RecordTable
    from jrh.values.report import RunReport
    from jrh.values.sections import Section


# Not a `JrhError`: a lost worker is no mistake of the user's, and the run repeats the unit. By a `JrhError` an executor
# says that repeating it would not help.
class LostUnitError(Exception):
    """Report that the worker of a unit is gone; the run works on the unit again."""


@frozen(kw_only=True)
class Job:
    """What all units of a run share; sent to each worker once."""

    setup: bytes
    """The suite, and the code of local plugins by content; no key and no password."""
    runner: str = "jrh.running.worker:perform"
    """What a worker calls, `package.module:name`, with `setup` and the work of a unit; returns bytes, never raises."""
    secrets: frozenset[str] = frozenset()
    """Environment variables that no worker needs: hide them from workers that would inherit them."""


@frozen(kw_only=True)
class Unit:
    """A piece of work that depends only on its content: any worker can do it, and repeat it."""

    name: str
    """For people, such as `format, items 1 to 500`."""
    # Bytes both ways: an executor moves them between processes and need not know what a suite or a record is.
    work: bytes
    cpus: float = 1.0
    gpus: float = 0.0


class Executor(Protocol):
    """Do the work of units, on this machine or on others. It keeps nothing that a run needs."""

    @property
    def places(self) -> int:
        """Return how many units to have under way."""

    async def open(self, job: Job) -> None:
        """Start, or connect to what works on units.

        Raises:
            JrhError: there is nothing that could.
        """

    async def run(self, unit: Unit) -> bytes:
        """Return what the runner returns for a unit. Never work on a unit twice: the run decides about that.

        Raises:
            LostUnitError: the worker is gone.
            JrhError: the unit cannot be worked on at all.
        """

    async def aclose(self) -> None:
        """Give back what was started."""


LONGEST_ANSWER: Final = 8 * 1024 * 1024
"""Maximum size of a model's answer in bytes; jrh does not read a longer one."""
TOO_LONG: Final = "too_long"
"""Finish reason of an answer that is longer: it is final, has no text, and counts as truncated."""


@runtime_checkable
class DataSource(Protocol):
    """Yield the items of a task."""

    def read(self) -> Iterable[Item]:
        """Yield items in a stable order, ids distinct; raise `JrhError` with file and line on bad data."""


@runtime_checkable
class Perturber(Protocol):
    """Change one item at a time."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the drafts of one item, in a stable order, and a `Skip` for each variant that does not apply.

        The result depends only on the item, the options and the replies, not on the order of calls.
        """


@runtime_checkable
class SetPerturber(Protocol):
    """Change items in view of all items (`PerturberSpec(scope=Scope.SET)`)."""

    async def perturb_set(self, items: Sequence[Item]) -> Sequence[tuple[Item, Draft | Skip]]:
        """Return drafts and skips, each with its item."""


@runtime_checkable
class CountsCalls(Protocol):
    """State the maximum number of calls for `jrh plan`, for a perturber whose requests depend on earlier replies.

    A perturber that asks for each text until it can be used needs no such method: `jrh plan` lets it treat the items
    with replies that cannot be read, which use up all attempts.
    """

    def most_calls(self, items: Sequence[Item]) -> Mapping[str, int]:
        """Return the most calls to each model, by `ModelClient.name`, for these items."""


@runtime_checkable
class RemarksOnItems(Protocol):
    """Say what the user should know about the items as a whole; for perturbers and data sources.

    Such as a name in a perturber's options that no item carries, or rows that a source leaves out.
    """

    def remarks(self, items: Sequence[Item]) -> Iterable[str]:
        """Yield a sentence without its full stop for each; `jrh plan` and `jrh run` show it, and the run goes on."""


@runtime_checkable
class Validator(Protocol):
    """Accept or reject one draft at a time."""

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Accept or reject the draft of the item."""


@runtime_checkable
class SetValidator(Protocol):
    """Accept or reject drafts in view of all drafts (`ValidatorSpec(scope=Scope.SET)`)."""

    async def validate_set(self, drafts: Sequence[tuple[Item, Draft]]) -> Sequence[Validation]:
        """Return one validation per draft, in the order given."""


@runtime_checkable
class Judge(Protocol):
    """Answer one question at a time.

    Judges of every kind may also define `async def aclose(self)` to close connections. jrh awaits it once, after the
    last question, even if the run ends early.
    """

    async def judge(self, question: Question) -> Judgement:
        """Answer the question; a missing verdict is a status, not an exception."""


@runtime_checkable
class BatchJudge(Protocol):
    """Answer many questions in one call (CPU-bound judges)."""

    def judge_batch(self, questions: Sequence[Question]) -> Sequence[Judgement]:
        """Return one judgement per question, in the order given. Called in a worker thread."""


@runtime_checkable
class TrainedJudge(Protocol):
    """Learn from the labels of the other folds before judging a fold."""

    def fit(self, examples: Sequence[Example]) -> BatchJudge:
        """Return a judge trained only on these examples."""


@runtime_checkable
class SimulatedJudge(Protocol):
    """Make up answers from the right label and a planted defect."""

    async def judge(self, question: Question, truth: Truth) -> Judgement:
        """Answer with the planted behaviour; the same question and seed give the same answer."""


@runtime_checkable
class Allocator(Protocol):
    """Decide after each batch of items which judges are asked about the next one."""

    @property
    def batch(self) -> int:
        """Return how many items of every task make a batch; a cluster that begins in a batch is in it as a whole."""

    # Pure: shards decide about their own items, and the run that follows a merge decides from all records as if it had
    # never been divided.
    def keep(self, judges: Sequence[str], batch: int, records: RecordTable) -> Collection[str]:
        """Return the judges that are asked about the next batch; none: the run asks no further question.

        Pure: what it returns depends on nothing but the options and the arguments. A judge that is left out is not
        asked again, and the decision is stored: a run that is continued does not ask for it again.

        Args:
            judges: those that were asked about this batch, in the order of the suite.
            batch: the number of the batch that is complete, from 1 on.
            records: of batches 1 to `batch`, of all judges, in plan order, however they arrived. Without the columns
                that say what a verdict is, unless the declaration says `sees_verdicts`.
        """


@runtime_checkable
class Parser(Protocol):
    """Read a verdict from a reply."""

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the presented label or the status that says why there is none. Pure; `reply.ok` is True."""


@frozen(kw_only=True)
class MetricContext:
    """Hold what a metric may use in addition to the records."""

    tasks: Mapping[str, Task]
    items: Mapping[str, Sequence[Item]] = Factory(dict)
    """Task -> its items, for findings about the data; empty for imported records."""
    models: Mapping[str, str] = Factory(dict)
    """Judge -> name of the model it asks, such as `openai/gpt-4o-mini`; judges without a model are left out."""
    # Read on demand, because the texts of a run are far larger than its records.
    evidence: Evidence = NoEvidence()
    """Cases and replies behind the records, read on demand."""
    level: float = 0.95
    """Coverage of the intervals."""
    resamples: int = 2000
    seed: int = 0
    margin: float = 0.05
    """Changes within it count as equivalent: `findings: {margin: ...}` of the suite."""
    one_sided: bool = False
    """Whether each end of a rate's interval is a one-sided limit that errs in at most (1 - level) / 2 of all samples,
    which a gate needs; otherwise only both ends together have the level."""


@runtime_checkable
class Metric(Protocol):
    """Compute measures from records."""

    def measure(self, records: RecordTable, context: MetricContext) -> Iterable[Measure]:
        """Yield measures in a stable order. Pure and deterministic: any randomness comes from `context.seed`."""


# The types are `Any`, since those of `jrh_measuring` are on a higher floor, which the kernel must not import.
class Rule(Protocol):
    """Turn measures into findings. `jrh_measuring.Rule` is the class to derive from, and names the types."""

    def hypotheses(self, design: Any) -> Iterable[Any]:
        """Yield the chains of hypotheses; they depend on the design alone, never on a verdict."""

    def test(self, hypothesis: Any, now: Any) -> Any:
        """Return the p-value of a hypothesis."""

    def claims(self, now: Any) -> Iterable[Any]:
        """Yield what may be said, after all hypotheses of the report were decided together."""


@frozen(kw_only=True)
class ChatRequest:
    """One request to a chat model; None values of the sampling are filled in from the suite's model."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    json_schema: Mapping[str, Json] | None = None
    """Request JSON of this schema, if the provider supports it."""
    top_logprobs: int = 0
    """Number of most likely tokens per position whose probabilities are requested; 0 for none."""
    output: str = ""
    """The form of the reply, one of `OUTPUT_MODES`; empty: JSON where there is a schema, and text elsewhere."""
    # Any other setting that a model refuses is left out, and the reply says so (`Reply.not_settable`).
    needed: tuple[str, ...] = ()
    """Settings that must not be left out, such as `output`: a model that refuses one is not asked without it."""


@frozen(kw_only=True)
class Rates:
    """Prices of a model in US dollars: per token, and of every call."""

    input: float
    output: float
    call: float = 0.0
    """Of an answer, whatever its length; services that sell grades rather than tokens have such a price."""
    cached_input: float | None = None
    """Of tokens of the prompt that the provider had cached; None: as all others."""
    max_output_tokens: int | None = None
    """Maximum length of a reply, if the provider limits it."""


@frozen(kw_only=True)
class Completion:
    """One answer of a provider, before the gateway classifies it."""

    text: str | None
    finish_reason: str
    """The provider's word for it; `TOO_LONG` if the answer was too long to read."""
    usage: Usage = Usage()
    cost: float | None = None
    """Only if the provider states a cost; otherwise the gateway computes it from `rates`."""
    refusal: str | None = None
    model_version: str = ""
    """The model version that the provider reports."""
    token_probabilities: tuple[Mapping[str, float], ...] = ()
    reasoning: str = ""
    """The text of the model's reasoning, if the provider reports it apart from the reply."""
    stated_limits: Mapping[str, str] = Factory(dict)
    """Headers that state rate limits, as `jrh_chat.rate_limit_headers` picks them; `jrh ping` shows them."""


@runtime_checkable
class ChatModel(Protocol):
    """Send single requests to a chat model of one provider; the gateway does everything else."""

    @property
    def fingerprint(self) -> str:
        """Identify provider, model and endpoint. Part of every cache key. Contains no secret."""

    @property
    def rates(self) -> Rates | None:
        """Return the prices, or None if they are unknown."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Send once, without retries or a total timeout; raise `ModelFault` for every failure."""

    async def aclose(self) -> None:
        """Close connections; called once, even after failures."""


@runtime_checkable
class ModelClient(Protocol):
    """Give components access to a model through the gateway."""

    @property
    def name(self) -> str:
        """Return the suite's name of the model."""

    @property
    def fingerprint(self) -> str:
        """Identify the model, including the sampling set in the suite."""

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:
        """Answer from the cache or ask the provider, within budget and limits, with retries.

        Failures are values: the reply's status says what happened. `repeat` distinguishes identical requests.
        """


@runtime_checkable
class Reporter(Protocol):
    """Render a run as a document for people or programs."""

    def render(self, report: RunReport) -> str | bytes | Iterable[bytes] | Mapping[str, str | bytes]:
        """Return the whole document. Pure: same report, same bytes.

        A file may also be an iterable of chunks of bytes, written in order as they arrive, for documents too large for
        memory. A directory is a mapping of plain file names to their contents.
        """


@runtime_checkable
class SectionWriter(Protocol):
    """Choose what a report shows of some measures, and in which form."""

    def sections(self, report: RunReport) -> Iterable[Section]:
        """Yield a section for the run, or one for each task or judge; nothing where there is nothing to show.

        Pure: the same report gives the same sections. `report.sections` is empty. Numbers are references to
        `report.measures`, and texts are texts: reporters format and escape them, and mark simulated judges.
        """


class TaskMode(Protocol):
    """Read the tasks of one section `task`, which the factory gets as its options, and make their items."""

    def tasks(self, name: str, report: Callable[..., None]) -> Sequence[Task]:
        """Return the tasks that the section is about.

        Args:
            name: of the section: the name of the only task, or what the names of several begin with.
            report: takes what is wrong with the section, a sentence, and the keys of the place; no task is then used.

        Raises:
            JrhError: the section cannot be used, or a file that it names is wrong (`jrh.suite.read_file`).
        """

    def expand_items(self, items: Iterable[Item], task: Task, problem: Callable[[str], None]) -> Iterable[Item]:
        """Yield the items that judges are asked about: those of the data source, or several for each of them.

        Called for every task of the section. Items about one response say so by `Item.criterion`; they are sampled,
        divided and perturbed together. Pure; `problem` takes what is wrong with an item, a sentence each.
        """


@frozen(kw_only=True)
class StageQuestion:
    """A question that a stage will ask a model."""

    model: str
    """The suite's name of it."""
    request: ChatRequest
    name: str
    """What the call is made for, as spending names it."""
    task: str
    test: str
    most: int | None = None
    """Questions that there may be at most, of which this is the longest; None: it is this one question."""


@frozen(kw_only=True)
class StageOutcome:
    """How a stage ended."""

    complete: bool = True
    """Whether nothing is left to do; the run with a stage that is not complete ends with exit code 3."""
    failed: str = ""
    """What the suite requires and the run is shown not to meet; the run then ends with exit code 1."""
    unchecked: str = ""
    """What the suite requires and this run cannot show; the run then ends with exit code 3, and is complete."""
    notes: tuple[str, ...] = ()
    """What is left to do and why, a sentence each."""
    items: Mapping[str, Iterable[Item]] = Factory(dict)
    """Task -> all of its items, with labels that the stage found; for a stage that comes after `load` alone."""
    open: str = ""
    """What has to happen before the run can go on; the run then stops here with exit code 3."""
    cases: Callable[[Case], Case | None] | None = None
    """What counts in place of a case: the case itself, another one, or None to leave it out.

    For a stage between `perturb` and `judge`. Pure. The cases as they were made stay stored.
    """
    valid: Mapping[str, bool] = Factory(dict)
    """Id of a case -> whether it is valid as it was made, where the stage has decided that."""


class Stage:
    """Work on what a run has stored, at a declared place between the stages of jrh.

    Subclass it: every method has a default. `work` is a `jrh.running.StageWork`: the suite, the items, the
    run's store, the records once there are any, and where to say something.
    """

    # `Any` for the run's `StageWork` and `Store`, here and below: both are on floors above this one.
    def applies(self, work: Any) -> bool:  # noqa: ARG002 - for stages that look at it
        """Return whether the stage has anything to do in this run; everything by default."""
        return True

    async def run(self, work: Any) -> StageOutcome:  # noqa: ARG002
        """Do the work; nothing by default.

        Called again when the run is continued: what is stored and still valid is not done twice.

        A run that stopped early, such as one whose budget is reached, skips stages before the judges' end and still
        runs those after.
        """
        return StageOutcome()

    def check(self, resolved: Any) -> None:
        """Refuse a suite that the stage cannot work with, before anything is read; raise `JrhError`.

        Called where the suite has the stage's key, or where the key is one of sections `data`.
        """

    def label(self, items: Sequence[Item], task: Task, options: Any) -> Iterable[Item]:  # noqa: ARG002
        """Return a task's items as labelled by what the `data` section names; only for keys of `data`."""
        return items

    def live(self, test: str, work: Any) -> bool:  # noqa: ARG002
        """Return whether the stage sees the cases of a test while more are made; a few at a time then."""
        return False

    def look_at_cases(self, work: Any) -> None:
        """Look at the cases that are stored by now; called while they are made."""

    async def serve(self, work: Any) -> None:
        """Work while cases are made and stages between perturbing and judging run; cancelled at their end."""

    def foresee(self, store: Any) -> Callable[[Case], Case | None] | None:  # noqa: ARG002
        """Return what will count in place of a case, as far as a plan can know from the run's store; None: itself."""
        return None

    def estimate(self, lines: Sequence[Any]) -> str:  # noqa: ARG002
        """Return what the stage adds to a plan, in a sentence; a line has `role`, `task`, `test` and `cases`."""
        return ""

    def questions(
        self,
        builder: Any,  # noqa: ARG002
        store: Any,  # noqa: ARG002
        cases: Mapping[tuple[str, str], Case],  # noqa: ARG002
        unjudged: Mapping[tuple[str, str], int],  # noqa: ARG002
    ) -> Iterable[StageQuestion]:
        """Yield what the stage would ask models, so that a plan counts it; only for stages with a key of the suite.

        Args:
            builder: knows the suite.
            store: of the run; None where there is none yet.
            cases: task and test -> the first of the cases.
            unjudged: task and test -> questions that judges have not answered yet.
        """
        return ()

    def report(self, report: RunReport, work: Any) -> RunReport:  # noqa: ARG002
        """Return the report with what this stage has to say in it; unchanged by default.

        Called at the end of a run, and whenever its report is gathered again: then the store is read-only, and
        `work.again` tells whether results are computed again or taken as they were stored.
        """
        return report


class Importer(Protocol):
    """Read the verdicts that another tool has exported."""

    def read(self, path: Path) -> ImportedLog:
        """Return the tasks and records of a file or folder, and what could not be mapped.

        Raises:
            JrhError: it is not what the tool writes; the text says where and what to do.
        """


class Exporter(Protocol):
    """Bring a run into another tool that people use."""

    def export(self, report: RunReport, attached: Sequence[Path]) -> Iterable[str]:
        """Write or send the measures and records, and yield sentences that say what went where.

        Every number goes with its interval, its sizes and its missing verdicts, and simulated judges are marked.
        Exporting the same run again adds nothing twice. No sentence and no error holds a key.

        Args:
            report: the run.
            attached: the reports that the declaration asks for, as files that are gone afterwards.

        Raises:
            JrhError: the tool is not installed, not there, or refuses; the text says what to do.
        """


class Logger(Protocol):
    """The part of a structlog logger that components use."""

    def debug(self, event: str, /, **values: Any) -> Any:
        """Log detail."""

    def info(self, event: str, /, **values: Any) -> Any:
        """Log an event."""

    def warning(self, event: str, /, **values: Any) -> Any:
        """Log a problem that someone should look at."""


class BuildContext(Protocol):
    """Give a factory its task, seeds, and the components of other plugins, in addition to its options."""

    @property
    def name(self) -> str:
        """Return the component's name in the suite."""

    @property
    def task(self) -> Task:
        """Return the task of the component."""

    @property
    def base(self) -> Path:
        """Return the directory to which relative paths in the suite refer."""

    @property
    def log(self) -> Logger:
        """Return a logger bound to the component."""

    def seed(self, *parts: object) -> int:
        """Derive a seed from the run's seed and these parts, such as item id and variant.

        The suite's name for a judge changes it only if the judge is simulated.
        """

    def model(self, name: str) -> ModelClient:
        """Return a model of the suite, behind the gateway."""

    def parser(self, name: str) -> Parser:
        """Return a parser by component name."""

    def validator(self, name: str) -> Validator:
        """Return a validator by component name."""

    def data(self) -> Sequence[Item]:
        """Return all items of the task's data source, also those outside of the sample, in the source's order.

        For perturbers whose spec says `whole_data`. Reads the source; call it when the work begins, not in the factory.
        """

    def code(self, written: str) -> Any:
        """Return what an option of type `CodeName` names, loaded from the source the run records.

        Raises:
            JrhError: there is no such file.
            AttributeError: there is no such name in the file or module.
            Exception: whatever loading it raises.
        """


class ModelNotes(Protocol):
    """Keep texts of a model in the run directory, such as the ids of its batches. They survive a kill."""

    def read(self) -> Mapping[str, str]:
        """Return all notes by name."""

    async def write(self, name: str, text: str) -> None:
        """Write a note; it is durable when this returns. An empty text deletes it. Secrets are masked."""


@runtime_checkable
class DeferredModel(ChatModel, Protocol):
    """Answer requests hours later, as batch APIs do (`ModelSpec(deferred=True)`).

    A call has an id, which jrh writes down before it hands the call over. After a kill, jrh hands the same call over
    with the same id, and the model has to find out whether the provider has it already.
    """

    @property
    def price_factor(self) -> float:
        """Return the share of the suite's price that a call costs: 0.5 for half price."""

    @property
    def at_once(self) -> int:
        """Return the largest number of calls that wait for their answers together."""

    def attach(self, notes: ModelNotes, *, wait: bool) -> None:
        """Take the notes of earlier processes; called once, before the first call.

        Args:
            notes: what earlier processes noted, and where to note more.
            wait: whether to wait for answers; otherwise calls end in `StillPendingError` once the provider has them.
        """

    async def complete_call(self, call: str, request: ChatRequest) -> Completion:
        """Hand a call over, unless the provider has it already, and wait for the answer.

        There is no time limit. A call that ends in `ModelFault` is over; jrh may ask again under another id.

        Args:
            call: the id of the call, at most 64 letters, digits and hyphens.
            request: the request.

        Raises:
            ModelFault: the provider has answered with an error, or will never answer.
            StillPendingError: the provider has the call, or may have it, and this process does not wait any longer.
        """

    def leave(self) -> None:
        """End all waiting calls in `StillPendingError`: the run stops."""
