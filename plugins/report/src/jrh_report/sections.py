"""The sections of a report, those of plugins and further measures; as tables of text for formats that draw nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import evolve, frozen
from jrh import Measure, RunReport
from jrh.values import Column, Importance, MeasureRef, Row, Section, TablePart, TextPart
from jrh_measuring import (
    SIMULATED,
    HeatPart,
    Place,
    cell_text,
    mark_simulated,
    served_note,
)

from jrh_report.tables import Table

MIXED: Final = "simulated judges among them"
"""The mark of a row about several judges, some of which are simulated."""
_TEXT: Final = "Measures that no other table shows, such as those of added metrics, which say what they mean."
_FURTHER: Final = 3000
"""Rows of further measures of a task; the others are counted."""
_TEST: Final = ("-p", "-p-least")
"""Ends of the names of tests that belong to a measure."""


@frozen(kw_only=True)
class SectionText:
    """A section as sentences and tables."""

    title: str
    """With the task, where a report has several."""
    importance: Importance
    text: tuple[str, ...]
    tables: tuple[Table, ...]


def all_sections(report: RunReport) -> Iterator[Section]:
    """Yield the sections of plugins in their order, and the measures of each task that none of them shows.

    Those of which a finding says all in words are left out.
    """
    yield from report.sections
    shown = {
        kind_of(measure)
        for section in report.sections
        for part in section.parts
        for table in part.tables()
        for row in table.rows
        for measure in measures_of(report, row)
    } | {kind_of(measure) for heat in heat_parts(report) for measure in heat_measures(report, heat)}
    bases = (basis for finding in report.findings for basis in finding.basis if not basis.value)
    # A basis without a figure means that the sentence of its finding has all numbers.
    in_words = set(map(Place.of, bases))
    further: dict[str, list[int]] = {}
    for place, measure in enumerate(report.measures):
        if kind_of(measure) not in shown and Place.of(measure) not in in_words:
            further.setdefault(measure.task, []).append(place)
    for task in (*(summary.task.name for summary in report.tasks), *further):
        if places := further.pop(task, None):
            parts = TextPart(text=_TEXT), _further(report, places)
            yield Section(name="further", title="Further measures", task=task, parts=parts)


def _further(report: RunReport, places: list[int]) -> TablePart:
    """Tabulate measures name by name; whole tests stand before their parts."""
    names = {name: at for at, name in enumerate(dict.fromkeys(report.measures[place].name for place in places))}
    # By the first appearance of a name rather than the alphabet: metrics yield related measures together.
    order = sorted(places, key=lambda place: (names[report.measures[place].name], bool(report.measures[place].cell)))
    return TablePart(
        caption="Further measures",
        heads=("Judge", "Measure", "Test", "Cell"),
        columns=(Column(heading="estimate"),),
        rows=tuple(_further_row(report.measures[place], place) for place in order[:_FURTHER]),
        more=len(order[_FURTHER:]),
    )


def _further_row(measure: Measure, place: int) -> Row:
    cell = ", ".join(f"{key}={value}" for key, value in measure.cell.items())
    heads = measure.judge or "all judges", measure.name, measure.test, cell
    return Row(heads=heads, cells=(MeasureRef(measure=place),), note=measure.note)


def section_texts(report: RunReport, digits: int, *importance: Importance, gap: str = " ") -> Iterator[SectionText]:
    """Yield the sections of these levels of importance in their order; without levels, all.

    Args:
        report: the run.
        digits: of the numbers.
        importance: the levels.
        gap: between estimate, interval and sizes.
    """
    known: set[str] = set()  # what sections of several tasks have in common is said once
    for section in all_sections(report):
        if not importance or section.importance in importance:
            texts = [part.text for part in section.parts if isinstance(part, TextPart)]
            tables = [
                evolve(_table(report, table, digits, gap), main=isinstance(part, HeatPart))
                for part in section.parts
                for table in part.tables()
                if table.rows
            ]
            yield SectionText(
                title=title(report, section),
                importance=section.importance,
                text=tuple(text for text in texts if text not in known),
                tables=tuple(evolve(table, note="") if table.note in known else table for table in tables),
            )
            known.update(texts, (table.note for table in tables))


def title(report: RunReport, section: Section) -> str:
    """Return the title with what the section is about: the judge, and the task if there are several."""
    task = section.task if len(report.tasks) > 1 else ""
    about = ", ".join(part for part in (section.judge and mark_simulated(report, section.judge), task) if part)
    return f"{section.title}: {about}" if about else section.title


def measures_of(report: RunReport, row: Row) -> list[Measure]:
    """Return the measures that a row refers to."""
    return [report.measures[cell.measure] for cell in row.cells if isinstance(cell, MeasureRef)]


def heat_parts(report: RunReport, task: str | None = None) -> Iterator[HeatPart]:
    """Yield the heat maps of a task, or of all."""
    for section in report.sections:
        if task is None or section.task == task:
            yield from (part for part in section.parts if isinstance(part, HeatPart))


def heat_measures(report: RunReport, part: HeatPart) -> Iterator[Measure]:
    """Yield the measures of all layers."""
    cells = (cell for layer in part.layers for row in layer.cells for cell in row)
    yield from (report.measures[cell.measure] for cell in cells if isinstance(cell, MeasureRef))


Kind: TypeAlias = tuple[str, frozenset[str]]
"""The name of a measure, and the levels of its cell."""


def kind_of(measure: Measure) -> Kind:
    """Return the name of a measure, that of what it tests for a p-value, and the levels of its cell."""
    name = measure.name
    # A p-value is shown where its measure is; in a table of its own a reader could not tell what it tests.
    for end in _TEST:
        name = name.removesuffix(end)
    return name, frozenset(measure.cell)


def mark_of(report: RunReport, row: Row) -> str:
    """Say whether a row rests on simulated judges: on such judges only, or some; empty: none, or its heads say it."""
    # Sections may mark their heads themselves.
    if any(head.endswith(f"({SIMULATED})") for head in row.heads):
        return ""
    flagged = [cell for cell in measures_of(report, row) if SIMULATED in cell.flags or cell.judge in report.simulated]
    if not flagged:
        return SIMULATED if row.heads and row.heads[0] in report.simulated else ""
    return SIMULATED if all(measure.judge in report.simulated for measure in flagged) else MIXED


def note_served(report: RunReport, part: TablePart) -> str:
    """Say which models were served to the judges that a table names, or whose measures it shows; empty: unknown."""
    texts = [part.caption, *part.heads, *(column.heading for column in part.columns)]
    for row in part.rows:
        cells = (cell for cell in row.cells if isinstance(cell, str))
        texts += [*row.heads, *cells, *(measure.judge for measure in measures_of(report, row))]
    return served_note(report.served, texts)


def limit_rows(part: TablePart) -> TablePart:
    """Return a table with the rows that documents show; the others are counted."""
    # `shown` is None where a section sets no limit, which keeps all rows.
    rows = part.rows[: part.shown]
    return evolve(part, rows=rows, more=part.more + len(part.rows) - len(rows))


def _table(report: RunReport, part: TablePart, digits: int, gap: str) -> Table:
    part = limit_rows(part)
    noted = any(row.note for row in part.rows)
    more = f"{part.more:,} more are in report.json." if part.more else ""
    return Table(
        title=part.caption,
        columns=(*part.heads, *(column.heading for column in part.columns), *(("note",) if noted else ())),
        rows=tuple(
            (
                *_heads(report, row),
                *(cell_text(report, cell, digits, gap) for cell in row.cells),
                *((row.note,) if noted else ()),
            )
            for row in part.rows
        ),
        note=" ".join(text for text in (part.note, more) if text),
        detail=part.folded,
        served=note_served(report, part),
    )


def _heads(report: RunReport, row: Row) -> tuple[str, ...]:
    mark = mark_of(report, row)
    return (f"{row.heads[0]} ({mark})", *row.heads[1:]) if mark and row.heads else row.heads
