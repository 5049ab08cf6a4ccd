"""Import verdicts collected elsewhere into a run directory like any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from attrs import evolve
from jrh.errors import JrhError, StoreError
from jrh.hashing import content_id
from jrh.plugins.loading import load_plugins
from jrh.plugins.protocols import Metric, MetricContext
from jrh.running.declared_stages import run_stages
from jrh.running.event_loop import run_to_end
from jrh.running.identity import describe_component
from jrh.running.remembered_plugins import note_plugins
from jrh.running.run_log import Quiet
from jrh.running.stage_work import work_of_store
from jrh.running.stages.summary import IMPORTED, Summary, is_known, remember
from jrh.store.records_table import TrialRow
from jrh.store.run_store import Store
from jrh.suite.resolve import resolve_metrics
from jrh.values.cases import REFERENCE
from jrh.values.clusters import link_members
from jrh.values.finding import FindingSettings
from jrh.values.item_covariates import LENGTH, GoldSource, length_of, read_covariates, write_covariates
from jrh.values.items import Item, Mode, Task
from jrh.values.json_values import Json
from jrh.values.records import RecordTable
from jrh.values.report import RunReport, TaskSummary
from jrh.values.scales import invert
from jrh.values.verdicts import Record, Status
from jrh.version import __version__
from jrh_measuring import with_findings
from jrh_measuring.installed import default_metrics, load_flags
from jrh_measuring.measure_stage import run_metrics

from jrh_interchange.log_gaps import measurement_gaps, several_references
from jrh_interchange.option_orders import meanings, read_order, read_polarity
from jrh_interchange.record_checks import check_records

_USUAL: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("variant", "template", "language", "output", "stratum", "detail", "rationale"), ""),
    **dict.fromkeys(("temperature", "probability", "cost", "prompt_tokens", "completion_tokens", "latency"), None),
    "strength": 0.0,
    "simulated": False,
    "attempts": 1,
}
"""What a record has where a log says nothing else."""


def imported_record(
    *,
    task: Task,
    item_id: str,
    judge: str,
    label: str | None,
    case: str = "",
    presented: bool = False,
    presented_label: str | None = None,
    status: Status | None = None,
    test: str = REFERENCE,
    family: str = "",
    option_order: str = "",
    polarity: str = "positive",
    repeat: int = 0,
    gold: str | None = None,
    expectation: str | None = None,
    expected: str | None = None,
    group: str = "",
    argued: str | None = None,
    content: str = "",
    gold_source: str = "",
    covariates: Mapping[str, Json] | str = "",
    **fields: Any,
) -> Record:
    """Make a record of a verdict that was collected elsewhere; ids are derived from the content.

    Args:
        task: the task that was judged.
        item_id: the item.
        judge: the judge's name.
        label: the label in the log; None if there is no verdict.
        case: id of the question, if the log has one: the same for all verdicts on this question, and for no others.
            By default it is derived from the item and the condition.
        presented: whether the label refers to the question as presented. With swapped options or inverted polarity it
            is then translated to the canonical label. Otherwise labels are canonical.
        presented_label: the label as presented, if it differs in wording from the canonical `label`; by default it is
            derived from the label.
        status: why there is no label, or `ok`; by default `ok` with a label and `unparsable` without one.
        test: the condition's test; `reference` for the unperturbed question.
        family: the perturber; by default the test's name.
        option_order: canonical options in presented order, such as `BA`, or a synonym that `read_order` knows.
        polarity: `positive` or `inverted`, or a synonym that `read_polarity` knows.
        repeat: 0-based number of the repeat.
        gold: canonical gold label.
        expectation: `same`, `changes`, `not_above`, `not_below` or `equals`; by default `equals` the gold label in the
            reference condition and `same` elsewhere. An empty text means no expectation.
        expected: the canonical label of `equals`.
        group: items that belong together; the item itself by default.
        argued: the label as presented that a model says the rationale argues for, `(none)` if it read none; None or
            empty if no model read it.
        content: the text that was judged; items of the same text are one cluster.
        gold_source: where the gold label comes from, such as `people` or `model:NAME`; empty if unknown.
        covariates: what the verdict may depend on, by name: a number or a text, of a comparison one for every option,
            such as `{"length": {"A": 120, "B": 80}}`; or the same as JSON text. `length` is that of `content` unless
            stated, but in a comparison.
        fields: further fields of a `jrh.Record`, as it describes them: of the condition `variant`, `template`,
            `strength`, `language`, `temperature`, `output`, `seed`; of the item `stratum`; of the verdict `rationale`,
            `detail`, `probability`, `score`, `left_out`, `parse_attempts`, `simulated`; of its call `cost`,
            `prompt_tokens`, `completion_tokens`, `latency`, `attempts`, `not_settable`.

    Raises:
        JrhError: the covariates are no JSON object, or the option order, the polarity or the gold source is none of
            those known.
    """
    option_order, polarity = read_order(option_order, task), read_polarity(polarity)
    label_map = meanings(task, option_order, polarity)
    # A reliable judge gives the gold label to the unchanged question and the same verdict to a changed one.
    if expectation is None:
        expectation = "same" if test != REFERENCE else "equals" if gold is not None else None
    if expectation == "equals" and expected is None:
        expected = gold
    known = {**_USUAL, **fields}
    known["strength"] = float(known["strength"])
    levels = (known[name] for name in ("strength", "language", "temperature"))
    stated: tuple[object, ...] = (test, known["variant"], known["template"], option_order, polarity, *levels)
    # Left out where empty: logs that lack the column keep the ids they had before there was one.
    condition = (*stated, known["output"]) if known["output"] else stated
    case_id = case or content_id(IMPORTED, task.name, item_id, *condition)
    # In a comparison each option has a length of its own, which `content` does not tell.
    measured = {LENGTH: length_of(content)} if content.strip() and task.mode is not Mode.PAIRWISE else {}
    # A label that is not on the scale stays unchanged, so that the error message shows it as written.
    return Record(
        # Not from the label: two rows about one trial are a mistake of the log, which `check_records` finds by equal
        # ids.
        trial_id=content_id(case_id, judge, repeat),
        case_id=case_id,
        item_id=item_id,
        task=task.name,
        test=test,
        family=family or test,
        option_order=option_order,
        polarity=polarity,
        group=group or item_id,
        judge=judge,
        repeat=repeat,
        gold=gold,
        expectation=expectation or None,
        expected=expected,
        status=status or (Status.OK if label is not None else Status.UNPARSABLE),
        presented=presented_label or (label if presented else invert(label_map, label or "")),
        canonical=label_map.get(label, label) if presented and label is not None else label,
        argued=argued or None,
        # Only the words count: another line break does not make another text.
        cluster=content_id(" ".join(content.split())) if content.strip() else "",
        gold_source=GoldSource.read(gold_source).text if gold_source.strip() and gold is not None else "",
        covariates=write_covariates(
            {**measured, **(read_covariates(covariates) if isinstance(covariates, str) else covariates)}
        ),
        **known,
    )


def import_records(
    run_dir: Path,
    suite_name: str,
    tasks: Sequence[Task],
    records: Iterable[Record],
    *,
    items: Mapping[str, Sequence[Item]] = MappingProxyType({}),
    origins: Sequence[str] = (),
    notes: Sequence[str] = (),
    plugins: Sequence[str] = (),
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    metrics: Path | Json = None,
    findings: FindingSettings | None = None,
) -> int:
    """Write records into a run directory that `jrh report` treats like any other.

    The records keep their order. A new import replaces an earlier one in the same directory. The import computes no
    measures; the report does. Its notes say what cannot be measured from these records.

    Args:
        run_dir: the directory; created if missing.
        suite_name: the name the report shows.
        tasks: the tasks the records are of.
        records: for example from `imported_record`.
        items: task -> its items, if the log has their texts: metrics then find the pairs of prompts that they list.
        origins: where each record comes from, such as `log.csv:12`, for messages.
        notes: notes for readers of the report, one sentence each.
        plugins: plugins to load, as `--plugins`; their default metrics are those of the report.
        level: coverage of the intervals.
        resamples: bootstrap samples.
        seed: the run's seed.
        metrics: what the report computes, as `metrics` in a suite, or a file with this key; None: the defaults.
        findings: the effect floor and the margin that findings are held against; None: the defaults.

    Returns:
        How many records were written.

    Raises:
        SuiteError: lists all invalid records: a duplicate trial, a label off the scale, two gold labels of one item, a
            verdict without a label, a judge that is simulated in one record and real in another.
        StoreError: the directory holds a run that was not imported, or cannot be used.
    """
    rows = _check_rows(tasks, records, origins)
    loaded = load_plugins(plugins)
    if findings is not None and (wrong := loaded.plugins.wrong_floors(findings.floors)):
        raise JrhError("\n".join(wrong.values()))
    computed = default_metrics(loaded.plugins) if metrics is None else resolve_metrics(metrics, loaded.plugins)
    summary = Summary(
        suite=suite_name,
        level=level,
        resamples=resamples,
        simulated=tuple(sorted({row.judge for row in rows if row.simulated})),
        **_about(suite_name, seed, tasks, rows),
        components=tuple(describe_component("metric", metric, Path()) for metric in computed),
        notes=(
            "Imported records: jrh did not call these judges.",
            *notes,
            *several_references(tasks, rows),
            *measurement_gaps(tasks, rows),
        ),
        findings=findings or FindingSettings(),
        flags=tuple(loaded.plugins.flags_by_name().values()),
    )
    store = Store.open(run_dir, suite_name)
    try:
        # An import replaces what is there, and a run has cost money.
        if is_known(store) and store.meta(IMPORTED) is None:
            raise StoreError(f"'{run_dir}' holds a run that was not imported; choose another directory")
        _write(store, rows, items, summary)
        note_plugins(store, loaded)
        work = work_of_store(loaded, store, summary)
        # Stages of plugins that read records work on imported ones too.
        run_to_end(lambda: run_stages("judge", work))
    finally:
        store.close()
    return len(rows)


def _write(store: Store, rows: Sequence[Record], items: Mapping[str, Sequence[Item]], summary: Summary) -> None:
    # First: an import that is killed half-way can then be repeated in the same directory.
    store.set_meta(IMPORTED, "1")
    store.forget_results()
    store.items.write(items)
    store.records.put([(row, None, None) for row in rows])
    store.trials.replace(content_id([row.trial_id for row in rows]), _plan(rows))
    remember(store, summary)
    store.flush()


def _check_rows(tasks: Sequence[Task], records: Iterable[Record], origins: Sequence[str]) -> tuple[Record, ...]:
    """Check the records; give every record the gold label and the cluster of its item.

    Items are one cluster that share a group, or content that `imported_record` noted.
    """
    rows = tuple(records)
    check_records(tasks, rows, origins)
    names = {
        # The line break keeps digests of contents apart from names of groups.
        task.name: link_members(
            (row.item_id, (row.group or row.item_id, f"\n{row.cluster}")) for row in rows if row.task == task.name
        )
        for task in tasks
    }
    labelled = {(row.task, row.item_id): row for row in rows if row.gold is not None}
    return tuple(
        evolve(row, cluster=names[row.task][row.item_id], **_gold(row, labelled.get((row.task, row.item_id))))
        for row in rows
    )


def _gold(row: Record, labelled: Record | None) -> Mapping[str, Any]:
    """Return what a record without a gold label takes from a labelled one of its item."""
    if labelled is None or row.gold is not None:
        return {}
    label = {"gold": labelled.gold, "gold_source": labelled.gold_source}
    # As `imported_record` does with a label: a reliable judge gives it to the unchanged question.
    expects = row.test == REFERENCE and row.expectation is None
    return {**label, "expectation": "equals", "expected": labelled.gold} if expects else label


def _plan(rows: Sequence[Record]) -> Iterator[TrialRow]:
    for position, row in enumerate(rows):
        yield TrialRow(
            position=position,
            trial_id=row.trial_id,
            case_id=row.case_id,
            judge=row.judge,
            repeat=row.repeat,
            occasion=row.repeat,
        )


def measure_records(
    name: str,
    tasks: Sequence[Task],
    records: Iterable[Record],
    *,
    metrics: Mapping[str, Metric],
    origins: Sequence[str] = (),
    notes: Sequence[str] = (),
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> RunReport:
    """Measure records without a run directory; the numbers are those of `import_records` and a report.

    Args:
        name: what the report is called.
        tasks: the tasks the records are of.
        records: for example from `imported_record`.
        metrics: from `load_metrics`.
        origins: where each record comes from, for messages.
        notes: notes for readers, one sentence each.
        level: coverage of the intervals.
        resamples: bootstrap samples.
        seed: seed of all random numbers.

    Raises:
        SuiteError: as in `import_records`.
    """
    rows = _check_rows(tasks, records, origins)
    table = RecordTable.from_records(rows)
    context = MetricContext(tasks={task.name: task for task in tasks}, level=level, resamples=resamples, seed=seed)
    # A broken metric costs its own measures only; it becomes a note and a warning below.
    measures, broken = run_metrics(metrics.items(), table, context, Quiet())
    report = RunReport(
        suite=name,
        level=level,
        simulated=frozenset(row.judge for row in rows if row.simulated),
        **_about(name, seed, tasks, rows),
        measures=measures,
        planned=len(rows),
        # A log has no plan: what it does not hold was not planned.
        missing_records=0,
        notes=(*notes, *broken),
        warnings=broken,
        records=table,
        flags=load_flags(),
    )
    return with_findings(report)


def _about(name: str, seed: int, tasks: Sequence[Task], rows: Sequence[Record]) -> dict[str, Any]:
    """Return what the summary of a run and its report say alike."""
    return {
        "run_id": content_id("import", name, seed),
        "version": __version__,
        "seed": seed,
        "tasks": tuple(_summary(task, rows) for task in tasks),
        "judges": tuple(dict.fromkeys(row.judge for row in rows)),
        "tests": tuple(dict.fromkeys((REFERENCE, *(row.test for row in rows)))),
    }


def _summary(task: Task, rows: Sequence[Record]) -> TaskSummary:
    # By item, however many rows it has: they have one gold label.
    gold = {row.item_id: row.gold for row in rows if row.task == task.name}
    sources = {row.item_id: row.gold_source for row in rows if row.task == task.name and row.gold is not None}
    gold_sources = Counter(GoldSource.read(source).text for source in sources.values())
    counts = Counter(label for label in gold.values() if label is not None)
    return TaskSummary(
        task=task,
        items=len(gold),
        labelled=sum(counts.values()),
        gold={label: counts[label] for label in task.scale.labels if counts[label]},
        gold_sources=dict(sorted(gold_sources.items())),
    )
