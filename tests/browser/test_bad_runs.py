"""Runs that found next to nothing, or cannot be read: a page or a clear message, never a traceback (point 6)."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jrh_testing import ChatServer, Project
from support.browsing import PHONE, visit
from support.keys import KEY, KEY_VARIABLE
from support.pages import read_page
from support.suites import llm_suite, openai_http, write_items, write_suite

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.parametrize(("answer", "items"), [("I would rather not say.", 3), ("YES", 1)], ids=["missing", "one item"])
def test_a_poor_run_has_a_quiet_page(browser: Browser, tmp_path: Path, answer: str, items: int) -> None:
    project = Project(tmp_path, env={KEY_VARIABLE: KEY})
    write_items(project, items)
    with ChatServer(answer) as server:
        suite = write_suite(
            project,
            llm_suite(openai_http(server.url), tests=[{"stochastic": {"repeats": 2}}], reports=["html", "json"]),
        )
        done = project.run("run", suite, "--run-dir", "run", "--yes")
    assert "Traceback" not in done.output
    page = tmp_path / "run" / "report.html"
    text = read_page(page.read_text(encoding="utf-8")).text
    assert ("9 of 9 trials returned no verdict" in text) == (answer != "YES")
    assert "returned no verdict" in text or "Inconclusive" in text
    with visit(browser, page, PHONE) as seen:
        seen.assert_quiet()
        assert seen.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_the_run_of_a_newer_jrh_is_refused_in_one_line(pairs: Path, tmp_path: Path) -> None:
    newer = tmp_path / "run"
    newer.mkdir()
    shutil.copy(pairs / "run.sqlite", newer)
    with closing(sqlite3.connect(newer / "run.sqlite")) as connection:
        connection.execute("PRAGMA user_version=99")
    done = Project(tmp_path).run("report", "run", "--format", "html")
    assert done.exit_code == 2
    assert "was written by a newer jrh (schema 99" in done.stderr
    assert "Traceback" not in done.output
    assert not (newer / "report.html").exists()


def test_the_page_is_written_again_to_the_byte(pairs: Path, tmp_path: Path) -> None:
    done = Project(tmp_path).run("report", pairs, "--format", "html", "--output", "again")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "again" / "report.html").read_bytes() == (pairs / "report.html").read_bytes()
