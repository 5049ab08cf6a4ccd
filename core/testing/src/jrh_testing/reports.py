"""Make records and reports to test metrics and reporters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

import attrs
from attrs import evolve
from jrh import REFERENCE, Interval, Measure, Record, RecordTable, RunReport, Status, Task, content_id, derive_seed
from jrh.plugins import RuleSpec
from jrh.plugins.registry import Registry
from jrh.running.reporters import with_sections
from jrh.running.run_log import Quiet
from jrh.running.without_suite import builder_without_suite
from jrh.values import Attrition, ComponentUsed, CostLine, FaultLine, Finding, Flag, SpendLine, TaskSummary, spending_of
from jrh_measuring import findings_of
from jrh_measuring.installed import installed_plugins

from jrh_testing.building import declarations
from jrh_testing.samples import sample_task

JUDGES = ("careful", "careless")
"""The judges of the sample records; the second is simulated."""

SIMULATED = frozenset({"careless"})

_CONDITIONS = (
    (REFERENCE, REFERENCE, "", 0.0, 2),
    ("layout", "format", "blank-lines", 0.5, 1),
    ("layout", "format", "crlf", 1.0, 1),
)
# Every status takes its turn, so that a metric which forgets one is noticed.
_MISSING = tuple(status for status in Status if status is not Status.OK)


def sample_records(task: Task | None = None, *, items: int = 12, missing: float = 0.1) -> tuple[Record, ...]:
    """Make the records of two judges, a reference asked twice, and one test with two variants.

    Everything follows from the arguments: the first judge is mostly right, the second, simulated one often wrong.

    Args:
        task: the task; by default `sample_task()`.
        items: number of items; every fifth one is unlabelled.
        missing: share of the trials without a verdict, 1.0 for all; the statuses take turns.
    """
    task = task or sample_task()
    place = (repr(task), items, missing)  # a task is not hashable; its text says all that the records depend on
    if place not in _SAMPLES:
        _SAMPLES[place] = tuple(_records(task, items, missing))
    return _SAMPLES[place]


_SAMPLES: Final[dict[object, tuple[Record, ...]]] = {}


def _records(task: Task, items: int, missing: float) -> Iterator[Record]:
    for judge, number, (*condition, repeats) in product(JUDGES, range(items), _CONDITIONS):
        for repeat in range(repeats):
            yield _record(task, judge, number, repeat, condition, missing)


def _record(task: Task, judge: str, number: int, repeat: int, condition: Sequence[Any], missing: float) -> Record:
    family, test, variant, strength = condition
    labels = task.scale.labels
    right = labels[number % len(labels)]
    # A hash in place of a generator: a record does not change if records are added or left out.
    draw = derive_seed(0, judge, number, variant, repeat)
    status = _MISSING[draw % len(_MISSING)] if _share(draw, "missing") < missing else Status.OK
    # Never the right label, on a scale of any length.
    wrong = labels[(number + 1 + draw % (len(labels) - 1)) % len(labels)]
    answer = right if _share(draw, "right") < (0.9 if judge == JUDGES[0] else 0.6) else wrong
    answered = status is Status.OK
    # Unlabelled items are usual; a metric that needs gold must leave them out, not fail.
    gold = None if number % 5 == 4 else right
    return Record(
        trial_id=content_id("trial", task.name, judge, number, variant, repeat),
        case_id=content_id("case", task.name, number, variant),
        item_id=f"item-{number}",
        task=task.name,
        test=test,
        family=family,
        variant=variant,
        template="",
        option_order="",
        polarity="positive",
        strength=strength,
        language="",
        temperature=None,
        stratum="odd" if number % 2 else "even",
        # Two items are one cluster: a metric that counts items in place of clusters gives other intervals.
        group=f"group-{number // 2}",
        judge=judge,
        simulated=judge in SIMULATED,
        repeat=repeat,
        gold=gold,
        expectation="same" if test != REFERENCE else None if gold is None else "equals",
        expected=gold if test == REFERENCE else None,
        status=status,
        presented=answer if answered else None,
        canonical=answer if answered else None,
        probability=0.8 if answered else None,
        # The second judge has no known cost: unknown must never become 0.
        cost=0.001 if judge == JUDGES[0] else None,
        prompt_tokens=100,
        completion_tokens=5,
        latency=0.25,
        attempts=1 if answered else 3,
        detail="" if answered else "made up for a test",
        rationale="because" if answered else "",
    )


def _share(draw: int, what: str) -> float:
    return derive_seed(draw, what) / 2**31


def sample_report(task: Task | None = None) -> RunReport:
    """Make the report of a run with findings of every kind: missing verdicts, faults, unknown costs, flags, notes."""
    task = task or sample_task()
    records = sample_records(task)
    gold_by_item = {row.item_id: row.gold for row in records}
    gold = {label: list(gold_by_item.values()).count(label) for label in task.scale.labels}
    return evolve(
        empty_report(),
        suite="sample",
        run_id=content_id("sample"),
        seed=7,
        tasks=(TaskSummary(task=task, items=12, labelled=sum(gold.values()), gold=gold),),
        judges=JUDGES,
        simulated=SIMULATED,
        tests=(REFERENCE, "format"),
        measures=tuple(_measures(task)),
        attrition=(
            Attrition(
                task=task.name,
                test="format",
                items=12,
                drafted=24,
                kept=22,
                rejected={"words-unchanged: a word changed": 2},
                skipped={"empty text": 1},
            ),
        ),
        costs=tuple(_costs(task)),
        spending=(
            *map(spending_of, _costs(task)),
            SpendLine(
                role="writer",
                name="format",
                model="mini",
                task=task.name,
                test="format",
                replies=2,
                cost=0.003,
                unknown=0,
                prompt_tokens=300,
                completion_tokens=150,
                tokens_unknown=0,
            ),
        ),
        faults=(
            FaultLine(model="mini", kind="rate_limit", attempts=4, final=0),
            FaultLine(model="mini", kind="timeout", attempts=3, final=1),
        ),
        components=(
            ComponentUsed(
                role="judge",
                name="careful",
                component="jrh-judges/llm",
                version="0.1.0",
                options={"model": "mini", "parser": "json"},
            ),
            ComponentUsed(
                role="judge",
                name="careless",
                component="jrh-simulated/noisy",
                version="0.1.0",
                options={"accuracy": 0.6},
                simulated=True,
            ),
        ),
        # One record is missing, so that reporters have to say that the run is not complete.
        planned=len(records) + 1,
        missing_records=1,
        notes=("The prices of model 'mini' are not known; costs are a lower bound.",),
        records=RecordTable.from_records(records),
    )


def report_of(*names: str, **fields: Any) -> RunReport:
    """Make the report of a run with measures of these names, for tests of sections.

    Args:
        names: of the measures.
        fields: of each measure; by default, it is one of the first judge in the reference condition.
    """
    sample = sample_report()
    # Plain values that a test of a section rarely cares about; it overrides those that it shows.
    about = {"judge": JUDGES[0], "test": REFERENCE, "task": sample.tasks[0].task.name}
    numbers = {"estimate": 0.5, "n_items": 9, "n_trials": 9}
    return evolve(sample, measures=tuple(Measure(name=name, **(about | numbers | fields)) for name in names))


def report_marking_simulated(simulated: frozenset[str] = SIMULATED) -> RunReport:
    """Make the sample report with only one place that says which judges are simulated: the run itself.

    No flag of a measure and no name of a component says it, since a plugin need not set the one or have the other.
    """
    report = sample_report()
    # The real flag and the real name of the simulated plugin would mark the judge by accident.
    plain = (evolve(part, flags=tuple(flag for flag in part.flags if flag != "simulated")) for part in report.measures)
    used = (evolve(part, component=f"acme/{part.name}", simulated=part.name in simulated) for part in report.components)
    records = [evolve(part, simulated=part.judge in simulated) for part in sample_records()]
    return evolve(
        report,
        simulated=simulated,
        measures=tuple(plain),
        components=tuple(used),
        records=RecordTable.from_records(records),
    )


ACTING: Final = ("\x1b]0;", "\x9b", "\x00", "\x07", "\x7f", "\u202e")
"""What acts on a terminal or reorders text, and is in every name of `hostile_report`."""

# Several ways out of an attribute, an element and a script: each format needs another one.
_HOSTILE: Final = "".join(ACTING) + "\"'> onhostile=1 \" onhostile='1' \"></script></style></title><hostile>"


def hostile_report() -> RunReport:
    """Make the sample report with names that act where they are shown as they are.

    Suite, task, test, variant, judges, model and items have their names, followed by `ACTING` and by markup that makes
    an element `hostile` or an attribute `onhostile` in HTML, Markdown and SVG.
    """
    report = sample_report()
    records = sample_records()
    plain = {report.suite, report.tasks[0].task.name, *JUDGES, "format", "mini", "crlf"}
    plain |= {record.item_id for record in records}
    names = {name: name + _HOSTILE for name in plain}
    table = RecordTable.from_records([_rename(record, names) for record in records])
    # The table is not walked: its texts are coded columns, so the renamed records are made into a new one.
    renamed = _rename(evolve(report, records=RecordTable.from_records(())), names)
    assert isinstance(renamed, RunReport)
    return evolve(renamed, records=table)


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    """Return the value with every text that is a name replaced, in whatever it holds."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple | frozenset):
        return type(value)(_rename(inner, names) for inner in value)
    if isinstance(value, Mapping):
        return {_rename(key, names): _rename(inner, names) for key, inner in value.items()}
    if attrs.has(type(value)):
        # Fields that are computed cannot be passed; they follow from the others.
        fields = [field for field in attrs.fields(type(value)) if field.init]
        return evolve(value, **{inner.alias: _rename(getattr(value, inner.name), names) for inner in fields})
    return value


def _measures(task: Task) -> Iterator[Measure]:
    for judge in JUDGES:
        marks = ("simulated",) if judge in SIMULATED else ()
        for test in (REFERENCE, "format"):
            yield Measure(
                name="as-expected",
                judge=judge,
                task=task.name,
                test=test,
                estimate=0.875,
                interval=Interval(low=0.529, high=0.978, method="wilson"),
                n_trials=8,
                n_items=8,
                missing={"timeout": 2, "unparsable": 1},
                bounds=(0.636, 0.909),
                flags=marks,
            )
        yield Measure(
            name="self-kappa",
            judge=judge,
            task=task.name,
            test="format",
            cell={"variant": "crlf"},
            estimate=None,
            unit="coefficient",
            flags=("degenerate", *marks),
            note="one label only",
        )


def _costs(task: Task) -> Iterator[CostLine]:
    for judge in JUDGES:
        known = judge not in SIMULATED
        yield CostLine(
            judge=judge,
            task=task.name,
            test="format",
            trials=24,
            cost=0.024 if known else 0.0,
            unknown=0 if known else 24,
            prompt_tokens=2400,
            completion_tokens=120,
            tokens_unknown=0,
        )


def empty_report() -> RunReport:
    """Make the report of a run that planned nothing and found nothing."""
    return RunReport(
        flags=flags_by_name(), suite="empty", run_id=content_id("empty"), version="0.1.0", seed=0, level=0.95, tasks=(),
        judges=(), simulated=frozenset(), tests=(REFERENCE,), measures=(), planned=0, missing_records=0,
        records=RecordTable.from_records(()),
    )  # fmt: skip


def findings_about(
    measures: Iterable[Measure], *tasks: Task, plugin: object = None, records: RecordTable | None = None
) -> dict[str, tuple[Finding, ...]]:
    """Return what rules say of each judge, decided as in a report about that judge alone.

    Args:
        measures: of any number of judges.
        tasks: what the measures are about.
        plugin: the module whose rules speak; None: all that are installed.
        records: what was asked, where rules read it.
    """
    plugins = installed_plugins()
    if plugin is not None:
        rules = {spec.name for spec in declarations(plugin) if isinstance(spec, RuleSpec)}
        plugins = evolve(
            plugins, findings=Registry("rule", [entry for entry in plugins.findings if entry.spec.name in rules])
        )
    # The family of tests is all hypotheses of one report: judges in one report would correct each other.
    by_judge: dict[str, list[Measure]] = {}
    for measure in measures:
        by_judge.setdefault(measure.judge, []).append(measure)
    report = evolve(empty_report(), tasks=tuple(TaskSummary(task=task, items=0, labelled=0, gold={}) for task in tasks))
    if records is not None:
        report = evolve(report, records=records)
    return {
        judge: findings_of(evolve(report, judges=(judge,), measures=tuple(judged)), plugins=plugins)
        for judge, judged in by_judge.items()
    }


def load_sections(report: RunReport) -> RunReport:
    """Return a report that no run has made with the sections of the installed plugins.

    Raises:
        JrhError: a plugin cannot be used.
    """
    return with_sections(report, builder_without_suite(installed_plugins()), Quiet())


def flags_by_name() -> Mapping[str, Flag]:
    """Return the flags that the installed plugins declare, by name."""
    return installed_plugins().flags_by_name()
