"""Options of the reporters."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen
from attrs.validators import ge, in_, le, min_len, optional


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
    characters: int = field(
        default=65_536,
        validator=[ge(8000), le(65_536)],
        metadata={"help": "length at most; the default is that of a comment on GitHub. What does not fit is named"},
    )


@frozen(kw_only=True)
class JsonOptions:
    """How the JSON report is written."""

    indent: int = field(
        default=2, validator=ge(0), metadata={"help": "spaces per level; 0 writes a single line without spaces"}
    )


@frozen(kw_only=True)
class CsvOptions:
    """How the records are written as CSV."""

    neutralise: bool = field(
        default=True,
        metadata={"help": "put an apostrophe before text that a spreadsheet would compute; false leaves it as it is"},
    )


@frozen(kw_only=True)
class ParquetOptions:
    """How the records are written as Parquet."""

    compression: Literal["zstd", "snappy", "none"] = field(
        default="zstd", validator=in_(("zstd", "snappy", "none")), metadata={"help": "how columns are compressed"}
    )


@frozen(kw_only=True)
class LatexOptions:
    """What the LaTeX tables show."""

    measures: tuple[str, ...] = field(
        default=("accuracy",),
        validator=min_len(1),
        metadata={"help": "one table of judges by tests for each of these measures, and for each task"},
    )
    digits: int = field(default=2, validator=[ge(1), le(6)], metadata={"help": "digits after the point"})
    tests: int = field(default=5, validator=ge(1), metadata={"help": "tests side by side; further ones stand below"})


@frozen(kw_only=True)
class PlotOptions:
    """What the plots are written as."""

    formats: tuple[Literal["svg", "png"], ...] = field(
        default=("svg",), validator=min_len(1), metadata={"help": "`svg` and `png`: a file of each for every plot"}
    )
    dpi: int = field(default=150, validator=[ge(50), le(600)], metadata={"help": "dots per inch of png files"})
    measures: tuple[str, ...] = field(
        default=("accuracy", "agreement", "excess-disagreement"),
        validator=min_len(1),
        metadata={"help": "measures that are plotted as heat map and forest plot, for each task"},
    )


@frozen(kw_only=True)
class HtmlOptions:
    """What the HTML report holds."""

    examples: int = field(
        default=12,
        validator=[ge(0), le(100)],
        metadata={"help": "verdicts that moved, shown in full for each judge and task; the worst of every test first"},
    )
