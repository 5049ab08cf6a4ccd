"""What an import file says: where the table is, and what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from attrs import Factory, field, frozen
from attrs.validators import ge, gt, lt, min_len
from jrh import JrhError, Status, Task
from jrh.suite import WrittenTask, task_of

from jrh_import.targets import OF_RECORDS, TARGETS, TRUTHS

Value: TypeAlias = str | int | float | bool
"""What all rows may have in common."""


class Format(Enum):
    """How the table is written."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class Layout(Enum):
    """What is known of the columns beforehand."""

    TABLE = "table"
    """Nothing: `columns` says what they mean."""
    RECORDS = "records"
    """They are those of the records that `jrh report` writes, and mean what they are named."""


class OffScale(Enum):
    """What becomes of a label that is not on the scale."""

    ERROR = "error"
    STATUS = "status"
    """It is a verdict with the status `off_scale`."""


def _check_targets(_instance: object, attribute: object, value: Mapping[str, object]) -> None:
    unknown = [target for target in value if target not in TARGETS]
    if unknown:
        name = getattr(attribute, "name", "columns")
        raise ValueError(f"{name}: unknown target {', '.join(unknown)}; targets: {', '.join(TARGETS)}")
    unquoted = [target for target, given in value.items() if isinstance(given, bool) and target not in TRUTHS]
    if unquoted:
        raise ValueError(f"the value of {', '.join(unquoted)} is text or a number: write it in quotes")


@frozen(kw_only=True)
class Decision:
    """One verdict of a row; a row may hold several."""

    columns: Mapping[str, str] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> column, for this verdict alone."}
    )
    values: Mapping[str, Value] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> value, for this verdict alone."}
    )


@frozen(kw_only=True)
class ImportFile:
    """An import file."""

    name: str = field(validator=min_len(1), metadata={"help": "The name the report shows, and that of the directory."})
    path: Path = field(metadata={"help": "The table, relative to this file."})
    format: Format | None = field(default=None, metadata={"help": "`csv`, `jsonl` or `parquet`; else by suffix."})
    delimiter: str = field(default=",", metadata={"help": "What parts the cells of a csv file."})
    layout: Layout = field(
        default=Layout.TABLE,
        metadata={"help": "`records`: the table is one that `jrh report` wrote; its columns need no description."},
    )
    neutralised: bool | None = field(
        default=None,
        metadata={"help": "Cells that begin with an apostrophe were given it; by default so in a csv of records."},
    )
    task: WrittenTask | None = field(
        default=None, metadata={"help": "What was judged, as in a suite; the scale is needed."}
    )
    tasks: Mapping[str, WrittenTask] = field(
        default=Factory(dict), metadata={"help": "Several tasks by name; the target `task` says which one a row is of."}
    )
    columns: Mapping[str, str] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> column."}
    )
    values: Mapping[str, Value] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> value that all rows have."}
    )
    tests: Mapping[str, Mapping[str, str]] = field(
        default=Factory(dict),
        validator=_check_targets,
        metadata={"help": "Target -> its text -> test: which test a row belongs to, where no column says so."},
    )
    decisions: tuple[Decision, ...] = field(
        default=(Decision(),), validator=min_len(1), metadata={"help": "The verdicts of every row, if several."}
    )
    labels: Mapping[str, str] = field(
        default=Factory(dict), metadata={"help": "Text in the file -> label on the scale, for labels and gold labels."}
    )
    missing: Mapping[str, Status] = field(
        default=Factory(lambda: {"": Status.UNPARSABLE}),
        metadata={"help": "Text in the label's column -> status, where there is no verdict; empty: unparsable."},
    )
    presented: bool = field(
        default=False,
        metadata={"help": "Labels are as the judge was shown them: swapped options and inverted polarity are undone."},
    )
    off_scale: OffScale = field(
        default=OffScale.ERROR, metadata={"help": "A label that is not on the scale: `error`, or `status`."}
    )
    count_repeats: bool = field(
        default=False, metadata={"help": "Number the rows that agree in everything else as repeats, in their order."}
    )
    simulated: bool = field(
        default=False, metadata={"help": "The answers are made up, of every judge that the target does not say it of."}
    )
    seed: int = field(default=0, metadata={"help": "All random numbers of the measures follow from it."})
    level: float = field(default=0.95, validator=[gt(0), lt(1)], metadata={"help": "Coverage of the intervals."})
    resamples: int = field(default=2000, validator=ge(100), metadata={"help": "Resamples of every bootstrap."})
    notes: tuple[str, ...] = field(default=(), metadata={"help": "What a reader of the report has to know."})

    def __attrs_post_init__(self) -> None:
        """Require the description of one task or of several."""
        if (self.task is None) == (not self.tasks):
            raise ValueError("describe one task as `task`, or several by name as `tasks`")

    def table_format(self) -> Format:
        """Return the format of the table.

        Raises:
            JrhError: neither `format` nor the suffix says it.
        """
        if self.format is not None:
            return self.format
        try:
            return Format(self.path.suffix.lower().lstrip("."))
        except ValueError:
            known = ", ".join(each.value for each in Format)
            raise JrhError(f"'{self.path}': say `format:`, one of {known}; the suffix does not tell") from None

    def is_neutralised(self) -> bool:
        """Return whether an apostrophe at the front of a cell is to be removed."""
        if self.neutralised is not None:
            return self.neutralised
        return self.layout is Layout.RECORDS and self.table_format() is Format.CSV

    def described_tasks(self) -> tuple[Task, ...]:
        """Return the tasks; a single one has the name of the import.

        Raises:
            JrhError: the mode of a task does not fit its scale.
        """
        written = self.tasks if self.task is None else {self.name: self.task}
        return tuple(task_of(task, name) for name, task in written.items())

    def meanings(self, decision: Decision) -> tuple[Mapping[str, str], Mapping[str, Value]]:
        """Return target -> column and target -> value of a decision; what it says itself comes first."""
        known = OF_RECORDS if self.layout is Layout.RECORDS else {}
        values = {**self.values, **decision.values}
        columns = {target: column for target, column in known.items() if target not in values}
        if self.task is not None:
            columns.pop("task", None)
        return {**columns, **self.columns, **decision.columns}, values
