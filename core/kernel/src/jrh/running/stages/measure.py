"""Measure: records in, measures out. A metric that breaks is a note; the others still count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from typing import Final

from attrs import evolve

from jrh.document.convert import unstructure
from jrh.document.serial import to_text
from jrh.errors import RAISED
from jrh.hashing import content_id
from jrh.plugins.component_identity import code_digest, editable_source
from jrh.plugins.protocols import Logger, Metric, MetricContext
from jrh.running.building import Builder, identity
from jrh.running.judge_models import judge_models
from jrh.store.run_store import Store
from jrh.text.redact import error_line
from jrh.values.evidence import Evidence, NoEvidence
from jrh.values.items import Item, Task
from jrh.values.measures import Measure
from jrh.values.records import RecordTable
from jrh.version import __version__

_FAILED: Final = "failed"
"""Mark of measures that are not all there."""


def measure(
    builder: Builder,
    records: RecordTable,
    tasks: Mapping[str, Task],
    log: Logger,
    *,
    items: Mapping[str, Sequence[Item]] | None = None,
    evidence: Evidence = NoEvidence(),  # noqa: B008 - without state
    models: Mapping[str, str] | None = None,
    one_sided: bool = False,
) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Run every metric of the suite over the records; return the measures and a note per metric that broke.

    `models` names the model of every judge, where the suite of the run is not there to say it.
    """
    suite = builder.resolved.suite
    context = MetricContext(
        tasks=tasks,
        # In the order of the suite, also where the store has given them in another.
        items={name: items[name] for name in tasks if name in items} if items else {},
        models=judge_models(builder.resolved) if models is None else models,
        evidence=evidence,
        level=suite.level,
        resamples=suite.resamples,
        seed=suite.seed,
        margin=suite.findings.margin,
        one_sided=one_sided,
    )
    metrics = [(resolved.use.name, builder.build(resolved)) for resolved in builder.resolved.metrics]
    return run_metrics(metrics, records, context, log)


def run_metrics(
    metrics: Iterable[tuple[str, Metric]], records: RecordTable, context: MetricContext, log: Logger
) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Run metrics by name; return the measures in order and a note per metric that broke."""
    simulated = _simulated(records)
    measures: list[Measure] = []
    notes: list[str] = []
    for name, metric in metrics:
        try:
            found = [_marked(each, name, simulated) for each in metric.measure(records, context)]
        except RAISED as error:  # one metric must not cost the others
            log.warning("metric raised", metric=name, error=repr(error))
            notes.append(f"metric '{name}' could not be computed: {error_line(error)}")
            continue
        finally:
            records.file.release()  # what the next metric needs is read again
        measures += found
    return tuple(measures), tuple(notes)


def _simulated(records: RecordTable) -> frozenset[str]:
    if not len(records):
        return frozenset()
    names = records.where(records.number("simulated") == 1.0).counts("judge")
    return frozenset(name for name in names if name is not None)


def _marked(each: Measure, metric: str, simulated: frozenset[str]) -> Measure:
    """Write the metric and a simulated judge into a measure; refuse what is none, or cannot be stored, such as NaN."""
    if not isinstance(each, Measure):
        raise TypeError(f"it yields {type(each).__name__}, not Measure")
    to_text(each)
    more = ("simulated",) if each.judge in simulated and "simulated" not in each.flags else ()
    return evolve(each, metric=metric, flags=(*each.flags, *more))


def stage_digest(builder: Builder, store: Store, tasks: Sequence[Task]) -> str:
    """Return the id of everything the measures depend on: items, plan, records, metrics, level."""
    suite = builder.resolved.suite
    metrics = [identity(resolved, builder.resolved) for resolved in builder.resolved.metrics]
    return content_id(
        store.items.digest(),
        store.trials.digest(),
        [store.records.written(), store.records.argued_digest(), store.decisions.last()],
        metrics,
        suite.level,
        suite.resamples,
        suite.seed,
        suite.findings.margin,
        unstructure(list(tasks)),
        [__version__, _own_code()],
    )


def _own_code() -> str:
    """Return the digest of jrh's own scoring where it is not a released version; metrics are built on it."""
    own = {"jrh-core": "jrh", "jrh-measuring": "jrh_measuring", "jrh-stats": "jrh_stats"}
    try:
        found = [editable_source(metadata.distribution(name), [package]) for name, package in own.items()]
    except metadata.PackageNotFoundError:
        return ""
    return code_digest(source for sources in found for source in sources)


def stored_or_measured(
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
