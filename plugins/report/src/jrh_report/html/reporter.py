"""The HTML report."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from attrs import frozen
from jrh import RunReport
from jrh_measuring import page_environment

from jrh_report.findings import flag_meanings
from jrh_report.html.page import gather
from jrh_report.options import HtmlOptions
from jrh_report.tables import finite

if TYPE_CHECKING:
    from jinja2 import Environment


@frozen
class HtmlReporter:
    """Writes the report as one file that asks for nothing: no request leaves it, and nothing in it is run text's code.

    Everything that is text of the run passes through `visible_text` and Jinja's escaping on its way into the page;
    style and script are constants, and the page's policy allows these two by their hashes and nothing else.
    """

    options: HtmlOptions

    def render(self, report: RunReport) -> str:
        """Return the page; the same report gives the same text."""
        style, script = source("style.css") + source("shades.css"), source("script.js")
        page = gather(finite(report), self.options.examples)
        return (
            environment()
            .get_template("page.html.j2")
            .render(
                page=page,
                flag_meanings=flag_meanings(report),
                policy=_policy(style, script),
                style=trusted(style),
                script=trusted(script),
            )
        )


def source(name: str) -> str:
    """Return a file of the page's templates."""
    return files("jrh_report.html").joinpath("templates", name).read_text(encoding="utf-8")


def trusted(source: str) -> object:
    """Mark a file of this package as markup."""
    from markupsafe import Markup

    return Markup(source)  # noqa: S704 - a file of this package


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )


def _digest(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


@cache
def environment() -> Environment:
    """Return the environment of the page's templates."""
    return page_environment("jrh_report.html", {})
