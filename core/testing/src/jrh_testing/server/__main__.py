"""Run the chat server as a process: `python -m jrh_testing.server`, for benchmarks and for tests that kill things."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Sequence

from jrh_testing.server.answers import AnswerPolicy, LabelAnswers, SimulatedAnswers
from jrh_testing.server.app import Behaviour, ChatApp, listen
from jrh_testing.server.faults import FAULTS, Fault

_LOOK = 0.5
"""Seconds between two looks at whether the parent is still there."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jrh_testing.server",
        description="Serve chat completions on loopback. The first line printed is the base URL.",
    )
    add = parser.add_argument
    add("--port", type=int, default=0, help="0 takes a free one")
    add("--lifetime", type=float, default=600.0, help="seconds after which the server ends itself")
    add("--answer", choices=("label", "simulated", "text"), default="label", help="how answers are made")
    add("--labels", default="YES,NO", help="comma-separated, for label and simulated")
    add("--accuracy", type=float, default=1.0, help="for simulated: share of prompts without a slip")
    add("--seed", type=int, default=0, help="for label and simulated")
    add("--form", default="{label}", help="what is written, {label} standing for the label")
    add("--text", default="YES", help="for text")
    add("--latency", type=float, default=0.0, help="seconds before every answer")
    add(
        "--fault",
        type=Fault.read,
        action="append",
        default=[],
        metavar="KIND[:TIMES]",
        help=f"may be given several times; kinds: {', '.join(FAULTS)}",
    )
    return parser


def _policy(arguments: argparse.Namespace) -> AnswerPolicy:
    labels = tuple(arguments.labels.split(","))
    if arguments.answer == "label":
        return LabelAnswers(labels=labels, form=arguments.form, seed=arguments.seed)
    if arguments.answer == "simulated":
        return SimulatedAnswers(labels=labels, accuracy=arguments.accuracy, form=arguments.form, seed=arguments.seed)
    return str(arguments.text)


async def _serve(arguments: argparse.Namespace) -> None:
    parent = os.getppid()  # before the URL is out: whoever reads it may be gone at once
    behaviour = Behaviour(answer=_policy(arguments), latency=arguments.latency)
    # Benchmarks send a hundred thousand prompts: texts are not kept, only digests are.
    runner, url = await listen(ChatApp(behaviour, arguments.fault, keep_texts=False), arguments.port)
    # Flushed, because whoever started the server waits for this line.
    print(url, flush=True)  # noqa: T201 - the URL is the program's output
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    # Three ends besides a signal: a server must not outlive the test that started it, however that test ends.
    _watch_stdin(lambda: loop.call_soon_threadsafe(over.set))
    watching = asyncio.create_task(_watch_parent(parent, over))
    try:
        async with asyncio.timeout(arguments.lifetime):
            await over.wait()
    except TimeoutError:
        pass  # the lifetime is over, which is an ordinary end
    finally:
        watching.cancel()
        await runner.cleanup()


async def _watch_parent(parent: int, over: asyncio.Event) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110 - nothing tells a process that its parent has gone
        await asyncio.sleep(_LOOK)
    over.set()


def _watch_stdin(ended: Callable[[], object]) -> None:
    """Call `ended` when standard input closes, if it is a pipe: a background job's may be closed from the start."""
    if not stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode):
        return

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        ended()

    # A daemon: nothing can interrupt its reading, and it must not keep the process from ending.
    threading.Thread(target=wait, name="stdin", daemon=True).start()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the lifetime ends, the parent exits, standard input closes, or a signal arrives."""
    asyncio.run(_serve(_parser().parse_args(arguments)))


if __name__ == "__main__":
    main()
