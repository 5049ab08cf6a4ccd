"""The report as plain tables of text, the same for every format; each format makes the text harmless itself."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from attrs import evolve, frozen
from jrh import Measure, RunReport, ScaleKind, Status
from jrh.running import list_reasons, why_no_cases
from jrh.text import count_noun, format_dollars
from jrh.values import Agreement, Attrition, GoldKind, GoldSource, SpendLine, TaskSummary, total_spending
from jrh_measuring import (
    format_bounds,
    format_counts,
    format_ends,
    format_estimate,
    format_interval,
    format_items,
    format_number,
    format_tokens,
    mark_simulated,
    served_note,
)

_OPTION: Final = 80
"""Characters of an option's value that are shown."""

_MEASURE_COLUMNS: Final = (
    "judge",
    "test",
    "cell",
    "estimate",
    "interval",
    "method",
    "items",
    "missing",
    "worst to best",
    "flags",
)


@frozen(kw_only=True)
class Table:
    """A table of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()
    """Columns of numbers, which stand to the right."""
    note: str = ""
    """What has to be known to read the table, in one line above it."""
    main: bool = False
    """What the others explain: served first where there is little room."""
    detail: bool = False
    """Short outputs leave it out, and others fold it."""
    served: str = ""
    """Which models the judges that it names were served."""

    @property
    def about(self) -> str:
        """Return what a reader of the table has to know."""
        return " ".join(filter(None, (self.note, self.served)))


def run_tables(report: RunReport, digits: int = 2) -> list[Table]:
    """Return the tables about the run rather than its measures, in the order of every report."""
    tables = (
        verdicts_missing(report),
        costs(report),
        attrition(report),
        agreement(report, digits),
        faults(report),
        costs_by_test(report),
        components(report),
    )
    # Every table is built, and an empty one is left out here alone: no format decides about it by itself.
    return [with_served(report, table) for table in tables if table.rows]


def with_served(report: RunReport, table: Table) -> Table:
    """Return the table with the models that the judges which it names were served."""
    return evolve(table, served=served_note(report.served, chain.from_iterable(table.rows)))


def task_line(summary: TaskSummary) -> str:
    """Describe a task and its data in one line."""
    scale = summary.task.scale
    labels = f"{scale.labels[0]} to {scale.labels[-1]}" if scale.ordered else ", ".join(scale.labels)
    kind = {ScaleKind.LABELS: "labels", ScaleKind.ORDINAL: "levels", ScaleKind.PAIRWISE: "preference"}[scale.kind]
    balance = ", ".join(f"{label}: {summary.gold.get(label, 0)}" for label in scale.labels)
    sources = _gold_sources(summary)
    gold = f"{summary.labelled} with gold ({balance}){sources}" if summary.labelled else "none with gold"
    positive = f" (positive: {scale.positive})" if scale.positive else ""
    mode = f"{summary.task.mode.value} by criteria" if summary.task.criteria else summary.task.mode.value
    return f"{mode}, {kind} {labels}{positive}; {count_noun(summary.items, 'item')}, {gold}"


def _gold_sources(summary: TaskSummary) -> str:
    """Say where the gold labels come from; empty where that is unknown."""
    sources = [(GoldSource.read(text), count) for text, count in summary.gold_sources.items()]
    # Without any source, "unknown" for every item would say nothing.
    if all(source.kind is GoldKind.UNKNOWN for source, _ in sources):
        return ""
    if len(sources) == 1:
        return f", labels {sources[0][0].in_words}"
    return ", labels " + ", ".join(f"{source.in_words}: {count}" for source, count in sources)


def verdicts_missing(report: RunReport) -> Table:
    """Tabulate the trials without a verdict by judge and status; no rows where every trial has one."""
    # In the order of the statuses, so that equal runs have equal columns.
    names = [status.value for status in Status if status is not Status.OK]
    # The suite's judges come first even without a record, so that a judge that was never asked has a row of its own.
    counts: dict[str, Counter[str]] = {judge: Counter() for judge in report.judges}
    if len(report.records):
        # Records may name a judge that the suite does not have: it gets a row as well.
        for (judge, status), rows in report.records.split("judge", "status"):
            counts.setdefault(judge, Counter())[status] += len(rows)
    used = [name for name in names if any(by_status[name] for by_status in counts.values())]
    return Table(
        title="Missing verdicts",
        columns=("judge", "trials", *used),
        rows=tuple(
            (mark_simulated(report, judge), f"{by_status.total():,}", *(f"{by_status[name]:,}" for name in used))
            for judge, by_status in counts.items()
            if used
        ),
        right=tuple(range(1, len(used) + 2)),
    )


def attrition(report: RunReport) -> Table:
    """Tabulate what became of every test's drafts; no rows where nothing is drafted, as in an import."""
    return Table(
        title="Cases",
        columns=("task", "test", "items", "drafted", "kept", "rejected and skipped"),
        rows=tuple(
            (
                line.task,
                line.test,
                f"{line.items:,}",
                f"{line.drafted:,}",
                f"{line.kept:,}",
                _fate(line),
            )
            for line in report.attrition
        ),
        right=(2, 3, 4),
        note="A test drafts several variants of an item, or none: it skips what it cannot change, counted once per "
        "variant. A draft that no validator rejects becomes a case, and every judge sees it.",
    )


def _fate(line: Attrition) -> str:
    """Say why there are no more cases."""
    if not line.made:
        return "not drafted yet"
    parts = (("rejected", line.rejected), ("skipped", line.skipped))
    return why_no_cases(line) or "; ".join(f"{what}: {list_reasons(reasons)}" for what, reasons in parts if reasons)


def no_finding(report: RunReport, judge: str) -> str:
    """Say why there is no finding about a judge."""
    has_records = len(report.records) and report.records.equals("judge", judge).any()
    # A judge without a finding may have been asked and be unremarkable; the sentences differ.
    if not has_records and report.incomplete:
        return "Not asked: the run stopped first."
    return "No finding: no comparison has an interval."


def empty_tests(report: RunReport, task: str) -> list[tuple[str, str]]:
    """Return the tests without a case for a task, each with why: rows that the measures of a task cannot have."""
    lines = (line for line in report.attrition if line.task == task and line.applies)
    return [(line.test, why) for line in lines if (why := why_no_cases(line))]


def agreement(report: RunReport, digits: int = 2) -> Table:
    """Tabulate how far the voters of a validator agree; no rows where none votes."""
    return Table(
        title="Agreement of validators",
        columns=("task", "test", "validator", "voters", "alpha", "drafts", "votes missing"),
        rows=tuple(
            (
                line.task,
                line.test,
                votes.validator,
                f"{votes.voters:,}",
                _alpha(votes, digits),
                f"{votes.comparable:,} of {votes.drafts:,}",
                f"{votes.missing:,}",
            )
            for line in report.attrition
            for votes in line.agreement
        ),
        right=(3, 5, 6),
        note="Krippendorff's alpha of the votes on all drafts, accepted and rejected: 1 is agreement throughout, 0 is "
        "what chance alone gives. It rests on the drafts with two votes or more.",
    )


def _alpha(votes: Agreement, digits: int) -> str:
    if votes.estimate is None:
        return f"not estimable ({', '.join(votes.flags)})" if votes.flags else "not estimable"
    estimate = format_number(votes.estimate, digits, proportion=False)
    return f"{estimate} {format_ends(votes.interval, digits)}" if votes.interval is not None else estimate


def faults(report: RunReport) -> Table:
    """Tabulate failed attempts by model and kind."""
    return Table(
        title="Faults",
        columns=("model", "kind", "failed attempts", "retried", "final"),
        rows=tuple(
            (line.model, line.kind, f"{line.attempts:,}", f"{line.attempts - line.final:,}", f"{line.final:,}")
            for line in report.faults
        ),
        right=(2, 3, 4),
    )


def costs(report: RunReport) -> Table:
    """Tabulate what all replies of the run cost, per component, with the total."""
    lines: dict[tuple[str, ...], list[SpendLine]] = {}
    for line in report.spending:
        lines.setdefault((mark_simulated(report, line.name), line.role), []).append(line)
    return _cost_table(report, "Cost", ("component", "role"), lines, detail=False)


def costs_by_test(report: RunReport) -> Table:
    """Tabulate what all replies of the run cost, per component, task and test, with the total of each role."""
    lines: dict[tuple[str, ...], list[SpendLine]] = {}
    roles: dict[tuple[str, ...], list[SpendLine]] = {}
    for line in report.spending:
        lines.setdefault((mark_simulated(report, line.name), line.role, line.task, line.test), []).append(line)
        roles.setdefault((f"all {line.role}s", line.role, "", ""), []).append(line)
    # A total of a single line, or of the only role, would repeat a row.
    several = {key: spending for key, spending in roles.items() if len(spending) > 1 and len(roles) > 1}
    heads = "component", "role", "task", "test"
    return _cost_table(report, "Cost per test", heads, lines | several, detail=True)


def _cost_table(
    report: RunReport,
    title: str,
    heads: tuple[str, ...],
    lines: Mapping[tuple[str, ...], Sequence[SpendLine]],
    *,
    detail: bool,
) -> Table:
    rows = [(*key, *_cost_cells(spending)) for key, spending in lines.items()]
    if len(rows) > 1:
        # Of all spending rather than of the rows: those of roles are sums already, and would count twice.
        rows.append(("total", *("" for _ in heads[1:]), *_cost_cells(report.spending)))
    note = "All replies of the run, including those of writers, graders and validators, each counted once at the price "
    note += "paid for it."
    if (whole := total_spending(report.spending)).cached_tokens:
        saved = f", which saved {format_dollars(whole.saved)}" if whole.saved else "; no price of such tokens is known"
        note += f" Providers had cached {whole.cached_tokens:,} tokens of the prompts{saved}."
    return Table(
        title=title,
        columns=(*heads, "replies", "US dollars", "prompt tokens", "completion tokens"),
        rows=tuple(rows),
        right=tuple(range(len(heads), len(heads) + 4)),
        note=note,
        detail=detail,
    )


def _cost_cells(lines: Iterable[SpendLine]) -> tuple[str, ...]:
    total = total_spending(lines)
    return (
        f"{total.replies:,}",
        format_dollars(total.cost, total.unknown, total.replies),
        format_tokens(total.prompt_tokens, total.tokens_unknown, total.replies),
        format_tokens(total.completion_tokens, total.tokens_unknown, total.replies),
    )


def components(report: RunReport) -> Table:
    """Tabulate what the run was made of."""
    return Table(
        title="Made of",
        detail=True,
        columns=("role", "name", "component", "version", "options"),
        rows=tuple(
            (
                used.role,
                f"{used.name} (simulated)" if used.simulated else used.name,
                used.component,
                f"{used.version} {used.digest[:8]}".strip(),
                ", ".join(f"{key}={_option(value)}" for key, value in used.options.items()),
            )
            for used in report.components
        ),
    )


def _option(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    # Options may hold whole prompts; report.json has them in full.
    return text if len(text) <= _OPTION else text[: _OPTION - 1] + "…"


def measures(report: RunReport, found: Iterable[Measure], digits: int) -> Table:
    """Tabulate measures with everything needed to believe them."""
    table = Table(
        title="Measures",
        columns=_MEASURE_COLUMNS,
        rows=tuple(
            (
                mark_simulated(report, measure.judge),
                measure.test,
                ", ".join(f"{key}={value}" for key, value in measure.cell.items()),
                format_estimate(measure, digits),
                format_interval(measure, digits),
                measure.interval.method if measure.interval else "",
                format_items(measure).replace(" items", "").replace(" item", ""),
                format_counts(measure.missing),
                format_bounds(measure, digits),
                "; ".join(part for part in (", ".join(measure.flags), measure.note) if part),
            )
            for measure in found
        ),
        right=(6,),
    )
    return with_served(report, table)


def finite(report: RunReport) -> RunReport:
    """Return the report with measures that lack an interval or bounds of which an end is no finite number.

    Half of an interval says nothing.
    """
    return evolve(report, measures=tuple(map(_finite, report.measures)))


def _finite(measure: Measure) -> Measure:
    interval = measure.interval
    # JSON has no infinity, and an interval with one end would be read as precise.
    if interval is not None and not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        measure = evolve(measure, interval=None)
    if measure.bounds is not None and not all(map(math.isfinite, measure.bounds)):
        measure = evolve(measure, bounds=None)
    return measure
