"""A model as components see it: a provider with the suite's settings, called through the gateway.

A client owns the state of one model: limits, calls in flight, failures. The gateway decides what follows from it:
budget, retries, ending the run. Whatever makes an endpoint choose another model is part of a model's identity.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from aiolimiter import AsyncLimiter
from attrs import evolve, frozen

from jrh.errors import FaultKind, JrhError, ModelFault, PluginError
from jrh.hashing import canonical_json, content_id, texts_id
from jrh.models.concurrency import Place
from jrh.models.ledger import JUDGE, SeenUsage, current_payer, estimate_prompt_tokens
from jrh.models.replies import refused_in, sampling_values, set_in, without
from jrh.plugins.protocols import ChatModel, ChatRequest, Completion, DeferredModel, ModelClient, ModelNotes, Rates
from jrh.suite.definition import Budget, Limits, ModelUse, Price, Turns
from jrh.values.cases import Message, Sampling
from jrh.values.verdicts import Reply

CREDENTIALS: Final = frozenset(
    {"authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key", "x-auth-token", "cookie"}
)
"""Headers that say who asks and not who answers: a run goes on with a new key and repeats no call."""
_DIGITS: Final = 12


def routing_digest(parts: Mapping[str, Any]) -> str:
    """Return `#` and the digest of everything that routes a request; empty if no part is set.

    Args:
        parts: such as the query of the address, `header_digests`, and extra fields of the body.
    """
    routes = {name: value for name, value in parts.items() if value}
    return f"#{content_id(routes)[:_DIGITS]}" if routes else ""


def header_digests(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of header values that may route a request; headers with credentials are left out.

    No value can be read from its digest: the digest is salted with the header's name and slow to compute (scrypt), and
    12 digits of it are kept. It has no key of its own, because a lost key would repeat every paid call.
    """
    # Lower case, as the case of a header name means nothing to a server.
    routing = ((name.lower(), value) for name, value in headers.items())
    return {name: _slow_digest(name, value) for name, value in sorted(routing) if name not in CREDENTIALS}


@lru_cache(maxsize=256)
def _slow_digest(name: str, value: str) -> str:
    salt = f"jrh routing header {name}".encode()
    return hashlib.scrypt(value.encode(), salt=salt, n=2**14, r=8, p=1, dklen=16).hex()[:_DIGITS]


REQUEST_WINDOW: Final = 1.0
TOKEN_WINDOW: Final = 10.0
"""Window of the rate limit in seconds: a burst may exceed the even rate by one window's worth."""


class RateLimits:
    """Limit requests and tokens per minute, with leaky buckets."""

    def __init__(self, limits: Limits) -> None:
        """Create a leaky bucket for each limit that is set."""
        self._requests = _bucket(limits.requests_per_minute, REQUEST_WINDOW)
        self._tokens = _bucket(limits.tokens_per_minute, TOKEN_WINDOW)
        self.any = self._requests is not None or self._tokens is not None
        """Whether any limit is set."""

    async def acquire(self, tokens: int) -> None:
        """Wait until one more request with this estimated number of tokens fits."""
        if self._requests:
            await self._requests.acquire(1)
        if self._tokens:
            # A prompt larger than the whole bucket waits until the bucket is empty, not for ever.
            await self._tokens.acquire(min(float(tokens), self._tokens.max_rate))


def _bucket(per_minute: float | None, window: float) -> AsyncLimiter | None:
    if per_minute is None:
        return None
    # A bucket that holds less than one request would never let one through.
    window = max(window, 60.0 / per_minute)
    return AsyncLimiter(per_minute * window / 60.0, window)


if TYPE_CHECKING:
    from jrh.models.gateway import Gateway

BREAKER: Final = 20
"""Questions that a model failed (each after all its retries) since it last answered one, at which the run stops."""

_UNSET: Final = Sampling()


class NamedModel:
    """The name and the identity of a model of the suite."""

    use: ModelUse
    model: ChatModel

    @property
    def name(self) -> str:
        """Return the suite's name of the model."""
        return self.use.name

    @property
    def fingerprint(self) -> str:
        """Return the identity of the model, including the sampling set in the suite."""
        return fingerprint_of(self.use, self.model)


class Client(NamedModel):
    """A model as components see it (`jrh.ModelClient`)."""

    def __init__(self, use: ModelUse, model: ChatModel, gate: Gateway) -> None:
        """Combine the suite's entry, the provider's model and the gateway."""
        self.use = use
        self.model = model
        self.draft_failures = 0
        """Calls without an answer after all retries; a later run repeats them."""
        self.deferred = model if isinstance(model, DeferredModel) else None
        """The model, if it answers hours later."""
        self.concurrency = gate.concurrency.of(use, model, self.at_once)
        """Shared by the models of the suite that ask the same model at the same endpoint with the same key."""
        self._places = asyncio.Semaphore(self.at_once)
        self.seen = SeenUsage()
        self.stated_limits: Mapping[str, str] = {}
        """Rate limits that the headers of the last answer stated, without secrets."""
        self._refused: frozenset[str] = frozenset()
        """Settings, some with one value or a least one; see `refused_in`."""
        self._kept: ModelNotes | None = None
        self._rate_limits = RateLimits(use.limits)
        self.answered = 0
        """Number of answered calls."""
        self._failed: set[str] = set()
        """Questions that failed since the last answer; repeats of one are the same question."""
        self._gate = gate

    @property
    def at_once(self) -> int:
        """Return the largest number of calls in flight."""
        return self.use.limits.concurrency if self.deferred is None else self.deferred.at_once

    @property
    def rates(self) -> Rates | None:
        """Return the suite's prices, or the provider's if the suite sets none."""
        return rates_of(self.use, self.model)

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:
        """Answer from stored replies or ask the provider."""
        return await self._gate.answer(self, as_sent(request, self.use), repeat, purpose)

    # -- for the gateway ---------------------------------------------------------------------------------------------

    async def take_place(self, request: ChatRequest) -> Place:
        """Wait until the request may be sent: rate limits, a free place, the pace.

        Returns:
            The place; pass it to `leave_place`.
        """
        if self._rate_limits.any:
            await self._gate.unless_stopped(self._rate_limits.acquire(estimate_prompt_tokens(request)))
        # After the rate limits: a call that waits for its turn holds no place that another could use.
        await self._places.acquire()
        try:
            return await self.concurrency.acquire()
        # Cancelled while it waited: without this the place would be lost until the end of the run.
        except BaseException:
            self._places.release()
            raise

    def leave_place(self, place: Place, fault: ModelFault | None, latency: float | None) -> None:
        """Free the place; 429s beyond chance lower the concurrency."""
        limited = fault is not None and fault.kind is FaultKind.RATE_LIMIT
        retry_after = fault.retry_after if fault is not None else None
        self.concurrency.release(place, limited=limited, retry_after=retry_after, latency=latency)
        self._places.release()

    async def complete(self, request: ChatRequest, call: str) -> Completion:
        """Send one attempt under the total timeout; raise the provider's error or `TimeoutError`.

        A deferred model has no time limit; it knows the call by its id.
        """
        if self.deferred is not None:
            return await self.deferred.complete_call(call, request)
        # The time of the whole answer: one that trickles in would never exceed a limit between two bytes.
        async with asyncio.timeout(self.use.limits.timeout):
            return await self.model.complete(request)

    def note_stated(self, completion: Completion, redact: Callable[[str], str]) -> None:
        """Remember the rate limits that an answer's headers state."""
        if isinstance(completion, Completion) and completion.stated_limits:
            self.stated_limits = {name: redact(value) for name, value in completion.stated_limits.items()}

    def drop_refused(self, request: ChatRequest) -> ChatRequest:
        """Return the request without the settings that the model has refused."""
        refused = self.refusals(request)
        return without(request, refused) if refused else request

    def refusals(self, request: ChatRequest) -> tuple[str, ...]:
        """Return the settings of the request that the model has refused."""
        return tuple(sorted(refused_in(request, self._refused))) if self._refused else ()

    def check_needed(self, request: ChatRequest) -> None:
        """Check that the model has refused nothing that the question needs.

        Raises:
            ModelFault: of the kind `not_available`.
        """
        lacking = [name for name in self.refusals(request) if name in request.needed]
        if lacking:
            held = set_in(request)
            wanted = ", ".join(f"{name}={held[name]}" for name in lacking)
            raise ModelFault(FaultKind.NOT_AVAILABLE, f"{wanted}: not available for model '{self.name}'")

    def note_refused(self, settings: Collection[str], sent: ChatRequest) -> bool:
        """Remember which of the settings a request held, so that the model has refused them; tell whether any."""
        held, values = refused_in(sent, settings), set_in(sent)
        # What a question needs is refused with its value only: the next question may ask for another one. So is a
        # temperature of 0, which some models refuse alone.
        zero = {"temperature"} if values.get("temperature") == 0 else set()
        self._refused |= {f"{name}={values[name]}" if name in zero | {*sent.needed} else name for name in held}
        return bool(held)

    def recall_refused(self, kept: ModelNotes) -> None:
        """Take up what an earlier process learned: the calls that it handed over were made without these settings."""
        self._kept = kept
        for text in kept.read().values():
            self._refused = frozenset(json.loads(text))

    async def keep_refused(self) -> None:
        """Write down what the model has refused, where later processes take up its calls."""
        if self._kept is not None:
            await self._kept.write("settings", json.dumps(sorted(self._refused)))

    def note_answer(self) -> None:
        """Note an answered call; this closes the circuit."""
        self.answered += 1
        self._failed.clear()

    def note_failure(self, request: ChatRequest, *, counts: bool) -> None:
        """Count a call that failed after all retries; where it counts, the circuit may open."""
        payer = current_payer()
        # Judges may be at work while cases are drafted.
        self.draft_failures += payer is None or payer.role != JUDGE
        if counts:
            self._failed.add(request_key(self.use, self.model, request, 0))

    @property
    def circuit_open(self) -> bool:
        """Tell whether `BREAKER` questions failed and none was answered."""
        return len(self._failed) >= BREAKER

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self.model.aclose()


def rates_of(use: ModelUse, model: ChatModel) -> Rates | None:
    """Return US dollars per token, the suite's before the provider's; None if unknown."""
    if use.price is None:
        return model.rates
    # A price in the suite replaces what a call costs, not how long a reply may be.
    longest = model.rates.max_output_tokens if model.rates else None
    return _rates_of_price(use.price, getattr(model, "price_factor", 1.0), longest)  # the factor of a `DeferredModel`


@lru_cache(maxsize=64)
def _rates_of_price(price: Price, factor: float, longest: int | None) -> Rates:
    return Rates(
        input=price.input / 1e6 * factor,
        output=price.output / 1e6 * factor,
        call=price.call * factor,
        cached_input=None if price.cached_input is None else price.cached_input / 1e6 * factor,
        max_output_tokens=longest,
    )


def fingerprint_of(use: ModelUse, model: ChatModel) -> str:
    """Return the provider's fingerprint followed by the sampling and the turns that the suite sets."""
    # The default adds nothing: a suite that writes it out asks the same questions, and their replies are stored.
    turns = [("system", use.turns.system)] if use.turns != Turns() else []
    settings = ",".join(f"{name}={value}" for name, value in (*sampling_values(use.sampling).items(), *turns))
    return f"{model.fingerprint}[{settings}]" if settings else model.fingerprint


def as_sent(request: ChatRequest, use: ModelUse) -> ChatRequest:
    """Return a request with the suite's settings of the model: sampling, and where a system message goes."""
    filled = with_defaults(request, use.sampling)
    if use.turns.system == "system" or all(message.role != "system" for message in filled.messages):
        return filled
    system = [message.content for message in filled.messages if message.role == "system"]
    messages = [message for message in filled.messages if message.role != "system"]
    # Some models know no system role: its text goes before the first message of the user.
    if not messages or messages[0].role != "user":
        messages.insert(0, Message(role="user", content=""))
    content = "\n\n".join(part for part in (*system, messages[0].content) if part)
    return evolve(filled, messages=(Message(role="user", content=content), *messages[1:]))


def with_defaults(request: ChatRequest, defaults: Sampling) -> ChatRequest:
    """Fill the sampling's None values from the model's own settings."""
    wanted = request.sampling
    if wanted == defaults:
        return request
    return evolve(request, sampling=defaults if wanted == _UNSET else evolve(defaults, **sampling_values(wanted)))


def _alike(sampling: Sampling) -> list[object]:
    """Return settings so that equal ones, such as 1 and 1.0, have the same text: the cache takes one for the other."""
    numbers = (sampling.temperature, float), (sampling.top_p, float), (sampling.max_tokens, int), (sampling.seed, int)
    return [*(None if value is None else kind(value) for value, kind in numbers), sampling.reasoning_effort]


def request_key(use: ModelUse, model: ChatModel, request: ChatRequest, repeat: int) -> str:
    """Return the id of a question: model, request and repeat, and the provider's code if it is no installed release."""
    schema = None if request.json_schema is None else canonical_json(request.json_schema)
    roles = tuple([message.role for message in request.messages])
    head = _key_head(model.fingerprint, use.code, roles, request.sampling, schema, request.top_logprobs, request.output)
    return texts_id([message.content for message in request.messages], head, str(repeat))


@lru_cache(maxsize=1024)
def _key_head(
    fingerprint: str,
    code: str,
    roles: tuple[str, ...],
    sampling: Sampling,
    schema: str | None,
    top_logprobs: int,
    output: str,
) -> str:
    """Return all of a request but its texts, which many requests share."""
    return canonical_json([fingerprint, code, roles, _alike(sampling), schema, top_logprobs, output])


Answer: TypeAlias = Callable[[ModelUse, ChatModel, ChatRequest, int], Reply]
"""Answers a request, with the suite's sampling filled in, and its repeat, without sending it."""


@frozen
class StandIn(NamedModel):
    """A model (`jrh.ModelClient`) with the name and fingerprint of the real one that sends nothing."""

    use: ModelUse
    model: ChatModel
    answer: Answer | None = None
    """None: asking raises an error."""

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:  # noqa: ARG002
        """Answer with the function; without one raise, because factories must not ask models."""
        if self.answer is None:
            raise PluginError(f"model '{self.name}' was asked before the run began")
        return self.answer(self.use, self.model, as_sent(request, self.use), repeat)


OpenModel: TypeAlias = Callable[[ModelUse, ChatModel], ModelClient]
"""How a model of the suite gets what sends its requests."""


def refuse_unknown_prices(budget: Budget, open_model: OpenModel) -> OpenModel:
    """Wrap a function that opens models: with a budget in dollars, refuse models of unknown price."""

    def open_priced(use: ModelUse, model: ChatModel) -> ModelClient:
        # Refused before the first call, since a budget in dollars can hold nothing whose price is unknown.
        if budget.usd is not None and rates_of(use, model) is None:
            raise JrhError(
                f"model '{use.name}' has no known price, and the suite has a budget in dollars; give the model "
                "`price: {input: ..., output: ...}` (dollars per million tokens), or remove the budget"
            )
        return open_model(use, model)

    return open_priced
