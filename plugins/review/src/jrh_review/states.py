"""Say in a word or two how a run stands."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh.running import StoredRun

from jrh_review.runs import written

QUIET: Final = 120.0
"""Seconds without a write after which a run without an end is more likely to have been killed than to be waiting."""
_BUDGET, _INTERRUPTED = 4, 130


@frozen(kw_only=True)
class State:
    """How a run stands."""

    word: str
    kind: str
    """`good`, `bad`, `open`: the colour."""
    why: str = ""
    under_way: bool = False


def state_of(run: StoredRun, path: Path) -> State:
    """Return how a run stands."""
    known = run.state()
    if known.imported:
        return State(word="imported", kind="good")
    if known.ended is None:
        quiet = time.time() - written(path)
        if quiet > QUIET:
            return State(
                word=f"under way, or killed: no write for {round(quiet / 60):,} min", kind="open", under_way=True
            )
        return State(word="under way", kind="open", under_way=True)
    if known.ended.exit_code == 0:
        return State(word="done", kind="good")
    words = {_BUDGET: "budget reached", _INTERRUPTED: "interrupted"}
    return State(word=words.get(known.ended.exit_code, "incomplete"), kind="bad", why=known.ended.message)
