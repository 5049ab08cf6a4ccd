"""Handle requests: one function from request to response, without routes, logs or middleware."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from aiohttp import web
from attrs import field, frozen
from attrs.validators import ge

from jrh_testing.server import bodies
from jrh_testing.server.answers import AnswerPolicy, share
from jrh_testing.server.faults import FAULTS, Fault, json_response

# Bodies that are kept; a long run must not fill the memory of the test process.
_KEPT = 10_000


class Tally:
    """Counts of one server. Written by the server's loop alone; reading from another thread is safe."""

    def __init__(self, *, keep_texts: bool) -> None:
        """Start at zero; without texts, prompts are counted by a digest and bodies are not kept."""
        self.keep_texts = keep_texts
        self.count = 0
        self.in_flight = 0
        self.max_in_flight = 0
        # Arrivals and proper answers are counted apart: only the latter cost money.
        self.prompts: Counter[str] = Counter()
        self.proper_answers: Counter[str] = Counter()
        self.bodies: deque[dict[str, Any]] = deque(maxlen=_KEPT)

    def begin(self, body: dict[str, Any], prompt: str) -> None:
        """Count a request that has arrived."""
        self.count += 1
        self.prompts[self._key(prompt)] += 1
        if self.keep_texts:
            self.bodies.append(body)

    def finish(self, prompt: str) -> None:
        """Count a proper answer that was given."""
        self.proper_answers[self._key(prompt)] += 1

    def _key(self, prompt: str) -> str:
        if self.keep_texts:
            return prompt
        return hashlib.blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def stats(self) -> dict[str, int]:
        """Return the counts as `GET /stats` gives them."""
        answers = sum(self.proper_answers.values())
        return {
            "count": self.count,
            "distinct": len(self.prompts),
            "repeated": self.count - len(self.prompts),
            "answered": answers,
            "answered_repeated": answers - len(self.proper_answers),
            "max_in_flight": self.max_in_flight,
        }


class Faults:
    """The faults of one server, with how often each has been met."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        """Keep the faults; the first that meets a request is the one that happens."""
        self._faults = tuple(faults)
        self._matched: Counter[int] = Counter()
        self._met: Counter[tuple[int, str]] = Counter()

    def choose(self, prompt: str) -> Fault | None:
        """Return the first fault that meets a request, or None."""
        return next((fault for place, fault in enumerate(self._faults) if self._meets(place, fault, prompt)), None)

    def _meets(self, place: int, fault: Fault, prompt: str) -> bool:
        if fault.match is not None and fault.match not in prompt:
            return False
        # Before `times`: `every` counts all requests that match, also those after the last fault.
        self._matched[place] += 1
        if self._matched[place] % fault.every:
            return False
        if fault.times is None:
            return True
        key = (place, prompt if fault.per_prompt else "")
        self._met[key] += 1
        return self._met[key] <= fault.times


# Hundreds of clients connect at once in benchmarks; the default of 128 would refuse some.
_BACKLOG = 2048


@frozen(kw_only=True)
class Behaviour:
    """How a chat server behaves."""

    answer: AnswerPolicy = "YES"
    latency: float = field(default=0.0, validator=ge(0.0))
    """Seconds before an answer."""
    jitter: float = field(default=0.0, validator=ge(0.0))
    """Up to so many seconds more, by a hash of the prompt."""
    require_key: str | None = None
    """Refuse every other key with 401."""
    refuses: tuple[str, ...] = ()
    """Fields of a request that are refused with 400, as models do that do not have the setting; `temperature=0` is
    refused with that value only, and `temperature=0: too low` with these words."""


def _holds(body: Mapping[str, Any], refused: str) -> bool:
    name, _, value = refused.partition(":")[0].partition("=")
    return name in body and (not value or float(body[name]) == float(value))


class ChatApp:
    """Answers requests and counts them."""

    def __init__(self, behaviour: Behaviour, faults: Iterable[Fault] = (), *, keep_texts: bool = True) -> None:
        """Start with nothing counted."""
        self.behaviour = behaviour
        self.tally = Tally(keep_texts=keep_texts)
        self.faults = Faults(faults)
        self._authorization = f"Bearer {behaviour.require_key}"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        if request.method == "GET" and request.path.endswith("/stats"):
            return json_response(json.dumps(self.tally.stats()).encode(), 200)
        if request.method != "POST" or not request.path.endswith("/chat/completions"):
            return json_response(bodies.error(404, f"no route {request.method} {request.path}"), 404)
        # Read from the stream: the request's own limit would refuse a judge's longest prompts.
        raw = await request.content.read()
        tally = self.tally
        tally.in_flight += 1
        tally.max_in_flight = max(tally.max_in_flight, tally.in_flight)
        try:
            return await self._complete(request, raw)
        finally:
            tally.in_flight -= 1

    async def _complete(self, request: web.BaseRequest, raw: bytes) -> web.StreamResponse:
        try:
            body = json.loads(raw)
            prompt = bodies.prompt_of(body)
        except (ValueError, AttributeError, TypeError) as error:
            return json_response(bodies.error(400, f"the request is no chat completion: {error}"), 400)
        # Counted before the key is checked: a refused request has arrived as well.
        self.tally.begin(body, prompt)
        if self.behaviour.require_key is not None and request.headers.get("Authorization") != self._authorization:
            return json_response(bodies.error(401, "incorrect API key"), 401)
        refused = next((entry for entry in self.behaviour.refuses if _holds(body, entry)), None)
        if refused is not None or body.get("stream"):
            return json_response(bodies.unsupported_setting(refused or "stream"), 400)
        await self._wait(prompt)
        fault = self.faults.choose(prompt)
        if fault is not None:
            return await FAULTS[fault.kind](request, prompt, fault)
        return self._answer(body, prompt)

    async def _wait(self, prompt: str) -> None:
        seconds = self.behaviour.latency
        if self.behaviour.jitter:
            seconds += self.behaviour.jitter * share("jitter", prompt)
        if seconds:
            await asyncio.sleep(seconds)

    def _answer(self, body: dict[str, Any], prompt: str) -> web.Response:
        policy = self.behaviour.answer
        try:
            answer = policy if isinstance(policy, str) else policy(body)
        except Exception as error:
            # A test's own function failed: say so on the wire, where the test can see it.
            return json_response(bodies.error(500, f"the answer function raised {error!r}"), 500)
        self.tally.finish(prompt)
        if isinstance(answer, Mapping):
            return json_response(bodies.message_completion(answer, prompt), 200)
        return json_response(bodies.completion(answer, prompt), 200)


async def listen(app: ChatApp, port: int = 0) -> tuple[web.ServerRunner, str]:
    """Start listening on loopback; port 0 takes a free one.

    Returns:
        The runner, to be cleaned up, and the base URL, which ends in `/v1`.
    """
    # A client that goes away ends its handler, so that a hanging request does not outlive it.
    server = web.Server(app.handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=_BACKLOG).start()
    bound = runner.addresses[0][1]
    return runner, f"http://127.0.0.1:{bound}/v1"
