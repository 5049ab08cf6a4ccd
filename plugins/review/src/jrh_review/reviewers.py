"""Who reviews in which browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import define, field
from jrh.running import ReviewDesk
from starlette.requests import Request

from jrh_review.runs import Runs


@define
class Reviewing:
    """A run under review."""

    run: str
    """Its name on this server."""
    desk: ReviewDesk
    names: tuple[str, ...]
    """The reviewers, as given at start."""
    _chosen: dict[str, str] = field(factory=dict, init=False, repr=False)
    """Session -> reviewer."""

    def name(self, request: Request) -> str:
        """Return who reviews in this browser; empty where that is not chosen yet."""
        if len(self.names) == 1:
            return self.names[0]
        return self._chosen.get(request.scope["session"].key, "")

    def choose(self, request: Request, name: str) -> bool:
        """Note who reviews in this browser, once: who could change it would see the other's decisions."""
        key = request.scope["session"].key
        if name not in self.names or self._chosen.get(key, name) != name:
            return False
        self._chosen[key] = name
        return True


def reviewing_of(runs: Runs, run_dir: Path, desk: ReviewDesk, names: Sequence[str]) -> Reviewing:
    """Return the review of a run that the server shows."""
    run = next((name for name, path in runs.scan().items() if path == run_dir.resolve()), "")
    return Reviewing(run=run, desk=desk, names=tuple(names))


def reviewing(request: Request) -> Reviewing:
    """Return the run under review."""
    found: Reviewing = request.app.state.reviewing
    return found
