"""A workbench that serves a folder of runs on loopback, and a window that looks at it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from attrs import frozen
from jrh_review.app import make_app
from jrh_review.runs import Runs
from jrh_review.security import Names
from jrh_review.serving import Place
from jrh_review.sessions import Sessions

from support.browsing import _VIOLATIONS, DESKTOP, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@frozen(kw_only=True)
class Bench:
    """A running workbench."""

    base: str
    sessions: Sessions

    @property
    def entrance(self) -> str:
        """Return the address with the one-time token."""
        return f"{self.base}/enter?token={self.sessions.token}"


@contextmanager
def workbench(*places: Path) -> Iterator[Bench]:
    """Serve run directories until the context ends."""
    with Place.checked("127.0.0.1", 0, allow_remote=False).listen() as listening:
        port = listening.getsockname()[1]
        sessions = Sessions(lambda _: None)
        app = make_app(Runs(places), sessions, Names.at("127.0.0.1", port))
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
        visit.page.wait_for_url(f"{bench.base}/")
        yield visit
    finally:
        context.close()
