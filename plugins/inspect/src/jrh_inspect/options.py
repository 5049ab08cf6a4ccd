"""What a suite can say about Inspect logs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import Factory, field, frozen
from attrs.validators import deep_iterable, ge, gt, matches_re, min_len, optional

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant", "tool")


class Errors(Enum):
    """What becomes of samples that ended with an error."""

    SKIP = "skip"
    """They are left out, and counted in the run's log."""
    KEEP = "keep"


@frozen(kw_only=True)
class InspectOptions:
    """Options of `inspect`."""

    path: Path = field(metadata={"help": "A log, a directory of logs, or a pattern such as `logs/*.eval`."})
    samples: tuple[str, ...] = field(
        default=(), metadata={"help": "Ids of the samples that are read, as `id` or `id#epoch`; none: all."}
    )
    epochs: tuple[int, ...] = field(
        default=(), validator=deep_iterable(ge(1)), metadata={"help": "Epochs that are read; none: all."}
    )
    errors: Errors = field(
        default=Errors.SKIP, metadata={"help": "Samples that ended with an error: `skip` or `keep`."}
    )
    roles: tuple[Role, ...] = field(
        default=ROLES, validator=min_len(1), metadata={"help": "Whose messages the transcript keeps."}
    )
    reasoning: bool = field(default=True, metadata={"help": "Keep the reasoning of the assistant's messages."})
    tool_output: int | None = field(
        default=None,
        validator=optional(ge(0)),
        metadata={"help": "The most characters of a tool's output, its middle left out; 0 drops it; none keeps it."},
    )
    preprocess: str | None = field(
        default=None,
        validator=optional(matches_re(r"[^:\s][^:]*:[A-Za-z_][\w.]*")),
        metadata={
            "help": "Your own function, `module:name` or `path/to/file.py:name`: gets the messages and the metadata, "
            "returns the messages, or None to leave the sample out."
        },
    )
    stratum: str | None = field(
        default=None, metadata={"help": "A key of the sample's metadata, or a score, results are broken down by."}
    )
    gold: str | Mapping[str, str] | None = field(
        default=None,
        metadata={
            "help": "The score that is the gold label: the scorer's name, or `name.key` where it gives a mapping; per "
            "task as `{TASK: name}`, and a task that is not named has none."
        },
    )
    gold_labels: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "The score's value as text -> label, such as `{C: satisfies, I: violates}`; none: as it is."},
    )
    max_mb: int = field(
        default=1000, validator=gt(0), metadata={"help": "Megabytes of a log's content; a larger log is refused."}
    )
    max_ratio: int = field(
        default=200, validator=gt(0), metadata={"help": "How strongly content may be compressed, as a factor."}
    )
