"""End a run in good order: the first signal, or the stopper, finishes the calls in flight."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from jrh.errors import StopReason, StoreError
from jrh.running.outcome import INTERRUPTED, Ended
from jrh.running.prepare import Prepared
from jrh.running.stages.summary import note_end


@contextmanager
def interruptible(ready: Prepared) -> Iterator[None]:
    """Let the first signal, or the stopper, finish the calls in flight; a second signal ends the process."""
    loop = asyncio.get_running_loop()
    signals = _heeded(ready.settings.signals)

    def interrupted() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
        with suppress(StoreError):  # `conclude` writes it again if the run gets there
            note_end(ready.store, Ended(exit_code=INTERRUPTED, message="interrupted", complete=False))
        ready.gateway.stop(StopReason.INTERRUPTED, "interrupted")
        ready.progress.say("Interrupted: finishing the calls in flight. Press Ctrl-C again to leave at once.")

    if ready.settings.stopper is not None:
        ready.settings.stopper.attach(lambda: loop.call_soon_threadsafe(interrupted))
    for number in signals:
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _heeded(signals: Iterable[signal.Signals]) -> tuple[signal.Signals, ...]:
    """Return the signals that this thread may handle and that are not ignored."""
    if threading.current_thread() is not threading.main_thread():
        return ()
    # What was ignored when the process started stays ignored, as POSIX shells expect: `nohup jrh run` survives a closed
    # terminal, and a job that a script starts with `&` survives the Ctrl-C that ends the script.
    return tuple(number for number in signals if signal.getsignal(number) is not signal.SIG_IGN)
