"""The review page of a run that waits: the server lives in a thread of the run's process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from jrh.running import ReviewDesk

from jrh_review.reviewers import reviewing_of
from jrh_review.runs import Runs
from jrh_review.serving import Place, make_server

LOOPBACK: Final = Place(address="127.0.0.1", port=0)


class Page:
    """Serves the review until the run goes on."""

    async def decide(self, desk: ReviewDesk, run_dir: Path, review: Any, say: Callable[[str], None]) -> None:
        """Serve the page; its address goes to the terminal."""
        runs = Runs((run_dir,))
        with make_server(runs, LOOPBACK, say, reviewing_of(runs, run_dir, desk, review.people)) as served:
            say(f"Review: {served.address}")
            say("The address works once. The run goes on when every case is decided. Ctrl-C ends it; nothing is lost.")
            serving = asyncio.ensure_future(asyncio.to_thread(served.run))
            try:
                await asyncio.shield(serving)
            finally:
                served.stop()
                await serving
