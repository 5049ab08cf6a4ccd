"""The report as PDF."""

from __future__ import annotations

import re
from pathlib import Path

import jrh_report.plugin
import pytest
from attrs import evolve
from jrh import JrhError
from jrh_report.html.printing import PdfReporter
from jrh_report.options import PdfOptions
from jrh_testing import build, sample_report


def program(place: Path, text: str) -> str:
    path = place / "chromium"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.browser
def test_the_page_is_printed_and_the_same_run_gives_the_same_pages(render, shown) -> None:
    first = render("pdf", sample_report())
    assert isinstance(first, bytes)
    assert first.startswith(b"%PDF-")
    assert b"19800101" in first
    assert b"file:" not in first
    assert len(shown(first)) >= 2
    assert "Reliability report: sample" in shown(first)[0][1]
    assert shown(render("pdf", sample_report())) == shown(first)
    assert len(shown(render("pdf", sample_report(), full=True))) > len(shown(first))


@pytest.mark.browser
def test_documents_are_compared_by_what_they_show(render, shown) -> None:
    """Chromium numbers what it tags in the order of its work, so that two files of the same pages may differ."""
    first = render("pdf", sample_report())
    renumbered = re.sub(rb"node(\d{8})", lambda found: b"node%08d" % (int(found[1]) + 3), first)
    assert renumbered != first
    assert shown(renumbered) == shown(first)
    other = sample_report()
    assert shown(render("pdf", evolve(other, suite=other.suite.upper()))) != shown(first)


def test_without_a_browser_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jrh_report.html.printing.PROGRAMS", ("no-such-browser",))
    with pytest.raises(JrhError, match="needs Chromium or Chrome, which is not installed") as refused:
        build(jrh_report.plugin, "pdf")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("echo broken >&2; exit 3", r"did not print the page \(exit code 3\): broken"),
        ("exit 0", r"did not print the page \(exit code 0\)"),
        ("exec sleep 9", "did not print the page within 0.2 seconds"),
    ],
)
def test_a_browser_that_fails_is_one_sentence(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(JrhError, match=why):
        PdfReporter(PdfOptions(timeout=0.2 if "sleep" in text else 30.0), program(tmp_path, text)).render(
            sample_report()
        )
