"""How a run tells what it is doing, and how that is shown.

Bars on a terminal, plain lines in logs, and in notebooks what a plugin shows.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from jrh.plugins.entry_points import DISPLAYS
from jrh.running.run_log import FailingStream
from jrh.store.calls_table import Spent
from jrh.text import count_noun, format_dollars, terminal
from jrh.text.display import clean_lines

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class Progress:
    """What a front end extends to show a run's progress; this one shows nothing, and notes how long stages take."""

    def __init__(self) -> None:
        """Start without a stage."""
        self.seconds: dict[str, float] = {}
        """Stage -> how long it was shown, by the clock."""
        self.print_answer: Callable[[str], object] = str
        """Called with the report for the terminal before other reports are made; does nothing where none is set."""
        self._began: dict[str, float] = {}

    def begin(self, stage: str, total: int | None, *, done: int = 0) -> None:  # noqa: ARG002 - for those that show it
        """Start a stage of so many steps, of which some were done by an earlier process."""
        self._began[stage] = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        """Tell that steps of the current stage are done."""

    def note_spent(self, spent: Spent) -> None:
        """Tell what has been paid so far, for all calls of the run directory."""

    def watch(self, load: Callable[[], str]) -> None:
        """Tell where to look how many calls are in flight and what limits were found; empty: nothing to show."""

    def end(self) -> None:
        """Tell that the current stage is over."""
        for stage, began in self._began.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.monotonic() - began
        self._began = {}

    def say(self, text: str) -> None:
        """Tell the user a sentence."""

    def stop(self) -> None:
        """Draw nothing more, as the answer is printed."""


class Noting(Progress):
    """Keep the sentences and show nothing."""

    def __init__(self) -> None:
        """Start without any."""
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Keep a sentence."""
        self.said.append(text)


class Counting(Progress):
    """Count steps and cost."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = ""
        self.total: int | None = None
        self.done = 0
        self.earlier = 0
        self._spent = 0.0, 0
        self.started = 0.0
        self.load: Callable[[], str] = str

    def begin(self, stage: str, total: int | None, *, done: int = 0) -> None:
        """Start counting a stage."""
        super().begin(stage, total, done=done)
        self.stage, self.total, self.done, self.earlier = stage, total, done, done
        self.started = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        """Count steps."""
        self.done += steps

    def note_spent(self, spent: Spent) -> None:
        """Update the amount spent."""
        self._spent = spent.paid, spent.unpriced

    @property
    def dollars(self) -> str:
        """Return the amount spent as it is shown."""
        return format_dollars(*self._spent)

    def watch(self, load: Callable[[], str]) -> None:
        """Look here for the calls in flight."""
        self.load = load

    def facts(self) -> str:
        """Format what the whole run has cost, and the time left."""
        # Stages work at the same time: a cost is that of all of them.
        parts = [f"run total {self.dollars}", *filter(None, [self.load()])]
        # What an earlier process did says nothing of how fast this one is.
        steps = self.done - self.earlier
        if steps and self.total is not None and self.total > self.done:
            parts.append(f"{(self.total - self.done) * (time.monotonic() - self.started) / steps:.0f} s left")
        return ", ".join(parts)


EVERY_SECONDS: Final = 10.0
"""Seconds between lines of plain progress."""


@contextmanager
def show_progress(*, quiet: bool = False, plain: bool = False) -> Iterator[Progress]:
    """Show progress: in a notebook below the cell, on a terminal as bars on the standard error stream.

    Args:
        quiet: show nothing.
        plain: print lines where there is neither, as `jrh run` does for logs.
    """
    display = None if quiet else _notebook_display()
    # A dumb terminal cannot move its cursor back: each drawing of a bar would be a line of its own.
    on_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if display is not None:
        with display() as progress:
            yield progress
    elif quiet or not (on_terminal or plain):
        yield Progress()
    elif on_terminal:
        with _bars() as bars:
            yield RichProgress(bars)
    else:
        with closing(PlainProgress()) as lines:
            yield lines


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[cost]}"),
        TextColumn("{task.fields[load]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # A terminal that is closed must not end the run.
    console = Console(file=FailingStream(sys.stderr))  # type: ignore[arg-type]
    return Bars(*columns, console=console, transient=True)


def _notebook_display() -> Callable[[], AbstractContextManager[Progress]] | None:
    """Return a plugin's display if this process is the kernel of a notebook; IPython is not imported for that."""
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None
    from importlib.metadata import entry_points

    for point in entry_points(group=DISPLAYS, name="notebook"):
        with suppress(Exception):  # a broken plugin must not stop a run
            display: Callable[[], AbstractContextManager[Progress]] = point.load()
            return display
    return None


_PERTURB: Final = "perturb"
_COUNTED: Final = {"judge": "trial"}
"""What the steps of a stage are."""


def _to_do(stage: str, total: int, done: int) -> str:
    if not done:
        return f"{count_noun(total, 'item')} to do, all tests together" if stage == _PERTURB else f"{total} to do"
    noun = _COUNTED.get(stage, "step")
    return f"{count_noun(total, noun)}, {'all' if done >= total else done} done before"


class PlainProgress(Counting):
    """Print a line when a stage begins and ends, and every ten seconds in between, also where no step is done.

    Stages without a number of steps usually take a moment: they have lines only once they take ten seconds.
    """

    def __init__(self) -> None:
        """Start silent."""
        super().__init__()
        self._said = 0.0
        self._open = False
        self._closed = Event()
        self._clock: Thread | None = None

    def begin(self, stage: str, total: int | None, *, done: int = 0) -> None:
        """Print the start of the stage."""
        self.end()
        super().begin(stage, total, done=done)
        self._open, self._said = True, time.monotonic()
        if total is not None:
            terminal.tell(f"{stage}: {_to_do(stage, total, done)}")
        if self._clock is None:
            # A daemon: it must not keep the process from ending.
            self._clock = Thread(target=self._watch_clock, name="jrh-progress", daemon=True)
            self._clock.start()

    def advance(self, steps: int = 1) -> None:
        """Print the progress, every ten seconds."""
        super().advance(steps)
        self._tick()

    def _tick(self) -> None:
        moment = time.monotonic()
        if not self._open or moment - self._said < EVERY_SECONDS:
            return
        # Before the line is written: the clock's thread and a step may find it due at the same moment.
        self._said = moment
        if self.total is None:
            terminal.tell(f"{self.stage}: {moment - self.started:.0f} s so far")
        else:
            terminal.tell(f"{self.stage}: {self.done}/{self.total} ({self.facts()})")

    def _watch_clock(self) -> None:
        # Often enough for a line to come at most a second or so late.
        while not self._closed.wait(EVERY_SECONDS / 8):
            self._tick()

    def end(self) -> None:
        """Print the result of the stage."""
        if self._open and self.total is not None:
            terminal.tell(f"{self.stage}: {self.done}/{self.total} done ({self.facts()})")
        self._open = False
        super().end()

    def say(self, text: str) -> None:
        """Print the sentence."""
        terminal.tell(text)

    def close(self) -> None:
        """Print nothing more."""
        self.end()
        self._closed.set()


class RichProgress(Counting):
    """Show one bar per stage."""

    def __init__(self, bars: Bars) -> None:
        """Draw into these bars."""
        super().__init__()
        self._bars = bars
        self._task: TaskID | None = None
        self._drawn = 0.0

    def begin(self, stage: str, total: int | None, *, done: int = 0) -> None:
        """Add a bar."""
        self.end()
        super().begin(stage, total, done=done)
        self._task = self._bars.add_task(stage, total=total, completed=done, cost="", load="")

    def advance(self, steps: int = 1) -> None:
        """Move the bar, at most ten times a second."""
        super().advance(steps)
        moment = time.monotonic()
        if moment - self._drawn >= 0.1:  # noqa: PLR2004
            # A fast judge takes a thousand steps a second, and drawing all of them would slow it down.
            self._drawn = moment
            self._draw()

    def _draw(self) -> None:
        if self._task is not None:
            fields: dict[str, Any] = {"cost": self.dollars, "load": self.load()}
            self._bars.update(self._task, completed=self.done, **fields)

    def end(self) -> None:
        """Draw the bar a last time."""
        self._draw()
        self._task = None
        super().end()

    def say(self, text: str) -> None:
        """Print above the bars."""
        # Brackets in a message are text, no markup of rich.
        self._bars.console.print(clean_lines(text), markup=False)

    def stop(self) -> None:
        """Take the bars away, which would be drawn into the answer."""
        self._bars.stop()
