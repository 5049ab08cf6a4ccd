"""The stage that measures: records in, measures and findings out. A metric that breaks is a note; the others count."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import evolve
from jrh import Measure, MetricContext, MetricSpec, RecordTable, RunReport, Task, __version__, content_id
from jrh.document.convert import to_text, unstructure
from jrh.errors import RAISED, DamagedStoreError
from jrh.plugins import Logger, MeasureInfo, Metric, Stage, StageOutcome
from jrh.plugins.component_identity import code_digest, editable_source
from jrh.running import Builder, StageWork, recall
from jrh.running.identity import identity
from jrh.running.remembered_plugins import load_remembered
from jrh.running.stage_work import work_of_store
from jrh.running.stages.stored import decision_notes
from jrh.store.cases_table import VOTES
from jrh.store.run_store import Store
from jrh.text import count_noun
from jrh.text.redact import error_line
from jrh.values import Agreement
from jrh_stats import krippendorff_alpha

from jrh_measuring.builder import interval_of
from jrh_measuring.declaring import MetricOptions
from jrh_measuring.findings.deciding import decide, with_found
from jrh_measuring.findings.record import (
    FindingsRecord,
    changes_of_findings,
    join_names,
    read_record,
    rule_changes,
    rules_of,
    write_record,
)
from jrh_measuring.flags import STOPPED_EARLY
from jrh_measuring.served_models import served_models

_FAILED: Final = "failed"
"""Mark of measures that are not all there."""
_AGAIN: Final = "`jrh report RUN --rules installed` decides again"
_UNRECORDED: Final = (
    "Findings are decided with the installed rules: the run keeps no findings of these measures; run the suite again "
    "to keep them"
)


class Measuring(Stage):
    """Measures the records of the plan, and adds measures and findings to the report."""

    async def run(self, work: StageWork) -> StageOutcome:
        """Store the measures, unless those stored are of the same records and metrics; those of an import are not.

        Not complete where a metric broke that the suite names: whoever asked for a number must not miss that it is not
        there. One that jrh adds by itself is a note.
        """
        if work.imported:
            return StageOutcome()
        digest = stage_digest(work.builder, work.store, list(work.tasks.values()))
        _, notes = reuse_or_measure(work.store, digest, lambda: measure(work))
        suite = work.builder.resolved.suite
        named = tuple(f"metric '{use.name}' " for use in (*(suite.metrics or ()), *suite.added_metrics))
        missing = tuple(note for note in notes if note.startswith(named))
        return StageOutcome(complete=not missing, notes=missing)

    def report(self, report: RunReport, work: StageWork) -> RunReport:
        """Add the measures, a note per metric that broke, the agreement of validators that vote, and the findings."""
        measures, notes = measure_again(work) if work.again else work.store.measures.read()
        attrition = (
            evolve(line, agreement=agreements(work.store, line.task, line.test, report.level))
            for line in report.attrition
        )
        measured = evolve(report, attrition=tuple(attrition), measures=measures, served=served_models(report))
        return _with_findings(measured.add_notes(notes), work)


def _with_findings(report: RunReport, work: StageWork) -> RunReport:
    """Add findings: a run decides and keeps the record of it; what is reported later is taken from that record."""
    # An import has no run that could have decided; a store that can be written belongs to the run under way.
    if work.store.writable or work.imported:
        decided = decide(report, work.summary.findings, work.builder.plugins)
        if not work.imported:
            write_record(work.store, decided)
        return with_found(report, decided.found)
    record = _readable_record(work)
    # Other measures than those that were decided on: the record says nothing about them.
    if record is not None and work.again and report.measures != work.store.measures.read()[0]:
        record = None
    if record is not None and not work.installed_rules:
        if work.again and (changed := rule_changes(record.rules, rules_of(work.builder.plugins))):
            work.say(f"Findings are those of the run's rules; now installed: {changed}. {_AGAIN}")
        return with_found(report, record.found)
    decided = decide(report, work.summary.findings, work.builder.plugins)
    report = with_found(report, decided.found)
    if record is None:
        work.say(_UNRECORDED)
        return report
    rules = rule_changes(record.rules, decided.rules) or "those of the run"
    again = f"findings decided again with the installed rules ({rules})"
    return report.add_notes((again, *changes_of_findings(record.found, decided.found)))


def _readable_record(work: StageWork) -> FindingsRecord | None:
    try:
        return read_record(work.store)
    except DamagedStoreError as error:
        if not work.installed_rules:
            raise
        work.say(str(error).removesuffix("."))
        return None


def measure(work: StageWork, *, level: float | None = None) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Run every metric of the suite over the records; return the measures and a note per metric that broke.

    Args:
        work: the records and the suite.
        level: of one-sided limits, for a gate; None: two-sided intervals of the suite's level.
    """
    suite = work.builder.resolved.suite
    context = MetricContext(
        tasks=work.tasks,
        # In the order of the suite, also where the store has given them in another.
        items={name: work.items[name] for name in work.tasks if name in work.items},
        models=work.summary.models,
        evidence=work.evidence,
        level=suite.level if level is None else level,
        resamples=suite.resamples,
        seed=suite.seed,
        margin=suite.findings.margin,
        one_sided=level is not None,
    )
    resolved = work.builder.resolved.metrics
    metrics = [(metric.use.name, work.builder.build(metric)) for metric in resolved]
    measures, notes = run_metrics(metrics, work.records, context, work.log)
    omitted = {
        metric.use.name: [info for info in metric.entry.spec.measures if _is_omitted(info, metric.options)]
        for metric in resolved
    }
    early = (STOPPED_EARLY,) if _ended_by_verdicts(work) else ()
    return tuple(
        evolve(each, flags=(*each.flags, *early))
        for each in measures
        if not any(info.describes(each.name) for info in omitted[each.metric])
    ), notes


def _ended_by_verdicts(work: StageWork) -> bool:
    """Return whether an allocator that sees verdicts has ended some judging: of whom, they decided as well."""
    # One that is not installed any more may have seen them.
    blind = {each.qualified for each in work.builder.plugins.allocators if not each.spec.sees_verdicts}
    used = {each.component for each in work.summary.components if each.role == "allocator"}
    return not used <= blind and bool(decision_notes(work.store))


def _is_omitted(info: MeasureInfo, options: object) -> bool:
    """Return whether a measure is on request and not asked for; metrics need no options of ours."""
    return info.on_request and not (isinstance(options, MetricOptions) and options.asks_for(info))


def measure_again(work: StageWork) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Measure a run that is there, as `measure`; what metrics that are not installed measured stays as it is stored."""
    measures, notes = measure(work)
    places = {metric.name: place for place, metric in enumerate(work.summary.metrics)}
    gone = sorted(set(places) - {metric.use.name for metric in work.builder.resolved.metrics})
    if not gone:
        return measures, notes
    stored, stored_notes = work.store.measures.read()
    if not stored and not stored_notes:  # an import keeps none
        lost = (f"metric '{name}' could not be computed: its plugin is not loaded" for name in gone)
        return measures, (*notes, *lost)
    metrics = f"{count_noun(len(gone), 'metric')} ({join_names(gone, ', ')})"
    work.say(f"The plugin of {metrics} is not loaded: the measures are those that the run stored")
    from_store = [measure for measure in stored if measure.metric in gone]
    # What failed in the run and cannot run again has still failed.
    failed = (note for note in stored_notes if note.startswith(tuple(f"metric '{name}' " for name in gone)))
    return tuple(sorted((*measures, *from_store), key=lambda each: places[each.metric])), (*notes, *failed)


def one_sided_measures(
    run_dir: str | Path, errors: Iterable[float], plugins: Sequence[str] = ()
) -> Mapping[float, tuple[Measure, ...]]:
    """Compute the measures of a run with one-sided limits at several error rates; asks no model and writes nothing.

    Each end of an interval errs in at most the error rate of all samples. Metrics that are not installed are left out.

    Args:
        run_dir: the run or the import.
        errors: error rates, each between 0 and 0.5.
        plugins: plugins to load, as `--plugins`.

    Raises:
        JrhError: there is no run in the directory, or it has nothing to report yet.
    """
    with one_sided_measuring(run_dir, plugins) as measure_records:
        return measure_records(None, errors)


@contextmanager
def one_sided_measuring(
    run_dir: str | Path, plugins: Sequence[str] = (), names: Collection[str] | None = None
) -> Iterator[Callable[[RecordTable | None, Iterable[float]], Mapping[float, tuple[Measure, ...]]]]:
    """Open a run and yield what computes its measures, with one-sided limits at several error rates, of any records.

    Args:
        run_dir: the run or the import; what is yielded takes None for its own records.
        plugins: plugins to load, as `--plugins`.
        names: the only measures that are wanted: metrics that have none of them are not computed.

    Raises:
        JrhError: there is no run in the directory, or it has nothing to report yet.
    """
    with closing(Store.view(Path(run_dir))) as store:
        summary, loaded = recall(store), load_remembered(store, plugins)
        specs = {entry.qualified: entry.spec for entry in loaded.plugins.metrics}
        metrics = tuple(
            metric
            for metric in summary.metrics
            if names is None or metric.component not in specs or _measures_any(specs[metric.component], names)
        )
        # Its records are read once for all error rates.
        others = (component for component in summary.components if component.role != "metric")
        work = work_of_store(loaded, store, evolve(summary, components=(*others, *metrics)))
        yield lambda records, errors: measure_one_sided(
            work if records is None else evolve(work, records=records), errors
        )


def _measures_any(spec: MetricSpec, names: Collection[str]) -> bool:
    """Return whether a metric may have a measure of one of these names; one that declares none may."""
    return not spec.measures or any(info.describes(name) for info in spec.measures for name in names)


def measure_one_sided(work: StageWork, errors: Iterable[float]) -> Mapping[float, tuple[Measure, ...]]:
    """Measure with one-sided limits at several error rates, as `one_sided_measures`."""
    # Each end of an interval of level 1 - 2 e errs at most e of the time.
    return {error: measure(work, level=1 - 2 * error)[0] for error in dict.fromkeys(errors)}


def run_metrics(
    metrics: Iterable[tuple[str, Metric]], records: RecordTable, context: MetricContext, log: Logger
) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Run metrics by name; return the measures in order and a note per metric that broke."""
    # Found once for all metrics: a metric cannot forget the mark.
    simulated = _find_simulated(records)
    measures: list[Measure] = []
    notes: list[str] = []
    for name, metric in metrics:
        try:
            marked = [_mark(measure, name, simulated) for measure in metric.measure(records, context)]
        except RAISED as error:  # one metric must not cost the others
            log.warning("metric raised", metric=name, error=repr(error))
            notes.append(f"metric '{name}' could not be computed: {error_line(error)}")
            continue
        finally:
            records.file.release()  # what the next metric needs is read again
        measures += marked
    return tuple(measures), tuple(notes)


def _find_simulated(records: RecordTable) -> frozenset[str]:
    if not len(records):
        return frozenset()
    names = records.where(records.number("simulated") == 1.0).counts("judge")
    return frozenset(name for name in names if name is not None)


def _mark(each: Measure, metric: str, simulated: frozenset[str]) -> Measure:
    """Write the metric and a simulated judge into a measure; refuse what is none, or cannot be stored, such as NaN."""
    if not isinstance(each, Measure):
        raise TypeError(f"it yields {type(each).__name__}, not Measure")
    to_text(each)  # raises here, where it costs one metric, and not when the measures of all are stored
    more = ("simulated",) if each.judge in simulated and "simulated" not in each.flags else ()
    return evolve(each, metric=metric, flags=(*each.flags, *more))


def stage_digest(builder: Builder, store: Store, tasks: Sequence[Task]) -> str:
    """Return the id of everything the measures depend on: items, plan, records, metrics, level."""
    suite = builder.resolved.suite
    return content_id(
        store.items.digest(),
        store.trials.digest(),
        [store.records.write_state(), store.records.rationales_digest(), store.cases.validity()],
        [identity(resolved, builder.resolved) for resolved in builder.resolved.metrics],
        suite.level,
        suite.resamples,
        suite.seed,
        suite.findings.margin,
        unstructure(list(tasks)),
        # Another version may score otherwise; an editable checkout has one version for many states of its code.
        [__version__, _own_code()],
    )


def _own_code() -> str:
    """Return the digest of jrh's own scoring where it is not a released version; metrics are built on it."""
    packages = {"jrh-core": "jrh", "jrh-measuring": "jrh_measuring", "jrh-stats": "jrh_stats"}
    try:
        code = [editable_source(metadata.distribution(name), [package]) for name, package in packages.items()]
    # Where a package is not installed there is no source to read, and the version has to do.
    except metadata.PackageNotFoundError:
        return ""
    return code_digest(source for sources in code for source in sources)


def reuse_or_measure(
    store: Store, digest: str, compute: Callable[[], tuple[tuple[Measure, ...], tuple[str, ...]]]
) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Return the stored measures where nothing they depend on has changed; compute and store them otherwise.

    Where a metric failed, the measures of the others are stored for readers of the run, and everything is measured
    again next time: the failure may have been mended where no digest can see it.
    """
    if store.measures.digest() == digest:
        return store.measures.read()
    measures, notes = compute()
    store.measures.replace(f"{digest}:{_FAILED}" if notes else digest, measures, notes)
    return measures, notes


PREFIX: Final = "validator:"
"""In a draft's details, the key of what a validator said is this and the validator's name."""

Ballot: TypeAlias = tuple[str, Mapping[str, Any]]
"""An item's cluster, and voter -> vote on one draft of it; None is a vote that was not cast."""


def agreements(store: Store, task: str, test: str, level: float) -> tuple[Agreement, ...]:
    """Measure the agreement on all drafts of a test, accepted and rejected, for every validator that reports votes."""
    ballots: dict[str, list[Ballot]] = {}
    for cluster, details in store.cases.drafts_with_votes(task, test):
        for name, detail in details.items():
            votes = detail.get(VOTES) if name.startswith(PREFIX) and isinstance(detail, dict) else None
            if isinstance(votes, dict):
                ballots.setdefault(name.removeprefix(PREFIX), []).append((cluster, votes))
    return tuple(vote_agreement(name, cast, level) for name, cast in ballots.items())


def vote_agreement(validator: str, ballots: Sequence[Ballot], level: float) -> Agreement:
    """Estimate Krippendorff's alpha for nominal votes, drafts of items of one cluster being one.

    Args:
        validator: the suite's name for it.
        ballots: one per draft.
        level: coverage of the interval.
    """
    # Votes are any JSON: as texts, true and 1 are different votes.
    cast = [[json.dumps(vote) for vote in votes.values() if vote is not None] for _, votes in ballots]
    kinds = sorted({vote for votes in cast for vote in votes})
    clusters = {name: place for place, name in enumerate(dict.fromkeys(name for name, _ in ballots))}
    alpha = krippendorff_alpha(
        # Without any vote there is no kind; the estimate takes a column all the same.
        [[votes.count(kind) for kind in kinds] or [0] for votes in cast],
        clusters=[clusters[name] for name, _ in ballots],
        level=level,
    )
    return Agreement(
        validator=validator,
        estimate=alpha.value,
        interval=interval_of(alpha, level),
        drafts=len(ballots),
        comparable=sum(len(votes) > 1 for votes in cast),
        voters=len({voter for _, votes in ballots for voter in votes}),
        missing=sum(len(votes) for _, votes in ballots) - sum(map(len, cast)),
        flags=alpha.flags,
    )
