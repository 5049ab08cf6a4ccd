"""Show progress below the cell of a notebook: a widget where ipywidgets is installed, else one line that changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, Final

from jrh.running import Counting, Progress

_SECONDS: Final = 0.2
"""Between two drawings."""
_SENTENCES: Final = 5
"""Sentences about the run that are shown; the log has all."""


@contextmanager
def notebook_progress() -> Iterator[Progress]:
    """Show progress while a run goes on, and remove it at its end."""
    # A front end without ipywidgets shows a line of HTML.
    draw, close = _widget() or _line()
    progress = NotebookProgress(draw)
    try:
        yield progress
    finally:
        close()


class NotebookProgress(Counting):
    """Draw the stage, its steps, rate and cost."""

    def __init__(self, draw: Callable[[float | None, str], None]) -> None:
        """Draw by a function of the share that is done, None where unknown, and a text of HTML."""
        super().__init__()
        self._draw_by = draw
        self._drawn = 0.0
        self._said: list[str] = []

    def begin(self, stage: str, total: int | None, *, done: int = 0) -> None:
        """Draw the start of a stage."""
        super().begin(stage, total, done=done)
        self._draw()

    def advance(self, steps: int = 1) -> None:
        """Draw the progress, some times a second."""
        super().advance(steps)
        # Every drawing is a message to the browser; thousands a second would stop the page.
        if time.monotonic() - self._drawn >= _SECONDS:
            self._draw()

    def end(self) -> None:
        """Draw the end of the stage."""
        super().end()
        self._draw()

    def say(self, text: str) -> None:
        """Show a sentence."""
        self._said.append(text)
        self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        steps = f" {self.done:,} of {self.total:,} ({self.facts()})" if self.total is not None else ""
        lines = [f"{self.stage}:{steps}" if self.stage else "", *self._said[-_SENTENCES:]]
        share = min(1.0, self.done / self.total) if self.total else None
        self._draw_by(share, "<br>".join(escape(line) for line in lines if line))


def _line() -> tuple[Callable[[float | None, str], None], Callable[[], None]]:
    # By name: jrh does not depend on IPython, which a notebook has anyway.
    display = import_module("IPython.display")
    handle = display.display(display.HTML(""), display_id=True)

    def draw(share: float | None, text: str) -> None:
        bar = "" if share is None else f'<progress max="1" value="{share:.3f}" aria-label="progress"></progress> '
        handle.update(display.HTML(f"<div>{bar}{text}</div>"))

    return draw, lambda: handle.update(display.HTML(""))


def _widget() -> tuple[Callable[[float | None, str], None], Callable[[], None]] | None:
    try:
        widgets: Any = import_module("ipywidgets")
    except ImportError:
        return None
    bar = widgets.FloatProgress(min=0.0, max=1.0)
    label = widgets.HTML()
    box = widgets.HBox([bar, label])
    import_module("IPython.display").display(box)

    def draw(share: float | None, text: str) -> None:
        bar.layout.visibility = "hidden" if share is None else "visible"
        bar.value = share or 0.0
        label.value = text

    return draw, box.close
