"""Run the chat server in a thread of the test process."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from jrh_testing.server.answers import AnswerPolicy
from jrh_testing.server.app import Behaviour, ChatApp, Faults, listen
from jrh_testing.server.faults import Fault

T = TypeVar("T")
_PATIENCE = 30.0
"""Seconds until a server that does not start or stop is an error."""


class ChatServer:
    """A real HTTP server on loopback that speaks chat completions; a context manager.

    It runs in a thread with a loop of its own, so it serves any client, in the test or in another process. What it
    has been asked can be read at any time.
    """

    def __init__(
        self,
        answer: AnswerPolicy = "YES",
        *,
        latency: float = 0.0,
        jitter: float = 0.0,
        faults: Iterable[Fault] = (),
        require_key: str | None = None,
        refuses: Iterable[str] = (),
    ) -> None:
        """Prepare a server.

        Args:
            answer: a text, or a function from the request's body to a text or a whole message.
            latency: seconds before every answer.
            jitter: up to so many seconds more, by a hash of the prompt.
            faults: misbehaviour, the first that meets a request happens.
            require_key: refuse every other key with 401.
            refuses: fields of a request that are refused with 400; see `Behaviour.refuses`.
        """
        behaviour = Behaviour(
            answer=answer, latency=latency, jitter=jitter, require_key=require_key, refuses=tuple(refuses)
        )
        self._app = ChatApp(behaviour, faults)
        self._loop = asyncio.new_event_loop()
        # A daemon: a test that dies must not leave a process waiting for its server.
        self._thread = threading.Thread(target=self._loop.run_forever, name="chat-server", daemon=True)
        self.url = ""
        """The base URL, which ends in `/v1`; clients append `/chat/completions`."""

    def __enter__(self) -> ChatServer:
        """Start serving."""
        self._thread.start()
        self._runner, self.url = self._in_loop(listen(self._app))
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving; requests that still hang are ended."""
        self._in_loop(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        self._loop.close()

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE)

    def misbehave(self, *faults: Fault) -> None:
        """Replace the faults, with fresh counts; without arguments the server behaves again."""
        # Replaced as a whole: the loop of the server may be reading the old ones.
        self._app.faults = Faults(faults)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return the bodies of the last 10,000 requests, in order of arrival."""
        # A copy: the server goes on appending while a test reads.
        return list(self._app.tally.bodies)

    @property
    def count(self) -> int:
        """Return the number of chat requests that arrived, failed ones included."""
        return self._app.tally.count

    @property
    def max_in_flight(self) -> int:
        """Return the largest number of requests handled at once."""
        return self._app.tally.max_in_flight

    @property
    def prompts(self) -> Counter[str]:
        """Return how often each prompt arrived."""
        return Counter(self._app.tally.prompts)

    @property
    def proper_answers(self) -> Counter[str]:
        """Return how often each prompt was answered properly, faults left out: what a provider would bill."""
        return Counter(self._app.tally.proper_answers)

    def stats(self) -> dict[str, int]:
        """Return the counts as `GET /stats` gives them."""
        return self._app.tally.stats()
