"""The one gate: cache, budget, limits, intent, send, outcome, retries."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import evolve
from jrh.errors import FaultKind, ModelFault, StopReason, StopRun
from jrh.models.client import BREAKER, Client, fingerprint_of, rates_of, request_key, with_defaults
from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger, worst_case
from jrh.places import RUN_FILE as FILENAME
from jrh.plugins.protocols import LONGEST_ANSWER, TOO_LONG, ChatRequest, Completion, Rates
from jrh.store.cache import Cache
from jrh.store.run_store import Store
from jrh.suite.definition import Budget, Limits, ModelUse, Price
from jrh.text.redact import Redactor
from jrh.values.cases import Message, Sampling
from jrh.values.verdicts import Reply, Status, Usage
from jrh_testing import RecordingLog, ScriptedModel

USAGE = Usage(prompt_tokens=10, completion_tokens=2)
RATES = Rates(input=0.001, output=0.01, max_output_tokens=20)
KEY = "sk-canary-0123456789"


def request(text: str = "Is it true?", **sampling: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), sampling=Sampling(**sampling))


def answer(text: str | None = "YES", finish_reason: str = "stop", **changes: Any) -> Completion:
    return Completion(text=text, finish_reason=finish_reason, **{"usage": USAGE, **changes})


def fault(
    kind: FaultKind = FaultKind.SERVER_ERROR, detail: str = "busy", retry_after: float | None = 0.0
) -> ModelFault:
    return ModelFault(kind, detail, retry_after=retry_after)


class Model:
    """A provider that does what a function says."""

    def __init__(self, act: Callable[[ChatRequest], Awaitable[Any]], rates: Rates | None = None) -> None:
        self.act = act
        self.rates = rates
        self.fingerprint = "fake-1"
        self.sent: list[ChatRequest] = []
        self.in_flight = 0
        self.most = 0

    async def complete(self, asked: ChatRequest) -> Any:
        self.sent.append(asked)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            return await self.act(asked)
        finally:
            self.in_flight -= 1

    async def aclose(self) -> None:
        pass


class Slept(Gateway):
    """A gateway whose waits take no time and are remembered."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Desk:
    """A gateway over a store in a directory, and what can be seen of it from outside."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = RecordingLog()
        self.opened: list[Any] = []
        self.store = self.open_store()

    def open_store(self) -> Store:
        store = Store.open(self.path / "run", "suite")
        self.opened.append(store)
        return store

    def restart(self) -> None:
        """Close the store and open it again, as the next process would."""
        self.store.close()
        self.opened.remove(self.store)
        self.store = self.open_store()

    def cache(self) -> Cache:
        cache = Cache.open(self.path / "cache")
        self.opened.append(cache)
        return cache

    def gateway(self, kind: type[Gateway] = Gateway, cache: Cache | None = None, budget: Budget | None = None) -> Any:
        ledger = Ledger(budget=budget or Budget())
        return kind(self.store, cache, ledger, Redactor(frozenset({KEY})), self.log)

    def calls(self) -> list[dict[str, Any]]:
        """Read the committed calls through a connection of its own."""
        connection = sqlite3.connect(self.path / "run" / FILENAME)
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute("SELECT * FROM calls ORDER BY id")]
        finally:
            connection.close()

    def cached(self) -> list[str]:
        self.opened[-1].close()
        connection = sqlite3.connect(self.path / "cache" / "replies.sqlite")
        self.opened.pop()
        try:
            return [row[0] for row in connection.execute("SELECT payload FROM replies")]
        finally:
            connection.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    for each in made.opened:
        each.close()


def use(name: str = "mini", price: Price | None = None, sampling: Sampling | None = None, **limits: Any) -> ModelUse:
    return ModelUse(name=name, component="fake", price=price, sampling=sampling or Sampling(), limits=Limits(**limits))


def scripted(*script: Any, rates: Rates | None = None) -> ScriptedModel:
    return ScriptedModel(list(script), rates=rates)


def client(gateway: Gateway, model: Any, **settings: Any) -> Client:
    return gateway.client(use(**settings), model)


async def test_the_intent_is_durable_before_anything_is_sent(desk: Desk) -> None:
    seen = []

    async def look(_: ChatRequest) -> Completion:
        seen.extend(desk.calls())
        return answer()

    await client(desk.gateway(), Model(look, RATES), name="mini").ask(request(), purpose="judge")
    (row,) = seen
    assert (row["model"], row["purpose"], row["outcome"], row["payload"]) == ("mini", "judge", None, None)
    assert row["worst"] == pytest.approx(worst_case(request(), RATES))
    assert time.time() - row["started"] < 60


async def test_the_outcome_is_durable_before_the_answer_is_handed_out(desk: Desk) -> None:
    reply = await client(desk.gateway(), scripted(answer(), rates=RATES)).ask(request())
    (row,) = desk.calls()
    assert (row["outcome"], row["final"], row["cost"]) == ("ok", 1, pytest.approx(0.03))
    assert '"text":"YES"' in row["payload"]
    assert (reply.status, reply.text, reply.cost, reply.attempts) == (Status.OK, "YES", pytest.approx(0.03), 1)


async def test_the_next_call_has_the_place_while_the_outcome_before_it_is_written(desk: Desk) -> None:
    blocker = sqlite3.connect(desk.path / "run" / FILENAME, isolation_level=None)
    answered = asyncio.Event()

    async def block(_: ChatRequest) -> Completion:
        blocker.execute("BEGIN IMMEDIATE")  # from here on the store waits
        answered.set()
        return answer()

    judge = client(desk.gateway(), Model(block), concurrency=1)
    asked = asyncio.ensure_future(judge.ask(request()))
    await answered.wait()
    async with asyncio.timeout(20):
        while judge.concurrency.in_flight:  # noqa: ASYNC110 - nothing tells that a place is free
            await asyncio.sleep(0.001)
    assert not asked.done()
    blocker.close()
    assert (await asked).ok
    assert [row["outcome"] for row in desk.calls()] == ["ok"]


async def test_whenever_the_process_is_killed_no_more_outcomes_are_unknown_than_there_are_places(desk: Desk) -> None:
    async def think(_: ChatRequest) -> Completion:
        await asyncio.sleep(0.001)
        return answer()

    judge = client(desk.gateway(), Model(think), concurrency=3)
    asked = asyncio.gather(*(judge.ask(request(str(number))) for number in range(120)))
    unknown = [0]
    while not asked.done():
        unknown.append(sum(row["outcome"] is None for row in desk.calls()))
        await asyncio.sleep(0)
    assert max(unknown) == 3
    assert all(reply.ok for reply in await asked)


async def test_every_attempt_has_a_row_and_only_the_last_is_final(desk: Desk) -> None:
    model = scripted(fault(), fault(FaultKind.RATE_LIMIT, "slow down"), answer())
    reply = await client(desk.gateway(), model).ask(request())
    assert reply.attempts == 3
    assert [(row["outcome"], row["final"], row["detail"]) for row in desk.calls()] == [
        ("server_error", 0, "busy"),
        ("rate_limit", 0, "slow down"),
        ("ok", 1, ""),
    ]
    assert len({row["key"] for row in desk.calls()}) == 1


async def test_a_call_that_fails_for_good_is_marked_final_and_has_no_payload(desk: Desk) -> None:
    reply = await client(desk.gateway(), scripted(fault(), fault()), max_attempts=2).ask(request())
    assert reply.status is Status.PROVIDER_ERROR
    assert [(row["outcome"], row["final"], row["payload"]) for row in desk.calls()] == [
        ("server_error", 0, None),
        ("server_error", 1, None),
    ]


async def test_what_this_run_directory_has_paid_for_is_never_asked_again(desk: Desk) -> None:
    refused = answer(text=None, refusal="I would rather not")
    first = await client(desk.gateway(), scripted(refused)).ask(request())
    desk.restart()
    again = await client(desk.gateway(), scripted()).ask(request())
    assert again == first
    assert again.status is Status.REFUSED


async def test_a_failed_call_is_asked_again_after_a_restart(desk: Desk) -> None:
    await client(desk.gateway(), scripted(fault()), max_attempts=1).ask(request())
    desk.restart()
    assert (await client(desk.gateway(), scripted(answer())).ask(request())).ok


async def test_what_is_asked_twice_in_one_run_is_asked_once_also_without_a_cache(desk: Desk) -> None:
    judge = client(desk.gateway(), scripted(answer()))
    assert await judge.ask(request()) == await judge.ask(request())
    assert len(desk.calls()) == 1


@pytest.mark.parametrize("attempts", [1, 2, 5])
async def test_attempts_are_bounded(desk: Desk, attempts: int) -> None:
    model = scripted(*[fault()] * 10)
    reply = await client(desk.gateway(Slept), model, max_attempts=attempts).ask(request())
    assert len(model.asked) == reply.attempts == attempts
    assert (reply.status, reply.detail) == (Status.PROVIDER_ERROR, "server_error: busy")


async def test_the_servers_retry_after_is_waited_for_exactly(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    model = scripted(fault(retry_after=3.5), fault(retry_after=2.25), answer())
    assert (await client(gateway, model).ask(request())).ok
    assert gateway.seconds == [3.5, 2.25]


async def test_a_retry_after_of_milliseconds_does_not_use_up_the_attempts_in_no_time(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    model = scripted(*[fault(retry_after=0.004)] * 4, answer())
    assert (await client(gateway, model).ask(request())).ok
    assert gateway.seconds[0] == 0.004
    assert [least <= waited for least, waited in zip((0.5, 1.0, 2.0), gateway.seconds[1:], strict=True)] == [True] * 3


async def test_two_entries_of_one_model_endpoint_and_key_share_the_limit_and_keep_their_own_places(desk: Desk) -> None:
    gateway = desk.gateway()
    one = gateway.client(use("one", concurrency=6), scripted())
    two = gateway.client(use("two", concurrency=10), scripted())
    other = gateway.client(evolve(use("other"), options={"api_key_env": "OTHER_KEY"}), scripted())
    assert one.concurrency is two.concurrency is not other.concurrency
    assert one.concurrency.maximum == 16
    taken = [await one.take_place(request()) for _ in range(6)]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(one.take_place(request()), 0.01)
    taken += [await asyncio.wait_for(two.take_place(request()), 20.0) for _ in range(10)]
    assert gateway.concurrency.describe() == "16 at once"
    for place in taken[6:]:
        two.leave_place(place, ModelFault(FaultKind.RATE_LIMIT, "slow down"), None)
    assert gateway.concurrency.describe() == "6 at once, limit found 8"  # never below half at once


async def test_without_retry_after_the_waits_double_and_are_spread(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    await client(gateway, scripted(*[fault(retry_after=None)] * 6), max_attempts=6).ask(request())
    assert len(gateway.seconds) == 5
    for number, seconds in enumerate(gateway.seconds):
        assert 0.25 * 2**number <= seconds <= 0.5 * 2**number


async def test_a_single_wait_without_retry_after_is_at_most_a_minute(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    await client(gateway, scripted(*[fault(retry_after=None)] * 20), max_attempts=20, max_wait=10**6).ask(request())
    assert 30.0 <= max(gateway.seconds) <= 60.0


async def test_a_retry_after_longer_than_a_call_may_wait_ends_the_call(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    model = scripted(fault(FaultKind.SERVER_ERROR, retry_after=61.0), answer())
    reply = await client(gateway, model, max_wait=60.0).ask(request())
    assert (reply.status, len(model.asked), gateway.seconds) == (Status.PROVIDER_ERROR, 1, [])


@pytest.mark.parametrize("most", [0.0, 1.0, 10.0, 100.0])
async def test_all_waits_of_a_call_together_are_bounded(desk: Desk, most: float) -> None:
    for trial in range(5):
        gateway = desk.gateway(Slept)
        model = scripted(*[fault(retry_after=None)] * 50)
        await client(gateway, model, max_attempts=50, max_wait=most).ask(request(f"number {trial}"))
        assert sum(gateway.seconds) <= most


@pytest.mark.parametrize("status", [400, 404, 413, 422])
async def test_a_request_the_provider_rejects_is_not_retried(desk: Desk, status: int) -> None:
    model = scripted(ModelFault.from_http_status(status, "no"), answer())
    reply = await client(desk.gateway(), model).ask(request())
    assert (reply.status, reply.detail, len(model.asked)) == (Status.PROVIDER_ERROR, "rejected: no", 1)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_what_may_pass_is_retried(desk: Desk, status: int) -> None:
    model = scripted(ModelFault.from_http_status(status, "later", retry_after=0.0), answer())
    assert (await client(desk.gateway(), model).ask(request())).ok


@pytest.mark.parametrize("kind", [FaultKind.CONNECTION, FaultKind.MALFORMED, FaultKind.TIMEOUT])
async def test_lost_and_garbled_answers_are_retried(desk: Desk, kind: FaultKind) -> None:
    assert (await client(desk.gateway(), scripted(fault(kind), answer())).ask(request())).ok


async def test_an_attempt_has_one_total_timeout(desk: Desk) -> None:
    async def drip(_: ChatRequest) -> Completion:
        for _byte in range(1000):
            await asyncio.sleep(0.01)
        return answer()

    start = time.perf_counter()
    reply = await client(desk.gateway(), Model(drip), timeout=0.05, max_attempts=1).ask(request())
    assert time.perf_counter() - start < 5.0  # the whole drip takes ten seconds
    assert (reply.status, reply.detail) == (Status.TIMEOUT, "timeout: no complete answer within 0.05 s")
    assert [row["outcome"] for row in desk.calls()] == ["timeout"]


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        (answer("YES"), Status.OK),
        (answer("YES", "length"), Status.TRUNCATED),
        (answer("YES", "max_tokens"), Status.TRUNCATED),
        (answer("YES", "content_filter"), Status.REFUSED),
        (answer("YES", refusal="no"), Status.REFUSED),
        (answer(None, refusal=""), Status.REFUSED),
        (answer(None, TOO_LONG), Status.TRUNCATED),
        (answer(None), Status.OK),
        (answer(""), Status.OK),
    ],
)
async def test_only_a_complete_answer_may_be_parsed(desk: Desk, completion: Completion, status: Status) -> None:
    reply = await client(desk.gateway(), scripted(completion)).ask(request())
    assert reply.status is status
    assert len(desk.calls()) == 1


@pytest.mark.parametrize(
    "given", [answer("A" * (LONGEST_ANSWER + 1)), answer(None, TOO_LONG)], ids=["whole", "left-out"]
)
async def test_an_answer_that_is_too_long_is_final_says_so_and_is_not_kept(desk: Desk, given: Completion) -> None:
    gateway = desk.gateway()
    model = client(gateway, scripted(given))
    reply, again = await model.ask(request()), await model.ask(request())
    assert again == reply
    assert (reply.status, reply.text, reply.finish_reason) == (Status.TRUNCATED, "", TOO_LONG)
    assert reply.detail == "the reply is longer than 8,388,608 bytes and was not read"
    assert (gateway.draft_failures, [row["outcome"] for row in desk.calls()]) == (0, ["truncated"])
    assert len(desk.calls()[0]["payload"]) < 1000


async def test_a_reply_says_which_model_was_asked_and_which_the_provider_served(desk: Desk) -> None:
    judge = client(desk.gateway(), scripted(answer(model_version="2026-01-01")))
    reply = await judge.ask(request())
    assert (reply.fingerprint, reply.model_version) == ("scripted/scripted", "2026-01-01")
    assert abs(date.fromisoformat(reply.answered) - datetime.now(UTC).date()) <= timedelta(days=1)


async def test_a_key_is_masked_in_the_version_a_provider_reports_too(desk: Desk) -> None:
    judge = client(desk.gateway(), scripted(answer(model_version=f"m-1 {KEY}")))
    assert (await judge.ask(request())).model_version == "m-1 [redacted]"
    assert KEY not in str(desk.calls())


@pytest.mark.parametrize(
    ("rates", "completion", "cost"),
    [
        (RATES, answer(), 0.03),
        (RATES, answer(usage=Usage()), None),
        (RATES, answer(usage=Usage(prompt_tokens=10)), None),
        (RATES, answer(cost=0.5), 0.5),
        (RATES, answer(cost=0.0), 0.03),  # a gateway that does not count; a budget would never stop it
        (None, answer(cost=0.0), 0.0),
        (None, answer(), None),
        (Rates(input=0.0, output=0.0), answer(usage=Usage()), 0.0),
    ],
)
async def test_an_unknown_cost_is_unknown_and_never_nothing(
    desk: Desk, rates: Rates | None, completion: Completion, cost: float | None
) -> None:
    reply = await client(desk.gateway(), scripted(completion, rates=rates)).ask(request())
    assert reply.cost == (None if cost is None else pytest.approx(cost))
    assert desk.calls()[0]["cost"] == reply.cost


async def test_the_suites_price_counts_before_the_providers(desk: Desk) -> None:
    judge = client(desk.gateway(), scripted(answer(), rates=RATES), price=Price(input=100.0, output=1000.0))
    assert (await judge.ask(request())).cost == pytest.approx(10 * 100e-6 + 2 * 1000e-6)
    assert judge.rates == Rates(input=100e-6, output=1000e-6, max_output_tokens=20)
    assert judge.rates is judge.rates  # worked out once, not for every call
    judge.model.rates = Rates(input=0.0, output=0.0, max_output_tokens=5)
    assert judge.rates == Rates(input=100e-6, output=1000e-6, max_output_tokens=5)
    assert rates_of(use(), scripted(rates=None)) is None


async def test_a_key_in_an_answer_or_an_error_never_gets_into_the_store(desk: Desk) -> None:
    gateway = desk.gateway()
    model = scripted(
        fault(detail=f"bad key {KEY}"), answer(f"your key is {KEY}"), answer(None, refusal=f"{KEY}?"), fault(detail=KEY)
    )
    judge = client(gateway, model, max_attempts=2)
    replies = [await judge.ask(request(str(number))) for number in range(2)]
    assert replies[0].text == "your key is [redacted]"
    assert KEY not in str(desk.calls()) + str(replies) + str(desk.log.entries)


async def broken(_: ChatRequest) -> Completion:
    raise KeyError("choices")


async def nothing(_: ChatRequest) -> Any:
    return None


async def numbers(_: ChatRequest) -> Any:
    return Completion(text=42, finish_reason="stop")  # type: ignore[arg-type]


async def not_a_cost(_: ChatRequest) -> Any:
    return answer(cost=float("nan"))


@pytest.mark.parametrize("act", [broken, nothing, numbers, not_a_cost])
async def test_a_bug_in_a_provider_ends_this_call_and_no_other(desk: Desk, act: Any) -> None:
    gateway = desk.gateway()
    reply = await client(gateway, Model(act, RATES), name="buggy").ask(request())
    assert reply.status is Status.PROVIDER_ERROR
    assert reply.detail.startswith("rejected: the model plugin raised ")
    assert reply.attempts == 1
    (row,) = desk.calls()
    assert (row["outcome"], row["final"]) == ("rejected", 1)
    assert gateway.ledger.reserved == 0.0
    assert gateway.ledger.uncertain == pytest.approx(worst_case(request(), RATES))  # it may have been billed
    assert (await client(gateway, scripted(answer()), name="sound").ask(request("other"))).ok


async def test_identical_requests_at_the_same_time_are_sent_once(desk: Desk) -> None:
    async def slow(_: ChatRequest) -> Completion:
        await asyncio.sleep(0.02)
        return answer()

    model = Model(slow)
    judge = client(desk.gateway(), model)
    replies = await asyncio.gather(*(judge.ask(request()) for _ in range(10)))
    assert len(model.sent) == 1
    assert set(map(id, replies)) == {id(replies[0])}


async def test_two_names_of_one_model_are_one_model(desk: Desk) -> None:
    gateway, model = desk.gateway(), scripted(answer())
    one, two = client(gateway, model, name="one"), client(gateway, model, name="two")
    assert await one.ask(request()) == await two.ask(request())


@pytest.mark.parametrize(
    "other",
    [
        request("Is it false?"),
        request(temperature=0.5),
        request(max_tokens=5),
        request(seed=1),
        request(top_p=0.5),
        request(reasoning_effort="low"),
        evolve(request(), json_schema={"type": "object"}),
        evolve(request(), top_logprobs=5),
        evolve(request(), messages=(Message(role="system", content="Is it true?"),)),
        evolve(request(), messages=(*request().messages, Message(role="assistant", content=""))),
    ],
)
async def test_whatever_differs_in_a_request_makes_it_another(desk: Desk, other: ChatRequest) -> None:
    judge = client(desk.gateway(cache=desk.cache()), scripted("first", "second"))
    assert [(await judge.ask(each)).text for each in (request(), other)] == ["first", "second"]


async def test_a_setting_of_the_model_and_of_the_request_are_the_same_request(desk: Desk) -> None:
    gateway, model = desk.gateway(), scripted("once")
    warm = gateway.client(use(sampling=Sampling(temperature=0.7)), model)
    assert await warm.ask(request()) == await warm.ask(request(temperature=0.7))
    assert model.requests[0].sampling == Sampling(temperature=0.7)


async def test_a_repeat_is_never_answered_from_another(desk: Desk) -> None:
    cache = desk.cache()
    judge = client(desk.gateway(cache=cache), scripted("one", "two", "three"))
    together = await asyncio.gather(judge.ask(request(), repeat=0), judge.ask(request(), repeat=1))
    later = await judge.ask(request(), repeat=2)
    assert sorted(reply.text for reply in (*together, later)) == ["one", "three", "two"]
    again = [await judge.ask(request(), repeat=repeat) for repeat in range(3)]
    assert [reply.text for reply in again] == [together[0].text, together[1].text, "three"]


async def test_who_waits_for_an_identical_request_that_was_given_up_asks_itself(desk: Desk) -> None:
    entered = asyncio.Event()

    async def first_hangs(_: ChatRequest) -> Completion:
        if not entered.is_set():
            entered.set()
            await asyncio.sleep(30)
        return answer()

    model = Model(first_hangs)
    judge = client(desk.gateway(), model)
    first = asyncio.ensure_future(judge.ask(request()))
    await entered.wait()
    second = asyncio.ensure_future(judge.ask(request()))
    await asyncio.sleep(0)
    first.cancel()
    assert (await asyncio.wait_for(second, 10)).ok
    assert len(model.sent) == 2


async def test_who_gives_up_waiting_does_not_stop_the_one_who_asked(desk: Desk) -> None:
    async def slow(_: ChatRequest) -> Completion:
        await asyncio.sleep(0.05)
        return answer()

    judge = client(desk.gateway(), Model(slow))
    first = asyncio.ensure_future(judge.ask(request()))
    await asyncio.sleep(0.01)
    second = asyncio.ensure_future(judge.ask(request()))
    await asyncio.sleep(0.01)
    second.cancel()
    assert (await first).ok


async def test_another_run_is_answered_from_the_cache_and_nothing_is_sent(desk: Desk, tmp_path: Path) -> None:
    first = await client(desk.gateway(cache=desk.cache()), scripted(answer(), rates=RATES)).ask(request())
    desk.opened.pop().close()
    other = Desk(tmp_path / "other")
    gateway = other.gateway(cache=desk.cache())
    assert await client(gateway, scripted()).ask(request()) == first
    assert other.calls() == []
    assert gateway.ledger.totals().paid == 0.0
    other.store.close()


async def test_a_damaged_reply_in_the_cache_is_asked_for_again(desk: Desk) -> None:
    cache = desk.cache()
    model = client(desk.gateway(cache=cache), scripted(answer()))
    key = request_key(model.use, model.model, request(), 0)
    cache.put(key, "{")
    cache.close()
    gateway = desk.gateway(cache=desk.cache())
    assert gateway.find_reply(key) is None
    assert (await client(gateway, scripted(answer())).ask(request())).ok


async def test_only_usable_replies_are_shared(desk: Desk) -> None:
    useless = [
        answer(None),
        answer(""),
        answer("YES", "length"),
        answer("YES", "content_filter"),
        answer(refusal="no"),
        fault(FaultKind.REJECTED),
    ]
    judge = client(desk.gateway(cache=desk.cache()), scripted(*useless, answer("the only one")))
    for number in range(len(useless) + 1):
        await judge.ask(request(str(number)))
    (kept,) = desk.cached()
    assert '"text":"the only one"' in kept


async def test_another_model_is_not_answered_from_the_cache(desk: Desk) -> None:
    gateway = desk.gateway(cache=desk.cache())
    one = ScriptedModel(["one"], fingerprint="model-1")
    two = ScriptedModel(["two"], fingerprint="model-2")
    assert (await client(gateway, one).ask(request())).text == "one"
    assert (await client(gateway, two, name="m2").ask(request())).text == "two"


async def test_the_worst_case_of_everything_in_flight_stays_within_the_budget(desk: Desk) -> None:
    one = worst_case(request("number 00"), RATES)
    assert one is not None
    budget = 5.5 * one
    gateway = desk.gateway(budget=Budget(usd=budget))
    spent = []

    async def dear(_: ChatRequest) -> Completion:
        spent.append(gateway.ledger.paid + gateway.ledger.uncertain + gateway.ledger.reserved)
        await asyncio.sleep(0.01)
        return answer(cost=one)  # as bad as it can be

    model = Model(dear, RATES)
    judge = client(gateway, model, concurrency=50)
    asked = (judge.ask(request(f"number {number:02}")) for number in range(50))
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(outcome, Reply) for outcome in outcomes) == 5
    assert sum(isinstance(outcome, StopRun) for outcome in outcomes) == 45
    assert max(spent) <= budget
    assert gateway.ledger.paid == pytest.approx(5 * one)
    assert gateway.stopped is not None
    assert gateway.stopped.reason is StopReason.BUDGET
    assert len(desk.calls()) == 5


async def test_an_unknown_price_fails_closed_before_anything_is_sent(desk: Desk) -> None:
    model = scripted(answer())
    with pytest.raises(StopRun, match="no upper bound") as stopped:
        await client(desk.gateway(budget=Budget(usd=100.0)), model).ask(request())
    assert stopped.value.reason is StopReason.BUDGET
    assert (model.asked, desk.calls()) == ([], [])


async def test_a_retry_is_reserved_like_a_first_attempt(desk: Desk) -> None:
    one = worst_case(request(), RATES)
    assert one is not None
    gateway = desk.gateway(Slept, budget=Budget(usd=1.5 * one))
    model = scripted(fault(FaultKind.TIMEOUT), answer(), rates=RATES)
    with pytest.raises(StopRun, match="could exceed the budget"):
        await client(gateway, model).ask(request())
    assert len(model.asked) == 1
    assert gateway.ledger.uncertain == pytest.approx(one)


async def test_a_failure_that_cost_nothing_leaves_the_budget_alone(desk: Desk) -> None:
    one = worst_case(request(), RATES)
    assert one is not None
    gateway = desk.gateway(Slept, budget=Budget(usd=1.5 * one))
    assert (await client(gateway, scripted(fault(), fault(), answer(), rates=RATES)).ask(request())).ok
    assert [row["cost"] for row in desk.calls()] == [0.0, 0.0, pytest.approx(0.03)]


async def test_what_is_known_costs_no_budget(desk: Desk) -> None:
    one = worst_case(request(), RATES)
    assert one is not None
    cache = desk.cache()
    await client(desk.gateway(cache=cache), scripted(answer(), rates=RATES)).ask(request())
    assert (await client(desk.gateway(cache=cache, budget=Budget(usd=0.0)), scripted(rates=RATES)).ask(request())).ok


async def test_a_refused_key_stops_the_run_at_once_with_a_message_that_helps(desk: Desk) -> None:
    gateway = desk.gateway()
    model = scripted(ModelFault.from_http_status(401, f"invalid key {KEY}"), answer())
    judge = client(gateway, model)
    with pytest.raises(StopRun) as stopped:
        await judge.ask(request())
    assert stopped.value.reason is StopReason.UNAUTHORIZED
    assert stopped.value.message.startswith("model 'mini' rejected the key (invalid key [redacted]). ")
    assert [row["outcome"] for row in desk.calls()] == ["unauthorized"]
    with pytest.raises(StopRun):
        await judge.ask(request("another"))
    assert len(model.asked) == 1


async def test_a_provider_that_fails_every_call_trips_the_breaker(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    model = scripted(*[fault()] * (BREAKER + 5))
    judge = client(gateway, model, max_attempts=1)
    for number in range(BREAKER - 1):
        assert (await judge.ask(request(str(number)))).status is Status.PROVIDER_ERROR
    with pytest.raises(StopRun, match=f"failed {BREAKER} questions in a row.*server_error: busy") as stopped:
        await judge.ask(request("the last straw"))
    assert stopped.value.reason is StopReason.BREAKER
    assert len(model.asked) == BREAKER


async def test_one_success_resets_the_breaker_and_models_do_not_share_it(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    bad = [fault()] * (BREAKER - 1)
    moody = client(gateway, scripted(*bad, answer(), *bad), max_attempts=1)
    other = client(gateway, scripted(*bad), max_attempts=1, name="other")
    for number in range(2 * BREAKER - 1):
        await moody.ask(request(f"a {number}"))
    for number in range(BREAKER - 1):
        await other.ask(request(f"b {number}"))
    assert gateway.stopped is None


async def test_attempts_that_succeed_in_the_end_do_not_trip_the_breaker(desk: Desk) -> None:
    gateway = desk.gateway(Slept)
    judge = client(gateway, scripted(*[fault(), answer()] * BREAKER))
    for number in range(BREAKER):
        assert (await judge.ask(request(str(number)))).ok
    assert gateway.stopped is None


async def test_a_stop_lets_calls_in_flight_finish_and_starts_no_other(desk: Desk) -> None:
    gateway = desk.gateway()
    inside = asyncio.Event()

    async def slow(_: ChatRequest) -> Completion:
        inside.set()
        await asyncio.sleep(0.05)
        return answer()

    model = Model(slow)
    judge = client(gateway, model, concurrency=1)
    first = asyncio.ensure_future(judge.ask(request("in flight")))
    await inside.wait()
    second = asyncio.ensure_future(judge.ask(request("in line")))
    await asyncio.sleep(0)
    gateway.stop(StopReason.INTERRUPTED, "interrupted")
    assert (await first).ok
    with pytest.raises(StopRun):
        await second
    assert [(row["outcome"], row["final"]) for row in desk.calls()] == [("ok", 1)]


class Tells(Gateway):
    """A gateway that tells when somebody begins to wait."""

    asleep: asyncio.Event

    async def sleep(self, seconds: float) -> None:
        self.asleep.set()
        await super().sleep(seconds)


async def test_a_stop_cuts_waits_short(desk: Desk) -> None:
    gateway = desk.gateway(Tells)
    gateway.asleep = asyncio.Event()
    model = scripted(fault(retry_after=30.0), answer())
    waiting = asyncio.ensure_future(client(gateway, model).ask(request()))
    await gateway.asleep.wait()
    limited = client(gateway, scripted(answer()), requests_per_minute=1, name="slow")
    await limited.ask(request("first"))
    queued = asyncio.ensure_future(limited.ask(request("second")))
    await asyncio.sleep(0.01)
    start = time.perf_counter()
    gateway.stop(StopReason.INTERRUPTED, "interrupted")
    outcomes = await asyncio.gather(waiting, queued, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StopRun, StopRun]
    assert time.perf_counter() - start < 10.0


async def test_the_first_reason_to_stop_stays(desk: Desk) -> None:
    gateway = desk.gateway()
    gateway.stop(StopReason.BUDGET, "first")
    assert gateway.stop(StopReason.INTERRUPTED, "second").message == "first"


async def test_what_is_known_is_answered_after_a_stop(desk: Desk) -> None:
    gateway = desk.gateway(cache=desk.cache())
    judge = client(gateway, scripted(answer()))
    await judge.ask(request())
    gateway.stop(StopReason.INTERRUPTED, "interrupted")
    assert (await judge.ask(request())).ok


async def test_concurrency_is_bounded_and_lowered_by_429(desk: Desk) -> None:
    refused: list[str] = []
    full = asyncio.Event()

    async def busy(asked: ChatRequest) -> Completion:
        if model.in_flight == 8:
            full.set()
        await asyncio.wait_for(full.wait(), 20)  # a slow disk lets them in one by one
        await asyncio.sleep(0.005)
        text = asked.messages[0].content
        if len(refused) < 4 and text not in refused:
            refused.append(text)
            raise fault(FaultKind.RATE_LIMIT, "too many")
        return answer()

    model = Model(busy)
    judge = client(desk.gateway(), model, concurrency=8)
    replies = await asyncio.gather(*(judge.ask(request(str(number))) for number in range(40)))
    assert all(reply.ok for reply in replies)
    assert model.most == 8
    assert len(model.sent) == 44
    assert judge.concurrency.in_flight == 0


async def test_every_model_is_closed_also_after_one_did_not(desk: Desk) -> None:
    class Clinging(ScriptedModel):
        async def aclose(self) -> None:
            raise OSError(f"cannot, says {KEY}")

    gateway, good = desk.gateway(), scripted()
    client(gateway, Clinging("YES"))
    client(gateway, good, name="good")
    await gateway.aclose()
    assert good.closed == 1
    assert KEY not in str(desk.log.entries)
    assert [entry.event for entry in desk.log.entries] == ["model did not close"]


def test_a_requests_own_settings_count_before_the_models() -> None:
    model = Sampling(temperature=0.7, max_tokens=100, top_p=0.9)
    merged = with_defaults(request(temperature=0.0, seed=3), model)
    assert merged.sampling == Sampling(temperature=0.0, max_tokens=100, top_p=0.9, seed=3)
    assert with_defaults(request(), model).sampling == model
    schema = evolve(request(), json_schema={"a": 1}, top_logprobs=3)
    assert attrs.evolve(with_defaults(schema, model), sampling=Sampling()) == schema


def test_the_settings_of_the_suite_are_part_of_what_answers() -> None:
    model = scripted()
    assert fingerprint_of(use(), model) == "scripted/scripted"
    assert (
        fingerprint_of(use(sampling=Sampling(temperature=0.0, max_tokens=5)), model)
        == "scripted/scripted[temperature=0.0,max_tokens=5]"
    )


def refusing(*settings: str) -> ModelFault:
    return ModelFault(FaultKind.REJECTED, "not supported", status=400, settings=settings)


async def test_a_needed_setting_that_is_refused_is_not_available_and_no_failure(desk: Desk) -> None:
    async def told(asked: ChatRequest) -> Completion:
        if asked.output == "tool-call":
            raise refusing("output")
        return answer()

    model = Model(told, RATES)
    gateway = desk.gateway(Slept)
    client = gateway.client(use(), model)

    replies = [
        await client.ask(evolve(request(f"{number}"), output=mode, needed=("output",)))
        for number in range(BREAKER + 2)
        for mode in ("tool-call", "json")
    ]
    assert {reply.status for reply in replies[::2]} == {Status.NOT_AVAILABLE}
    assert {reply.status for reply in replies[1::2]} == {Status.OK}
    assert [asked.output for asked in model.sent].count("tool-call") == 1
    assert replies[0].detail == "output=tool-call: not available for model 'mini'"
    assert (replies[0].cost, gateway.draft_failures) == (0.0, 0)


async def test_another_value_of_a_needed_setting_is_tried_by_itself(desk: Desk) -> None:
    async def told(asked: ChatRequest) -> Completion:
        if asked.sampling.reasoning_effort == "none":
            raise refusing("reasoning_effort")
        return answer()

    client = desk.gateway(Slept).client(use(), Model(told, RATES))
    asked = [evolve(request(reasoning_effort=level), needed=("reasoning_effort",)) for level in ("none", "high")]
    assert [(await client.ask(each)).status for each in asked] == [Status.NOT_AVAILABLE, Status.OK]
    assert (await client.ask(request("without", reasoning_effort="none"))).not_settable == ("reasoning_effort",)
