"""Options of the reporters."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen
from attrs.validators import ge, gt, in_, le, min_len, optional


@frozen(kw_only=True)
class TerminalOptions:
    """How the report is printed."""

    full: bool = field(
        default=False,
        metadata={"help": "print all tables instead of the findings in brief; `--full` sets it"},
    )

    width: int | None = field(
        default=None,
        validator=optional(ge(60)),
        metadata={"help": "width in columns; default: the terminal's width, or 100 without a terminal"},
    )
    color: Literal["auto", "always", "never"] = field(
        default="auto",
        validator=in_(("auto", "always", "never")),
        metadata={"help": "`auto`: colour on a terminal, unless NO_COLOR is set or TERM is dumb"},
    )


@frozen(kw_only=True)
class MarkdownOptions:
    """What the Markdown report holds."""

    details: bool = field(
        default=True, metadata={"help": "include every measure, also per variant, in collapsed tables"}
    )
    characters: int = field(
        default=65_536,
        validator=[ge(8000), le(65_536)],
        metadata={
            "help": "maximum length in characters; the default fits a GitHub comment. The report lists what it omits"
        },
    )


@frozen(kw_only=True)
class JsonOptions:
    """How the JSON report is written."""

    indent: int | None = field(
        default=None,
        validator=optional(ge(0)),
        metadata={"help": "spaces per level; 0 writes a single line. Default: one line per measure, without spaces"},
    )


@frozen(kw_only=True)
class CsvOptions:
    """How the records are written as CSV."""

    neutralise: bool = field(
        default=True,
        metadata={
            "help": "prefix an apostrophe to text that a spreadsheet would run as a formula, and escape control "
            "characters; false writes texts unchanged"
        },
    )


@frozen(kw_only=True)
class ParquetOptions:
    """How the records are written as Parquet."""

    compression: Literal["zstd", "snappy", "none"] = field(
        default="zstd", validator=in_(("zstd", "snappy", "none")), metadata={"help": "column compression"}
    )


@frozen(kw_only=True)
class LatexOptions:
    """What the LaTeX tables show."""

    digits: int = field(default=2, validator=[ge(1), le(6)], metadata={"help": "digits after the point"})
    tests: int = field(default=5, validator=ge(1), metadata={"help": "tests per row; the rest continue below"})


@frozen(kw_only=True)
class PaperOptions:
    """What is written as the tables and figures of papers."""

    formats: tuple[Literal["csv", "tex", "svg"], ...] = field(
        default=("csv", "tex", "svg"),
        validator=min_len(1),
        metadata={"help": "tables as `csv` and `tex`, figures as `svg`; index.md is always written"},
    )
    variants: Literal["pooled", "apart"] = field(
        default="pooled",
        validator=in_(("pooled", "apart")),
        metadata={"help": "one column for each test, or for each of its variants"},
    )
    digits: int = field(default=2, validator=[ge(1), le(6)], metadata={"help": "decimals of LaTeX and index.md"})


@frozen(kw_only=True)
class HtmlOptions:
    """What the HTML report holds."""

    examples: int = field(
        default=12,
        validator=[ge(0), le(100)],
        metadata={"help": "changed verdicts shown in full per judge and task; the worst of every test first"},
    )


@frozen(kw_only=True)
class XlsxOptions:
    """What the workbook holds."""

    records: bool = field(default=True, metadata={"help": "a sheet with one row per record"})
    neutralise: bool = field(
        default=True,
        metadata={
            "help": "prefix an apostrophe to text that a spreadsheet would run as a formula once it is saved as CSV"
        },
    )


@frozen(kw_only=True)
class PdfOptions(HtmlOptions):
    """What the PDF holds, and how it is printed."""

    timeout: float = field(default=120.0, validator=gt(0), metadata={"help": "seconds that the browser may take"})
