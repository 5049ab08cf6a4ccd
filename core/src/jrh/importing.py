"""Records from anywhere: verdicts that somebody else collected become a run directory like any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from jrh.building import used
from jrh.convert import EXPECTATIONS
from jrh.errors import JrhError, Problem, StoreError, SuiteError
from jrh.identity import content_id
from jrh.installed import default_metrics
from jrh.loading import load_plugins
from jrh.report import TaskSummary
from jrh.scales import invert
from jrh.stages.measure import STAGE as MEASURES
from jrh.stages.report import IMPORTED, Summary, is_known, remember
from jrh.store import Store
from jrh.trials import TrialRow, write_plan
from jrh.types import REFERENCE, Record, Status, Task
from jrh.version import version

_MOST: Final = 20
"""Problems that are written out; the others are counted."""


def imported_record(
    *,
    task: Task,
    item_id: str,
    judge: str,
    label: str | None,
    presented: bool = False,
    status: Status | None = None,
    test: str = REFERENCE,
    family: str = "",
    variant: str = "",
    template: str = "",
    option_order: str = "",
    polarity: str = "positive",
    strength: float = 0.0,
    language: str = "",
    temperature: float | None = None,
    repeat: int = 0,
    gold: str | None = None,
    expectation: str | None = None,
    expected: str | None = None,
    stratum: str = "",
    group: str = "",
    simulated: bool = False,
    probability: float | None = None,
    cost: float | None = None,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    latency: float | None = None,
    detail: str = "",
    rationale: str = "",
) -> Record:
    """Make a record of a verdict that was collected elsewhere; ids follow from the content.

    Args:
        task: the task that was judged.
        item_id: the item.
        judge: the judge's name.
        label: the label given, as the log has it; None where there is no verdict.
        presented: the label is in the words of the question as put: with swapped options or inverted polarity it means
            the
            opposite one, and is translated. Otherwise labels are canonical.
        status: why there is no label, or `ok`; by default `ok` with a label and `unparsable` without one.
        test: the condition's test; `reference` for the unperturbed question.
        family: the perturber; by default the test's name.
        variant: level of the test.
        template: name of the prompt template.
        option_order: canonical options in presented order, such as `BA`.
        polarity: `positive` or `inverted`.
        strength: strength of the perturbation.
        language: language of the prompt.
        temperature: sampling temperature.
        repeat: 0-based number of the asking.
        gold: canonical gold label.
        expectation: `same`, `changes`, `not_above`, `not_below` or `equals`; by default `equals` the gold label in the
            reference condition and `same` elsewhere.
        expected: the canonical label of `equals`.
        stratum: subgroup.
        group: items that belong together; the item itself by default.
        simulated: the judge's answers are made up.
        probability: the judge's probability of the label it gave.
        cost: US dollars; None is unknown.
        prompt_tokens: None is unknown.
        completion_tokens: None is unknown.
        latency: seconds.
        detail: why there is no label.
        rationale: what the judge says of it.
    """
    if expectation is None:
        expectation = "same" if test != REFERENCE else "equals" if gold is not None else None
    if expectation == "equals" and expected is None:
        expected = gold
    case = (test, variant, template, option_order, polarity, float(strength), language, temperature)
    case_id = content_id(IMPORTED, task.name, item_id, *case)
    canonical = _canonical(task, label, option_order, polarity) if presented else label
    return Record(
        trial_id=content_id(case_id, judge, repeat),
        case_id=case_id,
        item_id=item_id,
        task=task.name,
        test=test,
        family=family or test,
        variant=variant,
        template=template,
        option_order=option_order,
        polarity=polarity,
        strength=float(strength),
        language=language,
        temperature=temperature,
        stratum=stratum,
        group=group or item_id,
        judge=judge,
        simulated=simulated,
        repeat=repeat,
        gold=gold,
        expectation=expectation,
        expected=expected,
        status=status or (Status.OK if label is not None else Status.UNPARSABLE),
        presented=label if presented else invert(_label_map(task, option_order, polarity), label or ""),
        canonical=canonical,
        probability=probability,
        cost=cost,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        latency=latency,
        attempts=1,
        detail=detail,
        rationale=rationale,
    )


def _label_map(task: Task, option_order: str, polarity: str) -> Mapping[str, str]:
    """Return presented -> canonical; swapped options and inverted polarity undo each other."""
    swapped = bool(option_order) and option_order == "".join(reversed(task.scale.options))
    inverted = polarity == "inverted"
    return task.scale.swap_map() if swapped != inverted else task.scale.identity_map()


def _canonical(task: Task, label: str | None, option_order: str, polarity: str) -> str | None:
    # A label that is not on the scale stays, so that it is reported as it was written.
    return None if label is None else _label_map(task, option_order, polarity).get(label, label)


def import_records(
    run_dir: Path,
    suite_name: str,
    tasks: Sequence[Task],
    records: Iterable[Record],
    *,
    origins: Sequence[str] = (),
    notes: Sequence[str] = (),
    plugins: Sequence[str] = (),
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> int:
    """Write records into a run directory that `jrh report` treats like any other.

    The order of the records is the plan's. Importing into a directory that holds an import replaces it. Measures are
    not computed here: the report does.

    Args:
        run_dir: the directory; made where it is missing.
        suite_name: the name the report shows.
        tasks: the tasks the records are of.
        records: for example from `imported_record`.
        origins: where each record comes from, such as `log.csv:12`, for messages.
        notes: what a reader of the report has to know, one sentence each.
        plugins: allow-list of plugins, as `--plugins`; their default metrics are those of the report.
        level: coverage of the intervals.
        resamples: bootstrap samples.
        seed: the run's seed.

    Returns:
        How many records were written.

    Raises:
        SuiteError: with every record that is not sound: a duplicated trial, a label off the scale, two gold labels of
        one
            item, a verdict without a label.
        StoreError: the directory holds a run that was not imported, or cannot be used.
    """
    rows = tuple(records)
    check_records(tasks, rows, origins)
    loaded = load_plugins(tuple(plugins))
    metrics = default_metrics(loaded.plugins)
    summary = Summary(
        suite=suite_name,
        run_id=content_id("import", suite_name, seed),
        version=version(),
        seed=seed,
        level=level,
        resamples=resamples,
        tasks=tuple(_summary(task, rows) for task in tasks),
        judges=tuple(dict.fromkeys(row.judge for row in rows)),
        simulated=tuple(sorted({row.judge for row in rows if row.simulated})),
        tests=tuple(dict.fromkeys((REFERENCE, *(row.test for row in rows)))),
        components=tuple(used("metric", metric, Path()) for metric in metrics),
        notes=("Imported records: the judges were not asked by jrh.", *notes),
    )
    store = Store.open(run_dir, suite_name)
    try:
        if is_known(store) and store.meta(IMPORTED) is None:
            raise StoreError(f"'{run_dir}' holds a run that was not imported; choose another directory")
        _write(store, rows, summary)
    finally:
        store.close()
    return len(rows)


def _write(store: Store, rows: Sequence[Record], summary: Summary) -> None:
    store.set_meta(IMPORTED, "1")
    store.replace(MEASURES, "", [("DELETE FROM measures", [()]), ("DELETE FROM records", [()])])
    store.put_records([(row, None, None) for row in rows])
    write_plan(store, content_id([row.trial_id for row in rows]), _plan(rows))
    remember(store, summary)
    store.flush()


def _plan(rows: Sequence[Record]) -> Iterator[TrialRow]:
    for position, row in enumerate(rows):
        yield position, row.trial_id, row.case_id, row.judge, row.repeat, row.repeat


def _summary(task: Task, rows: Sequence[Record]) -> TaskSummary:
    gold = {row.item_id: row.gold for row in rows if row.task == task.name}
    counts = Counter(label for label in gold.values() if label is not None)
    return TaskSummary(
        task=task,
        items=len(gold),
        labelled=sum(counts.values()),
        gold={label: counts[label] for label in task.scale.labels if counts[label]},
    )


def check_records(tasks: Sequence[Task], records: Sequence[Record], origins: Sequence[str] = ()) -> None:
    """Check what every statistic takes for granted.

    Args:
        tasks: the tasks.
        records: the records.
        origins: where each record comes from, for messages.

    Raises:
        SuiteError: with every mistake; beyond the first few only their number.
        JrhError: there is no record.
    """
    if not records:
        raise JrhError("there is no record to import")
    by_name = {task.name: task for task in tasks}
    places = [origins[place] if place < len(origins) else f"record {place + 1}" for place in range(len(records))]
    problems: list[Problem] = []
    first: dict[object, str] = {}
    gold: dict[tuple[str, str], tuple[str | None, str]] = {}
    for place, record in zip(places, records, strict=True):
        found = list(_misfits(record, by_name))
        key = (record.case_id, record.judge, record.repeat)
        if key in first or record.trial_id in first:
            before = first.get(key) or first[record.trial_id]
            found.append(f"{_described(record)} stands at {before} already; number the askings with `repeat`")
        first.setdefault(key, place)
        first.setdefault(record.trial_id, place)
        label, where = gold.setdefault((record.task, record.item_id), (record.gold, place))
        if label != record.gold:
            found.append(f"item '{record.item_id}' has the gold label {record.gold!r} here and {label!r} at {where}")
        problems += [Problem(message=message, source=place) for message in found]
    if problems:
        rest = len(problems) - _MOST
        more = [Problem(message=f"and {rest} more problems of these kinds")] if rest > 0 else []
        raise SuiteError([*problems[:_MOST], *more])


def _described(record: Record) -> str:
    condition = "/".join(part for part in (record.test, record.variant, record.template, record.option_order) if part)
    return f"the verdict of '{record.judge}' on item '{record.item_id}' ({condition}, repeat {record.repeat})"


def _misfits(record: Record, tasks: Mapping[str, Task]) -> Iterator[str]:
    task = tasks.get(record.task)
    if task is None:
        yield f"the task '{record.task}' is not described; tasks: {', '.join(tasks)}"
        return
    labels = {"label": record.canonical, "gold label": record.gold, "expected label": record.expected}
    for what, label in labels.items():
        if label is not None and label not in task.scale:
            close = task.scale.match(label)
            hint = f"; did you mean '{close}'?" if close else ""
            yield f"the {what} '{label}' is not on the scale {', '.join(task.scale.labels)}{hint}"
    if not record.item_id or not record.judge or not record.test:
        yield "the item, the judge and the test need a name each"
    if (record.status is Status.OK) != (record.canonical is not None):
        yield f"the status is '{record.status.value}' and the label {record.canonical!r}: only 'ok' has a label"
    if record.expectation is not None and record.expectation not in EXPECTATIONS:
        yield f"the expectation '{record.expectation}' is none of {', '.join(EXPECTATIONS)}"
    if record.probability is not None and not 0 <= record.probability <= 1:
        yield f"the probability {record.probability} does not lie between 0 and 1"
    if record.repeat < 0:
        yield f"the repeat {record.repeat} is negative; the first asking is 0"
