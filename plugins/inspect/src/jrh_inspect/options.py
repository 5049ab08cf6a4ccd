"""Define the options of the data source and of the importer `inspect`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import Factory, field, frozen
from attrs.validators import deep_iterable, ge, gt, matches_re, min_len, optional
from jrh_interchange import ScoreOptions

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant", "tool")


class Errors(Enum):
    """How to treat samples that ended with an error."""

    SKIP = "skip"
    """Leave them out; the run's log has the count."""
    KEEP = "keep"


class Code(Enum):
    """What the transcript shows of the code in the assistant's tool calls."""

    KEEP = "keep"
    COMMENTS = "comments"
    """The comment lines only: what the assistant says about its code, without the code."""


@frozen(kw_only=True)
class InspectOptions:
    """Options of `inspect`."""

    path: Path = field(metadata={"help": "A log, a directory of logs, or a pattern such as `logs/*.eval`."})
    samples: tuple[str, ...] = field(
        default=(), metadata={"help": "Ids of the samples to read, as `id` or `id#epoch`. Default: all."}
    )
    epochs: tuple[int, ...] = field(
        default=(), validator=deep_iterable(ge(1)), metadata={"help": "Epochs to read. Default: all."}
    )
    errors: Errors = field(
        default=Errors.SKIP, metadata={"help": "What to do with samples that ended with an error: `skip` or `keep`."}
    )
    roles: tuple[Role, ...] = field(
        default=ROLES, validator=min_len(1), metadata={"help": "Roles whose messages the transcript keeps."}
    )
    reasoning: bool = field(default=True, metadata={"help": "Keep the reasoning of the assistant's messages."})
    tool_output: int | None = field(
        default=None,
        validator=optional(ge(0)),
        metadata={
            "help": "Longest tool output in characters; the middle is cut. 0 drops tool output. Default: no limit."
        },
    )
    code: Code = field(
        default=Code.KEEP,
        metadata={
            "help": "Code in the assistant's tool calls (the argument `code`): `keep` it, or only its `comments`, the "
            "lines that begin with #."
        },
    )
    preprocess: str | None = field(
        default=None,
        validator=optional(matches_re(r"[^:\s][^:]*:[A-Za-z_][\w.]*")),
        metadata={
            "help": "Your own function, `module:name` or `path/to/file.py:name`. It gets the messages and the metadata "
            "and returns the messages, or None to leave the sample out."
        },
    )
    stratum: str | None = field(
        default=None, metadata={"help": "Break results down by this key of the sample's metadata, or by this score."}
    )
    gold: str | Mapping[str, str] | None = field(
        default=None,
        metadata={
            "help": "The score to use as gold label: the scorer's name, or `name.key` if its value is a mapping. Per "
            "task: `{TASK: name}`; tasks left out have no gold labels."
        },
    )
    gold_labels: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "Score value -> label, such as `{C: satisfies, I: violates}`. Default: the value itself."},
    )
    max_mb: int = field(
        default=1000, validator=gt(0), metadata={"help": "Largest log content in megabytes; larger logs are rejected."}
    )
    max_ratio: int = field(
        default=200,
        validator=gt(0),
        metadata={"help": "Highest compression ratio; a log above it is rejected as a possible zip bomb."},
    )


@frozen(kw_only=True)
class VerdictOptions(ScoreOptions):
    """Options of the importer `inspect`."""
