"""Options of the reporters."""

from __future__ import annotations

from typing import Literal

from attrs import frozen
from attrs.validators import ge, gt, in_, le, min_len, optional
from jrh.plugins import option


@frozen(kw_only=True)
class TerminalOptions:
    """How the report is printed."""

    full: bool = option("print all tables instead of the findings in brief; `--full` sets it", default=False)

    width: int | None = option(
        "width in columns; default: the terminal's width, or 100 without a terminal", optional(ge(60)), default=None
    )
    color: Literal["auto", "always", "never"] = option(
        "`auto`: colour on a terminal, unless NO_COLOR is set or TERM is dumb",
        in_(("auto", "always", "never")),
        default="auto",
    )


@frozen(kw_only=True)
class MarkdownOptions:
    """What the Markdown report holds."""

    details: bool = option("include every measure, also per variant, in collapsed tables", default=True)
    characters: int = option(
        "maximum length in characters; the default fits a GitHub comment. The report lists what it omits",
        ge(8000),
        le(65_536),
        default=65_536,
    )


@frozen(kw_only=True)
class CsvOptions:
    """How the records are written as CSV."""

    neutralise: bool = option(
        "prefix an apostrophe to text that a spreadsheet would run as a formula, and escape control "
        "characters; false writes texts unchanged",
        default=True,
    )


@frozen(kw_only=True)
class LatexOptions:
    """What the LaTeX tables show."""

    digits: int = option("digits after the point", ge(1), le(6), default=2)
    tests: int = option("tests per row; the rest continue below", ge(1), default=5)


@frozen(kw_only=True)
class PaperOptions:
    """What is written as the tables and figures of papers."""

    formats: tuple[Literal["csv", "tex", "svg"], ...] = option(
        "tables as `csv` and `tex`, figures as `svg`; index.md is always written",
        min_len(1),
        default=("csv", "tex", "svg"),
    )
    variants: Literal["pooled", "apart"] = option(
        "one column for each test, or for each of its variants", in_(("pooled", "apart")), default="pooled"
    )
    digits: int = option("decimals of LaTeX and index.md", ge(1), le(6), default=2)


@frozen(kw_only=True)
class HtmlOptions:
    """What the HTML report holds."""

    examples: int = option(
        "changed verdicts shown in full per judge and task; the worst of every test first", ge(0), le(100), default=12
    )


@frozen(kw_only=True)
class XlsxOptions:
    """What the workbook holds."""

    records: bool = option("a sheet with one row per record", default=True)
    neutralise: bool = option(
        "prefix an apostrophe to text that a spreadsheet would run as a formula once it is saved as CSV", default=True
    )


@frozen(kw_only=True)
class PdfOptions(HtmlOptions):
    """What the PDF holds, and how it is printed."""

    full: bool = option("print all tasks and all that the page folds, which may take hundreds of pages", default=False)
    timeout: float = option("seconds that the browser may take", gt(0), default=120.0)
