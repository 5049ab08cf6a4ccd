"""Define the import file: where the table is and what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import Factory, frozen
from attrs.validators import ge, gt, lt, min_len, optional
from jrh import JrhError, Json, Status, Task
from jrh.plugins import option
from jrh.suite import WrittenTask
from jrh.values import FindingSettings
from jrh_interchange import VERDICT_NAMES, target_meant, task_of

from jrh_import.targets import OF_RECORDS, TARGETS, TRUTHS

Value: TypeAlias = str | int | float | bool
"""A constant that all rows share."""


class Format(Enum):
    """File format of the table."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    XLSX = "xlsx"
    """The first sheet of a workbook."""


Layout: TypeAlias = Literal["table", "records"]
"""What the columns are known to be: nothing, so that `columns` says what they mean; or those of a report's records."""
OffScale: TypeAlias = Literal["error", "status"]
"""How to treat a label that is not on the scale: `status` imports it with the status `off_scale`."""


def _check_targets(_instance: object, _attribute: object, value: Mapping[str, object]) -> None:
    unknown = [target for target in value if target not in TARGETS]
    if unknown:
        meant = target_meant(unknown[0], TARGETS, VERDICT_NAMES)
        hint = f"; did you mean '{meant}'?" if meant else "."
        raise ValueError(f"unknown target {', '.join(unknown)}{hint} Targets: {', '.join(TARGETS)}")
    unquoted = [target for target, constant in value.items() if isinstance(constant, bool) and target not in TRUTHS]
    if unquoted:
        raise ValueError(f"the value of {', '.join(unquoted)} could be text or a number; write it in quotes")


def _check_covariates(_instance: object, _attribute: object, value: Json) -> None:
    """Check the form of `covariates`: names of columns, or covariate -> column, or option -> column."""
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(name, str) for name in value):
        return
    columns = list(value.values()) if isinstance(value, Mapping) else [value]
    for entry in columns:
        named = list(entry.values()) if isinstance(entry, Mapping) else [entry]
        if not isinstance(value, Mapping) or not named or not all(isinstance(column, str) for column in named):
            raise ValueError(
                "write columns, [length, author], or covariate: column, or in a comparison "
                "covariate: {A: column, B: column}"
            )


@frozen(kw_only=True)
class Decision:
    """One verdict of a row; a row may hold several."""

    columns: Mapping[str, str] = option(
        "Target -> column, for this verdict only.", _check_targets, default=Factory(dict)
    )
    values: Mapping[str, Value] = option(
        "Target -> value, for this verdict only.", _check_targets, default=Factory(dict)
    )


@frozen(kw_only=True)
class ImportFile:
    """An import file."""

    name: str = option("Name shown in the report and used for the run directory.", min_len(1))
    path: Path = option("Path of the table, relative to this file.")
    format: Format | None = option("`csv`, `tsv`, `jsonl` or `parquet`. Default: from the file name.", default=None)
    delimiter: str = option("Character that separates the cells of a csv file.", default=",")
    layout: Layout = option(
        "`records`: `jrh report` wrote the table, so its columns need no description.", default="table"
    )
    neutralised: bool | None = option(
        "Remove leading apostrophes, added against spreadsheets. Default: only in a csv of records.", default=None
    )
    task: WrittenTask | None = option("The task, as in a suite; the scale is required.", default=None)
    tasks: Mapping[str, WrittenTask] = option(
        "Several tasks by name; the target `task` assigns rows to them.", default=Factory(dict)
    )
    columns: Mapping[str, str] = option("Target -> column.", _check_targets, default=Factory(dict))
    values: Mapping[str, Value] = option("Target -> value shared by all rows.", _check_targets, default=Factory(dict))
    tests: Mapping[str, Mapping[str, str]] = option(
        "Target -> text -> test: assigns rows to tests if no column or value does.",
        _check_targets,
        default=Factory(dict),
    )
    orders: Mapping[str, str] = option(
        "Text in the option-order column -> order, such as `BA`; needed for codes such as 0 and 1.",
        default=Factory(dict),
    )
    polarities: Mapping[str, str] = option(
        "Text in the polarity column -> `positive` or `inverted`; needed for codes such as 0 and 1.",
        default=Factory(dict),
    )
    decisions: tuple[Decision, ...] = option(
        "The verdicts of each row, if there are several.", min_len(1), default=(Decision(),)
    )
    covariates: Json = option(
        "Columns to test verdicts for: `[length, author]`, or covariate -> column, of a comparison "
        "`{A: column, B: column}`. The length of a text counts as `length`.",
        optional(_check_covariates),
        default=None,
    )
    labels: Mapping[str, str] = option(
        "Text in the file -> label on the scale, for both labels and gold labels.", default=Factory(dict)
    )
    missing: Mapping[str, Status] = option(
        "Text in the label column -> status, if there is no verdict. Default for empty cells: unparsable.",
        default=Factory(lambda: {"": Status.UNPARSABLE}),
    )
    presented: bool = option(
        "Labels are as presented to the judge; the import undoes swapped options and inverted polarity.", default=False
    )
    off_scale: OffScale = option("Treatment of labels that are not on the scale: `error` or `status`.", default="error")
    number_items: bool = option("Every row is a separate item, named row-1, row-2 and so on.", default=False)
    count_repeats: bool = option("Number rows that are otherwise identical as repeats, in file order.", default=False)
    simulated: bool = option("All judges are simulated; the target of this name sets it per judge.", default=False)
    seed: int = option("Seed of all random numbers in the measures.", default=0)
    level: float = option("Nominal coverage of the confidence intervals.", gt(0), lt(1), default=0.95)
    resamples: int = option("Bootstrap resamples.", ge(100), default=2000)
    metrics: Json = option(
        "What the report computes, as in a suite: a list, or `add` with a list of further metrics.", default=None
    )
    findings: FindingSettings = option(
        "The effect floor and the margin that findings are held against.", default=FindingSettings()
    )
    notes: tuple[str, ...] = option("Notes for readers of the report.", default=())

    def __attrs_post_init__(self) -> None:
        """Require exactly one of `task` and `tasks`, and one source of the test."""
        if (self.task is None) == (not self.tasks):
            raise ValueError("describe one task as `task`, or several by name as `tasks`")
        # Whichever silently won, half of the readers would expect the other.
        if self.number_items and any("item" in targets for targets in (self.columns, self.values)):
            raise ValueError("`number_items` names the items; leave `item` out of `columns` and `values`")
        named = {
            "layout: records": self.layout == "records",
            "values.test": "test" in self.values,
            "columns.test": "test" in self.columns,
            "values.test in `decisions`": any("test" in decision.values for decision in self.decisions),
            "columns.test in `decisions`": any("test" in decision.columns for decision in self.decisions),
        }
        twice = [name for name, there in named.items() if there]
        if self.tests and twice:
            raise ValueError(f"`tests` and `{twice[0]}` both assign rows to tests; keep one of them")

    def table_format(self) -> Format:
        """Return the format of the table.

        Raises:
            JrhError: Neither `format` nor the file name gives it.
        """
        if self.format is not None:
            return self.format
        try:
            return Format(self.path.suffix.lower().lstrip("."))
        except ValueError:
            known = ", ".join(kind.value for kind in Format)
            raise JrhError(f"'{self.path}': unknown file format; set `format:` to one of {known}") from None

    def is_neutralised(self) -> bool:
        """Return whether to remove an apostrophe at the start of a cell."""
        if self.neutralised is not None:
            return self.neutralised
        # `jrh report` adds the apostrophe in csv only, where a spreadsheet would run the cell as a formula.
        return self.layout == "records" and self.table_format() is Format.CSV

    def build_tasks(self) -> tuple[Task, ...]:
        """Return the tasks; a single one has the name of the import.

        Raises:
            JrhError: The mode of a task does not fit its scale.
        """
        written = self.tasks if self.task is None else {self.name: self.task}
        return tuple(task_of(task, name) for name, task in written.items())

    def meanings(self, decision: Decision) -> tuple[Mapping[str, str], Mapping[str, Value]]:
        """Return target -> column and target -> value of a decision; its own entries take precedence."""
        known = OF_RECORDS if self.layout == "records" else {}
        values = {**self.values, **decision.values}
        # A value for all rows goes before the column that records have by default.
        columns = {target: column for target, column in known.items() if target not in values}
        if self.task is not None:
            # The records name their task, but the file describes a single one.
            columns.pop("task", None)
        return {**columns, **self.columns, **decision.columns}, values
