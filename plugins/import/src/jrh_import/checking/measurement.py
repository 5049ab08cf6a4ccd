"""Measure a table: the same steps, and so the same numbers, as an import and its report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import JrhError, Json, RunReport, Scale, ScaleKind
from jrh.text import clean_text, count_noun
from jrh_interchange import Row, measure_records, measurement_gaps, read_settings, rows_by
from jrh_measuring import load_metrics

from jrh_import.checking.check_request import CheckRequest, check_request, complete_request
from jrh_import.checking.labels import Labels, read_labels
from jrh_import.covariates import covariate_name
from jrh_import.mapping import Format, ImportFile
from jrh_import.tables import Table, read_any_table
from jrh_import.verdicts import read_verdicts

_SHOWN: Final = 3
_LONG: Final = 20
"""Characters of a text on average; what is shorter may be a category, which items share by chance."""
_TELLING: Final = 0.5
"""Rows that differ less often have no identity: two equal ones may be two items."""


def check_repeats(table: Table, request: CheckRequest, labels: Labels) -> list[str]:
    """Check rows that repeat others, and return notes on those that count.

    Rows of one item are reruns where a column numbers them, or where all verdicts and the label of people are equal.

    Raises:
        JrhError: rows of one item differ and nothing says that they are reruns; the rows are named.
    """
    exact = _duplicates(table) if _is_telling(table, request) else []
    notes = [_exact(exact, items=request.item is not None)] if exact else []
    notes += _texts_in_common(table, request)
    if request.item is None:
        return [*notes, "Every row counts as an item. If rows share an item, name its column with --item."]
    several = {item: rows for item, rows in rows_by(table.rows, request.item).items() if len(rows) > 1}
    # Nothing says that these are reruns: only equal rows can be taken for them.
    if several and not (request.reruns or request.repeat):
        _check_alike(several, request, labels)
    if several:
        notes.append(
            f"{count_noun(len(several), 'item')} with several rows: these count as reruns; "
            "intervals are clustered by item."
        )
    return notes


def _is_telling(table: Table, request: CheckRequest) -> bool:
    """Tell whether rows have an identity: an item, or other columns that mostly differ."""
    if request.item is not None:
        return True
    judged = {*request.judges, request.human}
    columns = [column for column in table.columns if column not in judged]
    distinct = {tuple(row[column] for column in columns) for row in table.rows}
    return len(distinct) > _TELLING * len(table.rows) and bool(columns)


def _texts_in_common(table: Table, request: CheckRequest) -> Iterator[str]:
    """Name columns of long texts that several items share: such items are not independent."""
    if request.group is not None:
        return
    # A covariate is no unit: items that share its text stay dependent.
    used = {column for option, column in request.option_columns() if option != "--covariate"}
    items = {row[request.item] for row in table.rows} if request.item else table.rows
    for column in table.columns:
        texts = [row[column] for row in table.rows] if column not in used else []
        filled = [text for text in texts if text.strip()]
        # Short texts are categories: that items share one says nothing.
        if not filled or sum(map(len, filled)) < _LONG * len(texts):
            continue
        distinct = len(set(filled))
        if distinct < len(items):
            name = clean_text(column, 40)
            yield (
                f"{count_noun(len(items), 'item')}, but {count_noun(distinct, 'distinct text')} in '{name}'. "
                f"Items that share a text are not independent: pass --group {name}."
            )


def _duplicates(table: Table) -> list[str]:
    """Return the places of the rows that equal an earlier row in every cell."""
    known: set[tuple[str, ...]] = set()
    places = []
    for row in table.rows:
        cells = tuple(row[column] for column in table.columns)
        if cells in known:
            places.append(row.place)
        known.add(cells)
    return places


def _exact(found: Sequence[str], *, items: bool) -> str:
    how = "They count as reruns" if items else "They count as separate items"
    rows = count_noun(len(found), "row")
    return f"{rows} equal to an earlier row in every cell ({_places(found)}). {how}; remove them if they are copies."


def _check_alike(several: Mapping[str, Sequence[Row]], request: CheckRequest, labels: Labels) -> None:
    differing = {
        item: rows
        for item, rows in several.items()
        if len({tuple(_label(row, judge, labels) for judge in request.judges) for row in rows}) > 1
    }
    if differing:
        raise JrhError(
            f"{count_noun(len(differing), 'item')} in several rows with different verdicts:\n"
            f"{_item_places(differing)}\n"
            "If the rows are reruns, name the column that numbers them with --repeat, or pass --reruns; "
            "otherwise keep one row per item"
        )


def _label(row: Row, column: str, labels: Labels) -> str:
    text = row[column]
    # As the check reads it: two spellings of one label are no contradiction.
    return labels.written.get(text) or labels.scale.match(text) or text.strip()


def _item_places(items: Mapping[str, Sequence[Row]]) -> str:
    shown = [*items.items()][:_SHOWN]
    lines = [f"  '{clean_text(item, 60)}': {_places([row.place for row in rows])}" for item, rows in shown]
    more = [f"  and {count_noun(len(items) - _SHOWN, 'more item')}"] if len(items) > _SHOWN else []
    return "\n".join([*lines, *more])


def _places(places: Sequence[str]) -> str:
    shown = ", ".join(clean_text(place, 120) for place in places[:_SHOWN])
    return shown + (f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else "")


ADDED: Final = ("judge-comparison",)
"""What a check computes beyond the metrics of every report."""
_PLUGIN: Final = "jrh-metrics"
"""Loading one plugin takes a tenth of the time that all take."""
_METRICS: Final = (
    *("missing", "missing-by-condition", "gold-accuracy", "gold-kappa", "error-rates", "rerun-disagreement"),
    "covariate-effect",
    *("ordinal-errors", "ordinal-association"),
    *ADDED,
)


@frozen(kw_only=True)
class Checked:
    """What a table shows about its judges."""

    request: CheckRequest
    table: Table
    labels: Labels
    report: RunReport
    notes: tuple[str, ...]
    """How the table was read, one sentence each."""
    gaps: tuple[str, ...]
    """What cannot be measured from it."""


def check_table(request: CheckRequest) -> Checked:
    """Read and measure a table.

    Raises:
        JrhError: the table cannot be read or checked; the text says where and what to do.
    """
    table = read_any_table(request.path)
    request = complete_request(request, table)
    check_request(request, table.columns)
    labels = read_labels(table, request)
    notes = (*labels.notes, *check_repeats(table, request, labels))
    # Through the import file: a check and `jrh import` cannot differ, as both read the same description.
    mapping = read_settings(import_file_content(request, table, labels, folder=Path()), ImportFile)
    tasks = mapping.build_tasks()
    log = read_verdicts(table, mapping, tasks)
    report = measure_records(
        mapping.name,
        tasks,
        log.records,
        metrics=load_metrics(_METRICS, plugins=(_PLUGIN,)),
        origins=log.origins,
        level=mapping.level,
        resamples=mapping.resamples,
        seed=mapping.seed,
    )
    return Checked(
        request=request,
        table=table,
        labels=labels,
        report=report,
        notes=(*notes, *report.notes),
        gaps=measurement_gaps(tasks, log.records),
    )


def import_file_content(request: CheckRequest, table: Table, labels: Labels, *, folder: Path) -> Mapping[str, Json]:
    """Return the content of the import file, with the table's path relative to a folder."""
    columns = {"item": request.item, "gold": request.human, "group": request.group, "repeat": request.repeat}
    content: dict[str, Json] = {
        "name": request.path.stem,
        # Relative to the import file, as paths in it are read.
        "path": os.path.relpath(request.path, folder),
        "format": table.format.value,
        "task": {"scale": _scale(labels.scale)},
        "columns": {target: column for target, column in columns.items() if column is not None},
        "decisions": [{"columns": {"label": judge}, "values": {"judge": judge}} for judge in request.judges],
        "missing": {text: status.value for text, status in labels.missing.items()},
        # A judge's stray reply is a missing verdict; the notes of the check say how many there are.
        "off_scale": "status",
        "covariates": {covariate_name(column, table): column for column in request.covariates},
        "metrics": {"add": list(ADDED)},
    }
    optional: dict[str, Json] = {
        "delimiter": table.delimiter if table.format is Format.CSV and table.delimiter != "," else None,
        "labels": dict(labels.written),
        "number_items": request.item is None,
        # Without a number of the rerun, the order of the file numbers them.
        "count_repeats": request.item is not None and request.repeat is None,
    }
    return content | {key: value for key, value in optional.items() if value}


def write_import_file(checked: Checked, file: Path) -> None:
    """Write the import file that gives the same numbers as the check.

    Raises:
        JrhError: it cannot be written.
    """
    content = import_file_content(checked.request, checked.table, checked.labels, folder=file.parent)
    try:
        file.write_text(as_yaml(content), encoding="utf-8")
    except OSError as error:
        raise JrhError(f"'{file}' cannot be written: {error.strerror or error}") from error


def as_yaml(content: Mapping[str, Json]) -> str:
    """Return the text of an import file: one key per line, values as JSON, which YAML reads."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items())


def _scale(scale: Scale) -> Mapping[str, Json]:
    if scale.kind is ScaleKind.PAIRWISE:
        return {"pairwise": True if scale.tie is None else {"tie": scale.tie}}
    if scale.ordered and scale.labels == _levels(scale):
        return {"ordinal": [int(scale.labels[0]), int(scale.labels[-1])]}
    return {scale.kind.value: list(scale.labels)}


def _levels(scale: Scale) -> tuple[str, ...]:
    """Return the labels that a range from the first to the last would have; none where they are no numbers."""
    try:
        low, high = int(scale.labels[0]), int(scale.labels[-1])
    except ValueError:
        return ()
    return tuple(str(level) for level in range(low, high + 1))
