"""Define the options of the data source and of the importer `inspect`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import Factory, frozen
from attrs.validators import deep_iterable, ge, gt, matches_re, min_len, optional
from jrh.plugins import option
from jrh_interchange import ScoreOptions

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant", "tool")


Errors: TypeAlias = Literal["skip", "keep"]
"""How to treat samples that ended with an error: the run's log has the count of those that were skipped."""
Code: TypeAlias = Literal["keep", "comments"]
"""What the transcript shows of the code in the assistant's tool calls. The comment lines hold what the assistant says
about its code, without the code."""


@frozen(kw_only=True)
class InspectOptions:
    """Options of `inspect`."""

    path: Path = option("A log, a directory of logs, or a pattern such as `logs/*.eval`.")
    samples: tuple[str, ...] = option("Ids of the samples to read, as `id` or `id#epoch`. Default: all.", default=())
    epochs: tuple[int, ...] = option("Epochs to read. Default: all.", deep_iterable(ge(1)), default=())
    errors: Errors = option("What to do with samples that ended with an error: `skip` or `keep`.", default="skip")
    roles: tuple[Role, ...] = option("Roles whose messages the transcript keeps.", min_len(1), default=ROLES)
    reasoning: bool = option("Keep the reasoning of the assistant's messages.", default=True)
    tool_output: int | None = option(
        "Longest tool output in characters; the middle is cut. 0 drops tool output. Default: no limit.",
        optional(ge(0)),
        default=None,
    )
    code: Code = option(
        "Code in the assistant's tool calls (the argument `code`): `keep` it, or only its `comments`, the "
        "lines that begin with #.",
        default="keep",
    )
    preprocess: str | None = option(
        "Your own function, `module:name` or `path/to/file.py:name`. It gets the messages and the metadata "
        "and returns the messages, or None to leave the sample out.",
        optional(matches_re(r"[^:\s][^:]*:[A-Za-z_][\w.]*")),
        default=None,
    )
    stratum: str | None = option(
        "Break results down by this key of the sample's metadata, or by this score.", default=None
    )
    gold: str | Mapping[str, str] | None = option(
        "The score to use as gold label: the scorer's name, or `name.key` if its value is a mapping. Per "
        "task: `{TASK: name}`; tasks left out have no gold labels.",
        default=None,
    )
    gold_labels: Mapping[str, str] = option(
        "Score value -> label, such as `{C: satisfies, I: violates}`. Default: the value itself.", default=Factory(dict)
    )
    max_mb: int = option("Largest log content in megabytes; larger logs are rejected.", gt(0), default=1000)
    max_ratio: int = option(
        "Highest compression ratio; a log above it is rejected as a possible zip bomb.", gt(0), default=200
    )


@frozen(kw_only=True)
class VerdictOptions(ScoreOptions):
    """Options of the importer `inspect`."""
