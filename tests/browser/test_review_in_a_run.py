"""`jrh run` with a review, in a real browser: cases arrive as they are made, and judges are asked what people left."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jrh_testing import ChatServer, Project
from support.browsing import wait_until
from support.keys import KEY, KEY_VARIABLE
from support.looking import query
from support.suites import llm_suite, openai_http, write_items, write_suite

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ITEMS = 30
EDITED, REJECTED = 3, 5
"""Places in the queue."""
MINE = "a text that Ann typed"


class Paced:
    """Judges, and writes texts: the second half of them waits until somebody has seen the first case."""

    def __init__(self) -> None:
        self.asked_to_write = 0
        self.seen = threading.Event()

    def __call__(self, body: dict[str, Any]) -> str:
        asked = str(body["messages"])
        if "Is the answer right?" in asked:
            return "YES"
        self.asked_to_write += 1
        if self.asked_to_write > ITEMS // 2:
            self.seen.wait(60)
        number = re.search(r"number (\d{3})", asked)
        return f'{{"text": "What is said anew is {number.group(1) if number else ""}."}}'


def suite(project: Project, url: str) -> None:
    write_items(project, ITEMS)
    writer = openai_http(url, model="writer", concurrency=2)
    made = llm_suite(
        openai_http(url),
        models={"mini": openai_http(url), "writer": writer},
        tests=[{"paraphrase": {"model": "writer", "checks": [], "attempts": 1}}],
        review={"tests": ["paraphrase"], "names": ["Ann"]},
    )
    write_suite(project, made)


@contextmanager
def running(project: Project) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `jrh run` as a user does; provide the address that it prints."""
    command = [sys.executable, "-m", "jrh", "run", "suite.yaml", "--run-dir", "run", "--no-cache", "--no-preflight"]
    environment = {**os.environ, **project.env, KEY_VARIABLE: KEY}
    with subprocess.Popen(
        command, cwd=project.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            while not (found := re.search(r"Review: (http\S+)", lines[-1] if lines else "")):
                lines.append(process.stdout.readline())
                assert lines[-1], lines
            yield process, found.group(1)
        finally:
            process.kill()


def shown(page: Page) -> str:
    return str(page.locator("#review").get_attribute("data-shown"))


def test_thirty_cases_are_reviewed_by_keyboard_while_they_are_made(browser: Browser, tmp_path: Path) -> None:
    project = Project(tmp_path)
    said: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    keys = page.keyboard
    model = Paced()
    with ChatServer(model, latency=0.2) as server:
        suite(project, server.url)
        with running(project) as (process, address):
            page.goto(address)
            seen: list[str] = []
            for place in range(ITEMS):
                wait_until(
                    page,
                    "seen => ![undefined, ...seen].includes(document.getElementById('review')?.dataset.shown)",
                    arg=seen,
                )
                seen.append(shown(page))
                if place == 0:
                    assert model.asked_to_write < ITEMS, "the first case is there before the last one is written"
                    model.seen.set()
                if place == EDITED:
                    keys.press("e")
                    page.wait_for_selector("#editing textarea")
                    keys.press("Control+A")
                    keys.type(MINE)
                    keys.press("Tab")
                    keys.type("the verdict changes")
                    keys.press("Control+Enter")
                elif place == REJECTED:
                    keys.press("r")
                    keys.type("says something else")
                    keys.press("Enter")
                else:
                    keys.press("a")
            assert process.stdout is not None
            output = process.stdout.read()
            assert process.wait(60) == 0, output
        asked = [str(body["messages"]) for body in server.requests]
    context.close()
    assert said == []
    judged = query(
        project, "run", "SELECT r.test, r.case_id, r.expectation FROM trials t JOIN records r ON r.trial_id = t.id"
    )
    tests = [test for test, _, _ in judged]
    assert (tests.count("reference"), tests.count("paraphrase")) == (ITEMS, ITEMS - 1)
    assert sum(MINE in text for text in asked) == 1, "the judge is asked the edited text, once"
    assert not {seen[EDITED], seen[REJECTED]} & {case for _, case, _ in judged}
    assert [kind for _, _, kind in judged].count("changes") == 1
    assert server.count == 3 * ITEMS - 1
