"""Count what the chat server receives, and decide which request meets which fault."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

from jrh_testing.server.faults import Fault

FAULT_HEADER: Final = "X-Fault"
"""The request header that asks for a fault, such as `X-Fault: reset`."""

_MARKER: Final = re.compile(r"\[\[fault:([a-z0-9-]+(?::\d+)?)\]\]")
_KEPT = 10_000


class Tally:
    """Counts of one server. Written by the server's loop alone; reading from another thread is safe."""

    def __init__(self, *, keep_texts: bool) -> None:
        """Start at zero; without texts, prompts are counted by a digest and bodies are not kept."""
        self.keep_texts = keep_texts
        self.count = 0
        self.in_flight = 0
        self.max_in_flight = 0
        self.prompts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: deque[dict[str, Any]] = deque(maxlen=_KEPT)

    def begin(self, body: dict[str, Any], prompt: str) -> None:
        """Count a request that has arrived."""
        self.count += 1
        self.prompts[self._key(prompt)] += 1
        if self.keep_texts:
            self.bodies.append(body)

    def finish(self, prompt: str) -> None:
        """Count a proper answer that was given."""
        self.answered[self._key(prompt)] += 1

    def _key(self, prompt: str) -> str:
        if self.keep_texts:
            return prompt
        return hashlib.blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def stats(self) -> dict[str, int]:
        """Return the counts as `GET /stats` gives them."""
        answers = sum(self.answered.values())
        return {
            "count": self.count,
            "distinct": len(self.prompts),
            "repeated": self.count - len(self.prompts),
            "answered": answers,
            "answered_repeated": answers - len(self.answered),
            "max_in_flight": self.max_in_flight,
        }


class Faults:
    """The faults of one server, with how often each has been met."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        """Keep the faults; the first that meets a request is the one that happens."""
        self._faults = tuple(faults)
        self._matched: Counter[int] = Counter()
        self._met: Counter[tuple[int, str]] = Counter()
        self._marked: Counter[tuple[str, str]] = Counter()

    def choose(self, headers: Mapping[str, str], prompt: str) -> Fault | None:
        """Return the fault a request meets, or None.

        The header asks first, then a marker in the prompt such as `[[fault:reset]]`, or `[[fault:500:2]]` for the
        first two requests of that prompt, then the server's own faults in order.
        """
        asked = headers.get(FAULT_HEADER)
        if asked:
            return Fault.read(asked)
        if "[[fault:" in prompt:
            return self._from_marker(prompt)
        return next((fault for place, fault in enumerate(self._faults) if self._meets(place, fault, prompt)), None)

    def _from_marker(self, prompt: str) -> Fault | None:
        for marker in _MARKER.findall(prompt):
            fault = Fault.read(marker)
            key = (marker, prompt)
            if fault.times is None or self._marked[key] < fault.times:
                self._marked[key] += 1
                return fault
        return None

    def _meets(self, place: int, fault: Fault, prompt: str) -> bool:
        if fault.match is not None and fault.match not in prompt:
            return False
        self._matched[place] += 1
        if self._matched[place] % fault.every:
            return False
        if fault.times is None:
            return True
        key = (place, prompt if fault.per_prompt else "")
        self._met[key] += 1
        return self._met[key] <= fault.times
