"""Records in, measures out; a metric that breaks is a note."""

from __future__ import annotations

from typing import Any

import attrs
from jrh.plugins.protocols import MetricContext
from jrh.plugins.specs import MetricSpec
from jrh.running.progress import Progress
from jrh.running.stage_work import StageWork
from jrh.running.stages.summary import Summary
from jrh.store.run_store import Store
from jrh.values.measures import Interval, Measure
from jrh.values.records import RecordTable
from jrh.values.report import TaskSummary
from jrh.values.verdicts import Record, Status
from jrh_measuring import measure_stage as stage
from jrh_testing import RecordingLog, loop_over, sample_records

CONTEXT = MetricContext(tasks={})
RECORDS = RecordTable.from_records(sample_records())


class Metric:
    """A metric that yields what a function says."""

    def __init__(self, act: Any) -> None:
        self.act = act

    def measure(self, records: RecordTable, context: MetricContext) -> Any:
        return self.act(records, context)


def one(name: str, judge: str = "careful", **changes: Any) -> Measure:
    return attrs.evolve(Measure(name=name, judge=judge, estimate=0.5), **changes)


def run(**metrics: Any) -> tuple[list[str], tuple[str, ...]]:
    metrics = {name: Metric(act) for name, act in metrics.items()}
    measures, notes = stage.run_metrics(metrics.items(), RECORDS, CONTEXT, RecordingLog())
    return [each.name for each in measures], notes


def test_measures_come_in_the_order_of_the_metrics() -> None:
    found = run(b=lambda records, context: [one("b1"), one("b2")], a=lambda records, context: iter([one("a1")]))
    assert found == (["b1", "b2", "a1"], ())


def breaks(records: Any, context: Any) -> Any:
    yield one("half done")
    raise ZeroDivisionError("division by zero")


@loop_over(
    ("act", "note"),
    [
        (breaks, "metric 'bad' could not be computed: ZeroDivisionError: division by zero"),
        (lambda records, context: None, "metric 'bad' could not be computed: TypeError"),
        (lambda records, context: [0.5], "metric 'bad' could not be computed: TypeError: it yields float, not Measure"),
        (lambda records, context: [one("x", estimate=float("nan"))], "metric 'bad' could not be computed: ValueError"),
        (
            lambda records, context: [one("x", interval=Interval(low=0.0, high=float("inf")))],
            "metric 'bad' could not be computed: ValueError",
        ),
    ],
)
def test_a_metric_that_breaks_is_a_note_and_the_others_still_count(act: Any, note: str) -> None:
    names, notes = run(bad=act, good=lambda records, context: [one("good")])
    assert names == ["good"]
    assert len(notes) == 1
    assert notes[0].startswith(note)


def test_measures_of_a_simulated_judge_are_marked_once() -> None:
    def act(records: Any, context: Any) -> list[Measure]:
        return [one("a"), one("b", "careless"), one("c", "careless", flags=("underpowered", "simulated"))]

    measures, _ = stage.run_metrics([("m", Metric(act))], RECORDS, CONTEXT, RecordingLog())
    assert [each.flags for each in measures] == [(), ("simulated",), ("underpowered", "simulated")]


def test_a_measure_says_which_metric_of_the_suite_built_it() -> None:
    metrics = {name: Metric(lambda records, context: [one("x", metric="planted")]) for name in ("first", "second")}
    measures, _ = stage.run_metrics(metrics.items(), RECORDS, CONTEXT, RecordingLog())
    assert [each.metric for each in measures] == ["first", "second"]


def test_metrics_are_told_tasks_level_resamples_and_seed(lab: Any, store: Store) -> None:
    told: list[MetricContext] = []

    def act(records: Any, context: Any) -> list[Measure]:
        told.append(context)
        return []

    spec = MetricSpec(name="m", summary="", factory=lambda options, context: Metric(act))
    builder = lab.builder(spec, level=0.9, resamples=500, seed=3)
    task = builder.resolved.suite.tasks[0].task
    summary = Summary(
        suite="lab",
        run_id="lab",
        version="1",
        seed=3,
        level=0.9,
        resamples=500,
        tasks=(TaskSummary(task=task, items=0, labelled=0, gold={}),),
        judges=(),
        simulated=(),
        tests=(),
        components=(),
    )
    work = StageWork(
        builder=builder,
        store=store,
        summary=summary,
        items={},
        records=RECORDS,
        log=lab.log,
        progress=Progress(),
    )
    stage.measure(work)
    (context,) = told
    assert (context.level, context.resamples, context.seed, context.tasks) == (0.9, 500, 3, {"lab": task})


def test_no_records_are_measured_too() -> None:
    measures, notes = stage.run_metrics(
        [("m", Metric(lambda records, context: [one("n", n_trials=len(records))]))],
        RecordTable.from_records([]),
        CONTEXT,
        RecordingLog(),
    )
    assert (measures[0].n_trials, notes) == (0, ())


MEASURES = (
    one("a", interval=Interval(low=0.1, high=0.9, method="wilson"), missing={"timeout": 2}, bounds=(0.0, 1.0)),
    one("b", estimate=None, flags=("degenerate",), note="one label only", cell={"variant": "crlf"}),
)


def test_measures_are_kept_and_not_computed_again(store: Store) -> None:
    computed = []

    def compute() -> Any:
        computed.append(1)
        return MEASURES, ()

    first = stage.reuse_or_measure(store, "digest", compute)
    assert stage.reuse_or_measure(store, "digest", compute) == first == (MEASURES, ())
    assert len(computed) == 1
    assert stage.reuse_or_measure(store, "other", lambda: ((), ())) == ((), ())
    assert store.measures.read() == ((), ())


def test_a_failed_measurement_can_be_read_and_is_made_again(store: Store) -> None:
    failed: Any = (MEASURES[:1], ("first note", "second note"))
    stage.reuse_or_measure(store, "digest", lambda: failed)
    assert store.measures.read() == failed
    assert stage.reuse_or_measure(store, "digest", lambda: (MEASURES, ())) == (MEASURES, ())
    assert store.measures.read() == (MEASURES, ())


def test_the_digest_changes_with_the_plan_the_records_and_the_metrics(lab: Any, store: Store) -> None:
    spec = MetricSpec(name="m", summary="", factory=lambda options, context: Metric(lambda r, c: []))

    def digest(entry: Any = spec, **changes: Any) -> str:
        builder = lab.builder(entry, **changes)
        return stage.stage_digest(builder, store, [use.task for use in builder.resolved.suite.tasks])

    first = digest()
    assert digest() == first
    found = {first, digest(lab.entry(spec, version="2.0")), digest(level=0.9), digest(resamples=100), digest(seed=1)}
    found.add(digest(task={"scale": {"labels": ["NO", "YES"]}}))
    store.trials.replace("planned", [])
    found.add(digest())
    row: Record = attrs.evolve(sample_records(missing=0.0)[0], trial_id="t")
    store.records.put([(row, None, None)])
    store.flush()
    found.add(digest())
    store.records.put([(attrs.evolve(row, status=Status.TIMEOUT), None, None)])
    store.flush()
    found.add(digest())
    assert len(found) == 9
