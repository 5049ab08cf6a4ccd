"""Define the import file: where the table is and what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from attrs import Factory, field, frozen
from attrs.validators import ge, gt, lt, min_len, optional
from jrh import JrhError, Json, Status, Task
from jrh.suite import WrittenTask
from jrh.values import FindingSettings
from jrh_interchange import task_of

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


class Layout(Enum):
    """What the columns are known to be."""

    TABLE = "table"
    """Unknown; `columns` says what they mean."""
    RECORDS = "records"
    """The columns of the records that `jrh report` writes."""


class OffScale(Enum):
    """How to treat a label that is not on the scale."""

    ERROR = "error"
    STATUS = "status"
    """Import it with the status `off_scale`."""


def _check_targets(_instance: object, attribute: object, value: Mapping[str, object]) -> None:
    unknown = [target for target in value if target not in TARGETS]
    if unknown:
        name = getattr(attribute, "name", "columns")
        raise ValueError(f"{name}: unknown target {', '.join(unknown)}; targets: {', '.join(TARGETS)}")
    unquoted = [target for target, given in value.items() if isinstance(given, bool) and target not in TRUTHS]
    if unquoted:
        raise ValueError(f"the value of {', '.join(unquoted)} could be text or a number; write it in quotes")


def _check_covariates(_instance: object, _attribute: object, value: Json) -> None:
    """Check the form of `covariates`: names of columns, or covariate -> column, or option -> column."""
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, str) for each in value):
        return
    columns = list(value.values()) if isinstance(value, Mapping) else [value]
    for each in columns:
        named = list(each.values()) if isinstance(each, Mapping) else [each]
        if not isinstance(value, Mapping) or not named or not all(isinstance(column, str) for column in named):
            raise ValueError(
                "covariates: write columns, [length, author], or covariate: column, or in a comparison "
                "covariate: {A: column, B: column}"
            )


@frozen(kw_only=True)
class Decision:
    """One verdict of a row; a row may hold several."""

    columns: Mapping[str, str] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> column, for this verdict only."}
    )
    values: Mapping[str, Value] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> value, for this verdict only."}
    )


@frozen(kw_only=True)
class ImportFile:
    """An import file."""

    name: str = field(
        validator=min_len(1), metadata={"help": "Name shown in the report and used for the run directory."}
    )
    path: Path = field(metadata={"help": "Path of the table, relative to this file."})
    format: Format | None = field(
        default=None, metadata={"help": "`csv`, `tsv`, `jsonl` or `parquet`. Default: from the file name."}
    )
    delimiter: str = field(default=",", metadata={"help": "Character that separates the cells of a csv file."})
    layout: Layout = field(
        default=Layout.TABLE,
        metadata={"help": "`records`: `jrh report` wrote the table, so its columns need no description."},
    )
    neutralised: bool | None = field(
        default=None,
        metadata={"help": "Remove leading apostrophes, added against spreadsheets. Default: only in a csv of records."},
    )
    task: WrittenTask | None = field(default=None, metadata={"help": "The task, as in a suite; the scale is required."})
    tasks: Mapping[str, WrittenTask] = field(
        default=Factory(dict), metadata={"help": "Several tasks by name; the target `task` assigns rows to them."}
    )
    columns: Mapping[str, str] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> column."}
    )
    values: Mapping[str, Value] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> value shared by all rows."}
    )
    tests: Mapping[str, Mapping[str, str]] = field(
        default=Factory(dict),
        validator=_check_targets,
        metadata={"help": "Target -> text -> test: assigns rows to tests if no column or value does."},
    )
    orders: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "Text in the option-order column -> order, such as `BA`; needed for codes such as 0 and 1."},
    )
    polarities: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "Text in the polarity column -> `positive` or `inverted`; needed for codes such as 0 and 1."},
    )
    decisions: tuple[Decision, ...] = field(
        default=(Decision(),),
        validator=min_len(1),
        metadata={"help": "The verdicts of each row, if there are several."},
    )
    covariates: Json = field(
        default=None,
        validator=optional(_check_covariates),
        metadata={
            "help": (
                "Columns to test verdicts for: `[length, author]`, or covariate -> column, of a comparison "
                "`{A: column, B: column}`. The length of a text counts as `length`."
            )
        },
    )
    labels: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "Text in the file -> label on the scale, for both labels and gold labels."},
    )
    missing: Mapping[str, Status] = field(
        default=Factory(lambda: {"": Status.UNPARSABLE}),
        metadata={
            "help": "Text in the label column -> status, if there is no verdict. Default for empty cells: unparsable."
        },
    )
    presented: bool = field(
        default=False,
        metadata={
            "help": "Labels are as presented to the judge; the import undoes swapped options and inverted polarity."
        },
    )
    off_scale: OffScale = field(
        default=OffScale.ERROR, metadata={"help": "Treatment of labels that are not on the scale: `error` or `status`."}
    )
    number_items: bool = field(
        default=False, metadata={"help": "Every row is a separate item, named row-1, row-2 and so on."}
    )
    drop_duplicates: bool = field(
        default=False, metadata={"help": "Drop rows that equal an earlier row in every cell; a note counts them."}
    )
    count_repeats: bool = field(
        default=False, metadata={"help": "Number rows that are otherwise identical as repeats, in file order."}
    )
    simulated: bool = field(
        default=False, metadata={"help": "All judges are simulated; the target of this name sets it per judge."}
    )
    seed: int = field(default=0, metadata={"help": "Seed of all random numbers in the measures."})
    level: float = field(
        default=0.95, validator=[gt(0), lt(1)], metadata={"help": "Nominal coverage of the confidence intervals."}
    )
    resamples: int = field(default=2000, validator=ge(100), metadata={"help": "Bootstrap resamples."})
    metrics: Json = field(
        default=None,
        metadata={"help": "What the report computes, as in a suite: a list, or `add` with a list of further metrics."},
    )
    findings: FindingSettings = field(
        default=FindingSettings(), metadata={"help": "The effect floor and the margin that findings are held against."}
    )
    notes: tuple[str, ...] = field(default=(), metadata={"help": "Notes for readers of the report."})

    def __attrs_post_init__(self) -> None:
        """Require exactly one of `task` and `tasks`, and one source of the test."""
        if (self.task is None) == (not self.tasks):
            raise ValueError("describe one task as `task`, or several by name as `tasks`")
        # Whichever silently won, half of the readers would expect the other.
        if self.number_items and any("item" in each for each in (self.columns, self.values)):
            raise ValueError("`number_items` names the items; leave `item` out of `columns` and `values`")
        named = {
            "layout: records": self.layout is Layout.RECORDS,
            "values.test": "test" in self.values,
            "columns.test": "test" in self.columns,
            "values.test in `decisions`": any("test" in each.values for each in self.decisions),
            "columns.test in `decisions`": any("test" in each.columns for each in self.decisions),
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
            known = ", ".join(each.value for each in Format)
            raise JrhError(f"'{self.path}': unknown file format; set `format:` to one of {known}") from None

    def is_neutralised(self) -> bool:
        """Return whether to remove an apostrophe at the start of a cell."""
        if self.neutralised is not None:
            return self.neutralised
        return self.layout is Layout.RECORDS and self.table_format() is Format.CSV

    def described_tasks(self) -> tuple[Task, ...]:
        """Return the tasks; a single one has the name of the import.

        Raises:
            JrhError: The mode of a task does not fit its scale.
        """
        written = self.tasks if self.task is None else {self.name: self.task}
        return tuple(task_of(task, name) for name, task in written.items())

    def meanings(self, decision: Decision) -> tuple[Mapping[str, str], Mapping[str, Value]]:
        """Return target -> column and target -> value of a decision; its own entries take precedence."""
        known = OF_RECORDS if self.layout is Layout.RECORDS else {}
        values = {**self.values, **decision.values}
        columns = {target: column for target, column in known.items() if target not in values}
        if self.task is not None:
            columns.pop("task", None)
        return {**columns, **self.columns, **decision.columns}, values
