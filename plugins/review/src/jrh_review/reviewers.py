"""The run under review, and who reviews it in which browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import define
from starlette.requests import Request

from jrh_review.desk import ReviewDesk
from jrh_review.people import People
from jrh_review.runs import Runs


@define(kw_only=True)
class Reviewing(People):
    """A run under review."""

    run: str
    """Its name on this server."""
    desk: ReviewDesk


def reviewing_of(runs: Runs, run_dir: Path, desk: ReviewDesk, names: Sequence[str]) -> Reviewing:
    """Return the review of a run that the server shows."""
    run = next((name for name, path in runs.scan().items() if path == run_dir.resolve()), "")
    return Reviewing(run=run, desk=desk, names=tuple(names))


def reviewing(request: Request) -> Reviewing:
    """Return the run under review."""
    found: Reviewing = request.app.state.reviewing
    return found
