"""The hooks of jrh. Seventeen declare components, four report events.

Declaration hooks are called once per process while plugins are loaded, before a suite is resolved. Declare only: no
I/O, no import of the work; a factory runs later, and only if a suite asks for the name. If a declaration hook raises,
`jrh plugins list` shows the problem and none of that hook's components of that plugin is available; other plugins are
not affected.

Before a run writes anything, it calls every factory except the reporters' once, so that a mistake in a component leaves
nothing half-done. It calls the factory again where the component is used. In an existing run directory it calls only
the factories of what is still to be done. Keep factories quick, and make no model calls in them.

Write a factory as `factory="package.module:Name"`; jrh imports it when it builds the component. In a local plugin of
one file, as in the examples, it may also be a callable. jrh calls it with the options and the build context. A factory
with one parameter gets only the options; a factory without parameters gets nothing.

Event hooks return nothing and never fail a run: an exception is logged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pluggy

from jrh.plugins.specs import (
    AllocatorSpec,
    DataSourceSpec,
    ExecutorSpec,
    ExporterSpec,
    FlagSpec,
    ImporterSpec,
    JudgeSpec,
    MetricSpec,
    ModelSpec,
    ModeSpec,
    ParserSpec,
    PerturberSpec,
    ReporterSpec,
    RuleSpec,
    SectionSpec,
    StageSpec,
    ValidatorSpec,
)
from jrh.values.events import CaseReady, RecordCommitted, RunFinished, RunStarted

PROJECT: Final = "jrh"

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)
"""Mark a function of a plugin as the implementation of the hook it is named after."""


@hookspec
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the data sources this plugin provides.

    The factory is called for every task that names the source. `read()` is called once per task, before the run's store
    is opened. Raise a `JrhError` with file and line for bad data.

    Example:
        ```python
        from jrh import DataSourceSpec, Item, hookimpl

        class Two:
            def read(self):
                yield Item(id="1", fields={"request": "2+2?", "response": "4"}, gold="YES")
                yield Item(id="2", fields={"request": "2+2?", "response": "5"}, gold="NO")

        @hookimpl
        def jrh_data_sources():
            yield DataSourceSpec(name="two", summary="two sums", factory=lambda options, context: Two())
        ```
    """
    return ()


@hookspec
def jrh_modes() -> Iterable[ModeSpec]:
    """Declare the modes of judging this plugin provides: ways to write a task, and the items that follow from them.

    `pointwise`, `pairwise` and `transcript` are jrh's own; a plugin cannot declare a name that another mode has. A
    section `task` is in the mode that `mode` names, or in the one that alone has one of its keys. The factory is called
    with the section, read as `options`, once per section. Whatever mode a task comes from, its `Task.mode` says what a
    judge sees of an item, so that perturbers, judges and metrics need not know it.

    Example:
        ```python
        from attrs import field, frozen
        from jrh import Scale, Task, hookimpl
        from jrh.plugins import ModeSpec

        @frozen(kw_only=True)
        class Section:
            question: str = field(metadata={"help": "What to ask about every response."})
            mode: str = field(default="checklist", metadata={"help": "`checklist`"})

        class Checklist:
            def __init__(self, section):
                self.section = section

            def tasks(self, name, report):
                return [Task(name=name, instruction=self.section.question, scale=Scale.of_labels("YES", "NO"))]

            def expand_items(self, items, task, problem):
                yield from items

        @hookimpl
        def jrh_modes():
            yield ModeSpec(name="checklist", summary="yes or no", options=Section, factory=Checklist)
        ```
    """
    return ()


@hookspec
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers (test families) this plugin provides.

    The factory is called for every test and task. `perturb` is called once per item, concurrently. If it raises, or
    returns anything but drafts and skips, the item is skipped and counted as `plugin error`. A perturber of scope `SET`
    has `perturb_set` instead, called once with all items; if it raises, all items are skipped. Drafts may change only
    fields that the item has. State the expectation unless it is `Same()`.

    Example:
        ```python
        from jrh import Draft, PerturberSpec, hookimpl

        class Shout:
            async def perturb(self, item):
                return [Draft(variant="upper", fields={"response": str(item.fields["response"]).upper()})]

        @hookimpl
        def jrh_perturbers():
            yield PerturberSpec(name="shout", summary="upper case", factory=lambda options, context: Shout())
        ```
    """
    return ()


@hookspec
def jrh_validators() -> Iterable[ValidatorSpec]:
    """Declare the validators this plugin provides.

    The factory is called for every test and task that names the validator. `validate` is called once per draft. If it
    raises, the draft is rejected with the reason `plugin error`. A validator of scope `SET` has `validate_set` instead,
    called once with all drafts; if it raises or returns too few answers, all drafts are rejected.

    Example:
        ```python
        from jrh import Validation, ValidatorSpec, hookimpl

        class NotEmpty:
            async def validate(self, item, draft):
                empty = any(not str(value).strip() for value in draft.fields.values())
                return Validation(accepted=not empty, reason="empty text" if empty else "")

        @hookimpl
        def jrh_validators():
            yield ValidatorSpec(name="not-empty", summary="rejects empty text", factory=lambda o, c: NotEmpty())
        ```
    """
    return ()


@hookspec
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the judges this plugin provides.

    The factory is called for every judge and task of the suite. The judge is then called as its `kind` says. If it
    raises, or returns anything but a `Judgement`, the verdict has the status `plugin_error`. A judge never gets the
    gold label of an item it judges, unless it declares itself simulated.

    A judge may have `async def aclose(self)`. It is awaited once, after the judge's last question of the run, even if
    the run ends early. An exception is logged.

    Example:
        ```python
        from jrh import Judgement, JudgeSpec, Status, Verdict, hookimpl

        class Always:
            def __init__(self, label):
                self.label = label

            async def judge(self, question):
                return Judgement(verdict=Verdict(status=Status.OK, presented=self.label))

        @hookimpl
        def jrh_judges():
            yield JudgeSpec(
                name="first-label",
                summary="always gives the first label",
                factory=lambda options, context: Always(context.task.scale.labels[0]),
                reads_prompt=False,
            )
        ```
    """
    return ()


@hookspec
def jrh_allocators() -> Iterable[AllocatorSpec]:
    """Declare the allocators this plugin provides: rules for ending the judging of a run, or of a judge, early.

    A suite names one under `allocate`. Judges are then asked batch by batch: a batch is so many items of every task,
    drawn at random by the suite's seed, with the cases of all tests. Clusters are never divided: they come in the
    order of `context.seed(cluster)`, whatever the order of the data. After each batch but the last, `keep` returns
    the judges that go on. It sees the records of all batches so far in plan order, so neither the order of arrival
    nor the number of workers matters. jrh stores the decision before it acts on it. Questions that are not asked
    are not missing verdicts: they leave the plan, and the report counts them. If `keep` raises, the run ends with
    the error and can be continued. Options may have a method `foresee(clusters, judges)` that yields what `jrh
    plan` says of the savings, in sentences: it gets the sizes of the clusters by task, and how many judges there
    are.

    Example:
        ```python
        from attrs import frozen
        from jrh import hookimpl
        from jrh.plugins import AllocatorSpec, option

        @frozen(kw_only=True)
        class Options:
            batch: int = option("items of every task per batch", default=20)
            limit: float = option("share of trials without a verdict at which a judge is dropped", default=0.5)

        class DropFailing:
            def __init__(self, options):
                self.batch, self.limit = options.batch, options.limit

            def keep(self, judges, batch, records):
                failing = set()
                for (judge,), rows in records.split("judge"):
                    if 1 - rows.equals("status", "ok").mean() >= self.limit:
                        failing.add(judge)
                return [judge for judge in judges if judge not in failing]

        @hookimpl
        def jrh_allocators():
            yield AllocatorSpec(
                name="drop-failures", summary="drops failing judges", options=Options, factory=DropFailing
            )
        ```
    """
    return ()


@hookspec
def jrh_parsers() -> Iterable[ParserSpec]:
    """Declare the parsers this plugin provides.

    The factory is called when a component asks its context for the parser. `parse` is called once per usable reply;
    truncated and refused replies never reach it. Ambiguity is a status, not a guess.

    Example:
        ```python
        from jrh import ParserSpec, Status, Verdict, hookimpl

        class Whole:
            def parse(self, reply, scale):
                label = scale.match(reply.text)
                if label is None:
                    return Verdict(status=Status.UNPARSABLE, detail="the reply is not a label")
                return Verdict(status=Status.OK, presented=label)

        @hookimpl
        def jrh_parsers():
            yield ParserSpec(name="whole", summary="the whole reply is the label", factory=lambda o, c: Whole())
        ```
    """
    return ()


@hookspec
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics this plugin provides.

    Declared metrics run unless `default=False`, or unless a suite lists others under `metrics`. `measure` is called
    once per run with all records of the plan. If it raises, or yields values that are not numbers, the report has a
    note about it, and the other metrics still run.

    Example:
        ```python
        from jrh import Measure, MetricSpec, hookimpl

        class Answered:
            def measure(self, records, context):
                for (judge,), rows in records.split("judge"):
                    done = int(rows.equals("status", "ok").sum())
                    yield Measure(name="answered", judge=judge, estimate=done / len(rows), n_trials=len(rows))

        @hookimpl
        def jrh_metrics():
            yield MetricSpec(name="answered", summary="share of trials answered", factory=lambda o, c: Answered())
        ```
    """
    return ()


@hookspec
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flags that this plugin's measures can have: short names for reasons to doubt a number.

    A flag is no component: it has a meaning, one sentence that every report shows, and an effect on claims that rest on
    a flagged measure. It explains the number, it weakens the claim to a warning that names the flag, or it forbids
    equivalence claims and decisions of gate rules. A run keeps the flags that were declared when it was made. Where two
    plugins declare one name, the stricter effect counts.

    Example:
        ```python
        from jrh import hookimpl
        from jrh.plugins import FlagSpec
        from jrh.values import FlagEffect

        @hookimpl
        def jrh_flags():
            yield FlagSpec(
                name="few-capitals",
                meaning="fewer than ten letters change; the test says little about capitals.",
                effect=FlagEffect.WEAKENS,
            )
        ```
    """
    return ()


@hookspec
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules that turn this plugin's measures into findings.

    The factory is called once per report, without arguments. Of a rule of scope `JUDGE`, `hypotheses` is called once
    per judge with a `jrh_measuring.Design`, which holds no verdict; `test` once per hypothesis; and `claims` once per
    judge, after all hypotheses of all rules were decided as one family. Yield the hypotheses of a chain in the order in
    which they are tested; a weight is above 0, at most 1, and never grows along a chain. Of a rule of scope `DATA`,
    only `claims` is called, once, with the report, and it yields `Finding`s. If a rule raises, the report says so, and
    the other rules still write theirs.

    Example:
        ```python
        from jrh import hookimpl
        from jrh.plugins import KindSpec, RuleSpec
        from jrh.values import Severity
        from jrh_measuring import Claim, Hypothesis, Rule

        class Silent(Rule):
            def hypotheses(self, design):
                for place in design.wholes("answered"):
                    yield (Hypothesis(place=place, null=0.99, side="below"),)

            def claims(self, now):
                for measure in now.measures("answered"):
                    if now.claims(measure, 0.99):
                        yield Claim(
                            kind="leaves-gaps", severity=Severity.WARNING, statement="Leaves gaps", measure=measure
                        )

        @hookimpl
        def jrh_findings():
            yield RuleSpec(
                name="gaps",
                summary="whether more than 1% of trials stay without an answer",
                reads=("answered",),
                kinds=(KindSpec(name="leaves-gaps"),),
                factory=Silent,
            )
        ```
    """
    return ()


@hookspec
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the sections of reports this plugin provides: what a report shows of the plugin's measures.

    The factory is called when a report is written, and `sections` is called once with the report. Its sections are
    part of the report: the terminal, the Markdown, the page, the notebook and `report.json` show all of them. A section
    is plain data: tables, texts, and parts of the kinds it declares, such as the heat maps of `jrh_measuring`. Cells
    are references to measures and findings, or text. Every kind has a table form for formats that do not draw it.
    Nothing in it is formatted or escaped; every reporter does both. If it raises, or refers to a measure that is not
    there, the report has a note about it, and the other sections are still shown.

    Example:
        ```python
        from jrh import hookimpl
        from jrh.plugins import SectionSpec
        from jrh.values import Column, MeasureRef, Row, Section, TablePart

        class Answers:
            def sections(self, report):
                found = [(at, each) for at, each in enumerate(report.measures) if each.name == "answered"]
                rows = tuple(Row(heads=(each.judge,), cells=(MeasureRef(measure=at),)) for at, each in found)
                table = TablePart(caption="By judge", heads=("Judge",), columns=(Column(heading="share"),), rows=rows)
                yield Section(parts=(table,) if rows else ())

        @hookimpl
        def jrh_sections():
            yield SectionSpec(
                name="answers",
                summary="share of trials answered",
                title="Answers",
                reads=("answered",),
                factory=lambda options, context: Answers(),
            )
        ```
    """
    return ()


@hookspec
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the providers of chat models this plugin provides.

    The factory is called once per model of the suite that something uses. `complete` sends one attempt; the gateway
    handles cache, budget, limits, time-outs and retries. Raise `ModelFault` for failures. Any other exception counts as
    a bug and ends the call without a retry.

    A provider that answers hours later, as batch APIs do, says `deferred=True`. Its models are
    `jrh.plugins.DeferredModel`s: jrh gives every call an id that survives a kill, and hands the call over again.

    Example:
        ```python
        from jrh import ModelSpec, hookimpl
        from jrh.plugins import Completion, Rates

        class Parrot:
            fingerprint = "parrot-1"
            rates = Rates(input=0.0, output=0.0)

            async def complete(self, request):
                return Completion(text=request.messages[-1].content, finish_reason="stop")

            async def aclose(self):
                pass

        @hookimpl
        def jrh_models():
            yield ModelSpec(name="parrot", summary="repeats", factory=lambda o, c: Parrot(), simulated=True)
        ```
    """
    return ()


@hookspec
def jrh_reporters() -> Iterable[ReporterSpec]:
    """Declare the reporters this plugin provides.

    At the end of a run, the reporters that the suite names under `reports` write their reports; if it names none, those
    with `default=True` do. Reports with the target `TERMINAL` are printed, the others written to `filename` in the run
    directory. `render` is pure. If it raises, the error is logged and shown, and the other reports are still written.

    Example:
        ```python
        from jrh import ReporterSpec, hookimpl

        class Count:
            def render(self, report):
                return f"{report.suite}: {len(report.records)} records"

        @hookimpl
        def jrh_reporters():
            yield ReporterSpec(
                name="count", summary="number of records", factory=lambda o, c: Count(), filename="count.txt"
            )
        ```
    """
    return ()


@hookspec
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the stages this plugin adds to a run: work on what is stored, between the stages of jrh.

    The stages of jrh are `load`, `perturb` and `judge`. A declared stage runs once per run, after those it names, in
    the process that writes the store, and again when the run is continued. A second stage of a name is not used; `jrh
    plugins list` shows the problem. `applies` decides whether it runs. It reads earlier results and never overwrites
    them: what it makes of a case counts in place of it. A stage may also add to the report; for that it is called again
    whenever a report is gathered, then with a store that is read-only. If a stage raises, the report has a note that
    says so, the other stages still run, and the run ends with exit code 3.

    A stage with a `key` has a section of that name in suites, whose options are checked and described like those of
    components. A stage keeps what it makes in tables: `work.store.table(TableSpec(...))` reads and writes one, and it
    survives a killed run, merging and salvage even where the plugin is not installed. A stage between `perturb` and
    `judge` that applies makes judges wait. It may also work meanwhile: see `live`, `look_at_cases` and `serve` of
    `Stage`. If its outcome names something that is `open`, the run stops there with exit code 3 and can be continued.

    Example:
        ```python
        from attrs import evolve
        from jrh import hookimpl
        from jrh.plugins import Stage, StageOutcome, StageSpec

        class Remark(Stage):
            async def run(self, work):
                work.progress.say(f"{len(work.records)} records were looked at.")
                return StageOutcome()

            def report(self, report, work):
                return evolve(report, notes=(*report.notes, "Looked at by the stage 'remark'."))

        @hookimpl
        def jrh_stages():
            yield StageSpec(name="remark", summary="says that it was there", after=("judge",), factory=Remark)
        ```
    """
    return ()


@hookspec
def jrh_importers() -> Iterable[ImporterSpec]:
    """Declare the importers this plugin provides: readers of what other tools export.

    `jrh import --from NAME FILE` calls the factory once, with the options of `--metric`, `--gold`, `--scale` and
    `--label`; without a run there is no build context. `read` is called once. Raise a `JrhError` with file and line for
    a file that the tool did not write. A missing verdict is a status, never a label. List in `unmapped` what the file
    holds and the records do not.

    Example:
        ```python
        from jrh import hookimpl
        from jrh_interchange import ExportRow, ScoreOptions, imported_scores
        from jrh.plugins import ImporterSpec

        class Ticks:
            def __init__(self, options):
                self.options = options

            def read(self, path):
                lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
                rows = [ExportRow(place=str(path), item=one, metric="tick", value=two) for one, two in lines]
                return imported_scores(rows, self.options, str(path), unmapped=("dates",))

        @hookimpl
        def jrh_importers():
            yield ImporterSpec(name="ticks", summary="lines of item,verdict", options=ScoreOptions, factory=Ticks)
        ```
    """
    return ()


@hookspec
def jrh_exporters() -> Iterable[ExporterSpec]:
    r"""Declare the exporters this plugin provides: they bring a run into another tool.

    `jrh export RUN --to NAME` calls the factory once, with the options of `--option`; without a run there is no build
    context. `export` is called once, with the report and the files of the reporters that `attach` names. Raise a
    `JrhError` where the tool is not installed or refuses. A missing verdict is never a number.

    Example:
        ```python
        from pathlib import Path

        from attrs import frozen
        from jrh import hookimpl
        from jrh.plugins import ExporterSpec

        @frozen(kw_only=True)
        class Options:
            path: str = "estimates.tsv"

        class Estimates:
            def __init__(self, options):
                self.path = Path(options.path)

            def export(self, report, attached):
                found = [each for each in report.measures if each.interval is not None]
                lines = [f"{each.name}\t{each.judge}\t{each.interval.low}\t{each.interval.high}" for each in found]
                self.path.write_text("\n".join(lines), encoding="utf-8")
                yield f"Wrote {len(found)} intervals to {self.path}."

        @hookimpl
        def jrh_exporters():
            yield ExporterSpec(name="estimates", summary="intervals as tsv", options=Options, factory=Estimates)
        ```
    """
    return ()


@hookspec
def jrh_executors() -> Iterable[ExecutorSpec]:
    """Declare the executors this plugin provides.

    `jrh run --executor NAME` calls the factory once, with the options and a logger, before the first stage. An
    executor works on units: slices of a test whose perturbers and validators ask no model, and questions to judges that
    answer in batches or are trained. Everything else, and every model call, stays in the run's process, which is the
    only one that writes. Units depend on nothing but their content. If `run` raises `LostUnitError`, the unit is worked
    on again, five times at most; another error ends the run, which can be continued.

    Example:
        ```python
        import asyncio

        from jrh import hookimpl
        from jrh.plugins import ExecutorSpec

        class Thread:
            places = 2

            async def open(self, job):
                from importlib import import_module

                module, _, name = job.runner.partition(":")
                self.perform, self.setup = getattr(import_module(module), name), job.setup

            async def run(self, unit):
                return await asyncio.to_thread(self.perform, self.setup, unit.work)

            async def aclose(self):
                pass

        @hookimpl
        def jrh_executors():
            yield ExecutorSpec(name="thread", summary="in threads of this process", factory=lambda o, c: Thread())
        ```
    """
    return ()


@hookspec
def jrh_run_started(event: RunStarted) -> None:
    """Called after a run has opened its store, before any model is asked.

    Called once per run, also when a run is continued.

    Example:
        ```python
        from jrh import hookimpl

        @hookimpl
        def jrh_run_started(event):
            print(event.suite, event.run_dir)
        ```
    """


@hookspec
def jrh_case_ready(event: CaseReady) -> None:
    """Called after a case has passed validation and is stored.

    Called once per new case, in the order of the plan within a test; cases of the reference condition are included.
    Drafts that were rejected are not cases. Cases that an earlier process made are not repeated. An implementation
    costs time on every case: keep it small.

    Example:
        ```python
        from jrh import hookimpl

        @hookimpl
        def jrh_case_ready(event):
            print("case", event.case.test, event.case.item_id)
        ```
    """


@hookspec
def jrh_record_committed(event: RecordCommitted) -> None:
    """Called after a record is committed to the store.

    Called once per new record, in the order of writing. Records that an earlier process committed are not repeated. An
    implementation costs time on every record: keep it small.

    Example:
        ```python
        from jrh import hookimpl

        @hookimpl
        def jrh_record_committed(event):
            print(event.record.judge, event.record.status.value)
        ```
    """


@hookspec
def jrh_run_finished(event: RunFinished) -> None:
    """Called after a run has ended: complete, incomplete, out of budget or interrupted.

    Called once per run, after the reports are written.

    Example:
        ```python
        from jrh import hookimpl

        @hookimpl
        def jrh_run_finished(event):
            print(event.exit_code, dict(event.statuses))
        ```
    """
