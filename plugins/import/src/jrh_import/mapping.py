"""What an import file says: where the table is, and what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import Factory, field, frozen
from attrs.validators import min_len
from jrh import JrhError, Status, WrittenTask

WHOLE: Final = ("repeat", "prompt_tokens", "completion_tokens")
"""Targets that are whole numbers."""
NUMBERS: Final = (*WHOLE, "strength", "temperature", "probability", "cost", "latency")
"""Targets that are numbers."""
TEXTS: Final = (
    "item",
    "judge",
    "label",
    "gold",
    "test",
    "family",
    "variant",
    "template",
    "option_order",
    "polarity",
    "language",
    "status",
    "expectation",
    "expected",
    "stratum",
    "group",
    "detail",
    "rationale",
)
"""Targets that are text."""
TARGETS: Final = (*TEXTS, *NUMBERS)
"""What a column can mean."""


class Format(Enum):
    """How the table is written."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


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


@frozen(kw_only=True)
class Decision:
    """One verdict of a row; a row may hold several."""

    columns: Mapping[str, str] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> column, for this verdict alone."}
    )
    values: Mapping[str, str | int | float] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> value, for this verdict alone."}
    )


@frozen(kw_only=True)
class ImportFile:
    """An import file."""

    name: str = field(validator=min_len(1), metadata={"help": "The name the report shows, and that of the directory."})
    path: Path = field(metadata={"help": "The table, relative to this file."})
    format: Format | None = field(default=None, metadata={"help": "`csv`, `jsonl` or `parquet`; else by suffix."})
    delimiter: str = field(default=",", metadata={"help": "What parts the cells of a csv file."})
    task: WrittenTask = field(metadata={"help": "What was judged, as in a suite; the scale is needed."})
    columns: Mapping[str, str] = field(
        default=Factory(dict), validator=_check_targets, metadata={"help": "Target -> column."}
    )
    values: Mapping[str, str | int | float] = field(
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
    simulated: bool = field(default=False, metadata={"help": "The judges' answers are made up."})
    notes: tuple[str, ...] = field(default=(), metadata={"help": "What a reader of the report has to know."})

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
