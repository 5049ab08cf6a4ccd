"""A workbench that serves a folder of runs on loopback, and a window that looks at it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from attrs import frozen
from jrh_review.desk import review_desk
from jrh_review.pages.review import open_reviewing
from jrh_review.pages.work import Work
from jrh_review.runs import Runs
from jrh_review.security import Names, Sessions
from jrh_review.serving import listen, make_app
from jrh_testing import PAYLOADS

from support.browsing import _VIOLATIONS, DESKTOP, PHONE, Visit, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser


PROVOKE = """async () => {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  for (const node of document.querySelectorAll("*")) {
    for (const name of ["mouseover", "focus", "error", "load", "toggle", "pointerenter", "animationstart"]) {
      node.dispatchEvent(new Event(name));
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
}"""
_AXE = "async () => (await axe.run()).violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html)}`)"
_CONTROLS = """[...document.querySelectorAll('a[href], button, select, textarea, input:not([type=hidden]), summary')]
  .filter((each) => each.checkVisibility()).length"""
_FOCUS = """() => {
  const here = document.activeElement;
  const outlined = getComputedStyle(here).outlineStyle !== "none" || here.matches("h1, main");
  return [here === document.body ? -1 : [...document.querySelectorAll("*")].indexOf(here), outlined];
}"""
TEXTS = tuple(text.encode("utf-8", "replace").decode("utf-8") for text in PAYLOADS)
"""As a store can hold them: a run replaces lone surrogates before it writes."""
TOGETHER = 16
"""Payloads in one text, so that few pages hold all."""


def hostile(kind: str, number: int) -> str:
    """Return payloads as every name and text; names stay distinct, and no text is cut."""
    if kind in ("request", "response", "rationale", "reply", "change"):
        return "\n".join(TEXTS[(number * TOGETHER + n) % len(TEXTS)] for n in range(TOGETHER))
    return f"{number}{TEXTS[(7 * number + len(kind)) % len(TEXTS)]}"


@frozen(kw_only=True)
class Bench:
    """A running workbench."""

    base: str
    sessions: Sessions

    @property
    def entrance(self) -> str:
        """Return the address with the one-time token."""
        return f"{self.base}/enter?once={self.sessions.token}"


@contextmanager
def workbench(*places: Path, reviewers: Sequence[str] = ()) -> Iterator[Bench]:
    """Serve run directories until the context ends; with reviewers, the first is open for review."""
    if not reviewers:
        with served(*places) as bench:
            yield bench
        return
    with review_desk(places[0]) as desk:
        desk.make_queue(None)
        runs = Runs(places)
        with served(*places, work=open_reviewing(runs, places[0], desk, reviewers)) as bench:
            yield bench


@contextmanager
def served(*places: Path, work: Work | None = None) -> Iterator[Bench]:
    """Serve run directories, or items that people label, until the context ends."""
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        sessions = Sessions(lambda _: None)
        app = make_app(Runs(places), sessions, Names.at("127.0.0.1", port), work=work)
        config = uvicorn.Config(app, http="h11", ws="none", lifespan="off", access_log=False, log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        try:
            deadline = time.monotonic() + 20
            while not server.started and time.monotonic() < deadline:
                time.sleep(0.01)
            yield Bench(base=f"http://127.0.0.1:{port}", sessions=sessions)
        finally:
            server.should_exit = True
            thread.join(20)


@contextmanager
def look(browser: Browser, bench: Bench, size: tuple[int, int] = DESKTOP, **settings: Any) -> Iterator[Visit]:
    """Open the workbench in a window of its own and note what its pages say, ask and try."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **settings)
    context.add_init_script(_VIOLATIONS)
    visit = Visit(context.new_page())
    visit.page.on("console", lambda message: visit.said.append(f"{message.type}: {message.text}"))
    visit.page.on("pageerror", lambda error: visit.said.append(str(error)))
    visit.page.on("dialog", lambda dialog: (visit.dialogs.append(dialog.message), dialog.dismiss()))
    visit.page.on(
        "request",
        lambda request: None if request.url.startswith(f"{bench.base}/") else visit.asked.append(request.url),
    )
    try:
        visit.page.goto(bench.entrance)
        visit.page.wait_for_url(lambda url: url in [f"{bench.base}/{home}" for home in ("", "review", "label")])
        yield visit
    finally:
        context.close()


def blemishes(seen: Visit) -> list[str]:
    """Return what axe finds on the open page, and where the page is too wide: at both sizes, light and dark."""
    size = seen.page.viewport_size
    seen.evaluate(f"() => {{ {files('axe_playwright_python').joinpath('axe.min.js').read_text(encoding='utf-8')} }}")
    found = []
    for width, height in (DESKTOP, PHONE):
        seen.page.set_viewport_size({"width": width, "height": height})
        wait_until(seen.page, "(width) => innerWidth === width", width)
        if seen.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{width}: too wide")
        for scheme in ("light", "dark"):
            seen.page.emulate_media(color_scheme=scheme)
            found += [f"{width} {scheme}: {each}" for each in seen.evaluate(_AXE)]
    seen.page.emulate_media(color_scheme="null")
    if size is not None:
        seen.page.set_viewport_size(size)
    return found


def tabbed(seen: Visit) -> list[str]:
    """Press Tab through the open page; return what keeps people from getting to every control and out again."""
    controls = seen.evaluate(_CONTROLS)
    reached: set[int] = set()
    problems = []
    seen.evaluate("document.querySelector('.skip').focus()")
    for step in range(controls + 30):
        place, outlined = seen.evaluate(_FOCUS)
        if place < 0:
            break
        reached.add(place)
        if step and not outlined:
            problems.append(f"no outline on element {place}")
        seen.page.keyboard.press("Tab")
    else:
        problems.append("Tab never leaves the page")
    if len(reached) < controls:
        problems.append(f"{len(reached)} places reached of {controls} controls")
    return problems
