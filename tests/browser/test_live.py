"""The workbench beside a running `jrh run`: start page and run page follow it without a reload."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jrh_testing import ChatServer, Fault, Project
from support.browsing import wait_until
from support.keys import KEY, KEY_VARIABLE
from support.suites import llm_suite, openai_http, write_items, write_suite
from support.workbench import look, workbench

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ITEMS = 24
_NUMBERS = """() => Object.fromEntries([...document.querySelectorAll("[data-show]")].map(
  (node) => [node.dataset.show, Number(node.textContent.replaceAll(",", ""))]))"""
_FURTHER = f"""(before) => {{
  const now = ({_NUMBERS})();
  return now.done > before.done && now.calls > before.calls && now.paid > before.paid && now.failures > before.failures
    && document.querySelector("progress").value === now.done && now.done < now.planned;
}}"""


class Paced:
    """A model that waits at two answers until it is told to go on: no page has to be quick."""

    def __init__(self) -> None:
        self.asked = itertools.count(1)
        self.gates = {5: threading.Event(), 16: threading.Event()}

    def __call__(self, _: dict[str, Any]) -> str:
        if gate := self.gates.get(next(self.asked)):
            gate.wait(60)
        return "YES"


@contextmanager
def running(project: Project, model: Paced) -> Iterator[None]:
    """Start `jrh run` as a user does, and wait for its first request."""
    with ChatServer(model, faults=[Fault("500", every=4)]) as server:
        asked = openai_http(server.url, concurrency=1, max_tokens=10, price={"input": 1000, "output": 1000})
        write_items(project, ITEMS)
        write_suite(project, llm_suite(asked, metrics=["gold-accuracy"], reports=["json"]))
        command = [
            sys.executable,
            "-m",
            "jrh",
            "run",
            "suite.yaml",
            "--run-dir",
            "runs/live",
            "--yes",
            "--no-preflight",
        ]
        environment = {**os.environ, **project.env, KEY_VARIABLE: KEY}
        with subprocess.Popen(command, cwd=project.path, env=environment, stdout=subprocess.DEVNULL) as process:
            try:
                while not server.count:
                    assert process.poll() is None
                    time.sleep(0.05)
                yield
            finally:
                for gate in model.gates.values():
                    gate.set()
                process.kill()


def test_progress_failures_and_spending_of_a_run_under_way_change_without_a_reload(
    browser: Browser, tmp_path: Path
) -> None:
    runs, model = tmp_path / "runs", Paced()
    with (
        running(Project(tmp_path), model),
        workbench(runs) as bench,
        look(browser, bench) as start,
        look(browser, bench) as own,
    ):
        own.page.goto(f"{bench.base}/run/live")
        before = []
        for seen in (start, own):
            seen.page.set_default_timeout(30_000)
            seen.evaluate("() => { window.kept = true; }")
            assert seen.page.locator(".state").inner_text() == "under way"
            before.append(seen.evaluate(_NUMBERS))
        model.gates[5].set()
        for seen, then in zip((start, own), before, strict=True):
            wait_until(seen.page, _FURTHER, arg=then)
            assert seen.evaluate("window.kept"), "without a reload"
        model.gates[16].set()
        for seen in (start, own):  # the end brings the page anew, with what was found
            seen.page.wait_for_selector(".state:text-is('done'), .state:text-is('incomplete')")
            assert seen.page.locator("progress").count() == 0
            seen.page.get_by_text("finding").first.wait_for()
            seen.assert_quiet()
