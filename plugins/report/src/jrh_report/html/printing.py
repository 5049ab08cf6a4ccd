"""The page as a PDF, printed by Chromium where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from attrs import frozen
from jrh import JrhError, RunReport
from jrh.text import clean_text

from jrh_report.html.reporter import HtmlReporter
from jrh_report.options import HtmlOptions, PdfOptions

PROGRAMS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_FLAGS: Final = (
    "--headless",
    "--no-pdf-header-footer",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--proxy-server=127.0.0.1:9",  # the page asks for nothing, and the browser shall not either
)
_BESIDE: Final = re.compile(r' href="(?!#|https?:)[^"]*"')
_DATE: Final = re.compile(rb"/(CreationDate|ModDate) \(D:[^)]*\)")


def build(options: PdfOptions) -> PdfReporter:
    """Build the reporter; a missing browser shows here, before anything is written.

    Raises:
        JrhError: no Chromium is installed.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise JrhError("the report as PDF needs Chromium or Chrome, which is not installed; report.html prints as well")
    return PdfReporter(options, program)


@frozen
class PdfReporter:
    """Prints the page of the reporter `html` on paper: the answer of every task, and what is open below it; or all."""

    options: PdfOptions
    program: str

    def render(self, report: RunReport) -> bytes:
        """Return the document.

        The same report gives the same pages, text and pictures, with the same version of Chromium and the same fonts.
        It may not give the same bytes: Chromium numbers tagged elements in the order in which it happens to visit them.

        Raises:
            JrhError: Chromium fails or takes too long.
        """
        # Rendered again: report.html need not exist.
        page = HtmlReporter(HtmlOptions(examples=self.options.examples)).render(report)
        with TemporaryDirectory() as place:
            source, target = Path(place, "report.html"), Path(place, "report.pdf")
            # Links to files in the page's directory would point into the temporary directory.
            source.write_text(_BESIDE.sub("", page), encoding="utf-8")
            self._print(source, target, Path(place, "profile"))
            content = target.read_bytes()
        return _DATE.sub(_fix_date, content)

    def _print(self, source: Path, target: Path, profile: Path) -> None:
        root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()  # it refuses to run otherwise
        # A profile of its own: with the user's, a running Chromium would take the command over.
        address = source.as_uri() + ("#full" if self.options.full else "")  # the page's script unfolds all of it
        command = (*_FLAGS, *root, f"--user-data-dir={profile}", f"--print-to-pdf={target}", address)
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program with fixed flags and paths of our own
                [self.program, *command], capture_output=True, check=False, timeout=self.options.timeout
            )
        except subprocess.TimeoutExpired:
            raise JrhError(f"Chromium did not print the page within {self.options.timeout:g} seconds") from None
        except OSError as error:
            raise JrhError(f"Chromium cannot be started: {error.strerror or error}") from error
        # Chromium may exit with 0 although it wrote nothing.
        if done.returncode or not target.is_file() or not target.read_bytes().startswith(b"%PDF"):
            message = clean_text(done.stderr.decode("utf-8", "replace"))
            raise JrhError(f"Chromium did not print the page (exit code {done.returncode}): {message}")


def _fix_date(found: re.Match[bytes]) -> bytes:
    """Return the same date everywhere, as long as the date was, as the file counts its bytes."""
    head, _, date = found[0].partition(b"D:")
    return head + b"D:" + re.sub(rb"\d", b"0", date).replace(b"00000000", b"19800101", 1)
