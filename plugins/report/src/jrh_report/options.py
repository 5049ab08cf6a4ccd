"""Options of the reporters."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen
from attrs.validators import ge, in_, optional


@frozen(kw_only=True)
class TerminalOptions:
    """How the report is printed."""

    width: int | None = field(
        default=None,
        validator=optional(ge(60)),
        metadata={"help": "columns; by default those of the terminal, and 100 where the output is not a terminal"},
    )
    color: Literal["auto", "always", "never"] = field(
        default="auto",
        validator=in_(("auto", "always", "never")),
        metadata={"help": "`auto`: where the output is a terminal and NO_COLOR is not set"},
    )


@frozen(kw_only=True)
class MarkdownOptions:
    """What the Markdown report holds."""

    details: bool = field(default=True, metadata={"help": "list every measure, also per variant, in folded tables"})


@frozen(kw_only=True)
class JsonOptions:
    """How the JSON report is written."""

    indent: int = field(
        default=2, validator=ge(0), metadata={"help": "spaces per level; 0 writes a single line without spaces"}
    )
