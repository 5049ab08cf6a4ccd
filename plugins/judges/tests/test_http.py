"""An HTTP endpoint of one's own as a judge, over a real server on loopback."""

from __future__ import annotations

import asyncio

import jrh_judges.plugin
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from jrh import JrhError, Question, Scale, Status, Task
from jrh_testing import build, loop_over

TASK = Task(name="facts", scale=Scale.of_labels("YES", "NO"))
QUESTION = Question(trial_id="t", task=TASK, fields={"response": "Zażółć \ud800"}, seed=3)


def built(url, **options):
    return build(jrh_judges.plugin, "http", options={"url": str(url), **options}, task=TASK)


@pytest.fixture
async def judge_at():
    judges = []

    def judge_at(url, **options):
        judges.append(built(url, **options))
        return judges[-1]

    yield judge_at
    for judge in judges:
        await judge.aclose()


@pytest.fixture
async def serve():
    servers = []

    async def start(handler):
        app = web.Application()
        app.router.add_post("/judge", handler)
        server = TestServer(app, host="127.0.0.1")
        await server.start_server()
        servers.append(server)
        return server.make_url("/judge")

    yield start
    for server in servers:
        await server.close()


async def test_a_question_is_posted_and_the_answer_read(judge_at, serve):
    seen = []

    async def handler(request):
        seen.append((await request.json(), request.headers["Content-Type"], request.headers.get("X-Team")))
        return web.json_response({"label": "NO", "rationale": "wrong", "probabilities": {"NO": 0.75}})

    judgement = await judge_at(await serve(handler), headers={"X-Team": "a"}).judge(QUESTION)

    assert judgement.verdict.presented == "NO"
    assert judgement.verdict.probabilities == {"NO": 0.75}
    body, kind, team = seen[0]
    assert (kind, team) == ("application/json", "a")
    assert body["fields"] == {"response": "Zażółć \ud800"}
    assert body["labels"] == ["YES", "NO"]
    assert body["seed"] == 3


async def test_the_token_is_sent_and_stands_nowhere_else(judge_at, serve, monkeypatch):
    monkeypatch.setenv("OWN_TOKEN", "canary-4711")

    async def handler(request):
        good = request.headers.get("Authorization") == "Bearer canary-4711"
        return web.json_response("YES") if good else web.Response(status=500)

    judge = judge_at(await serve(handler), token_env="OWN_TOKEN")
    judgement = await judge.judge(QUESTION)

    assert judgement.verdict.presented == "YES"
    assert "canary" not in repr(judgement)
    assert "canary" not in repr(vars(judge))


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (302, Status.PROVIDER_ERROR),
        (400, Status.PROVIDER_ERROR),
        (401, Status.PROVIDER_ERROR),
        (429, Status.PROVIDER_ERROR),
        (500, Status.PROVIDER_ERROR),
        (504, Status.TIMEOUT),
        (408, Status.TIMEOUT),
    ],
)
async def test_an_http_error_is_a_status_and_its_body_is_not_read(judge_at, serve, status, verdict):
    async def handler(request):
        return web.Response(status=status, text='"YES"', headers={"Location": "/judge"})

    judgement = await judge_at(await serve(handler)).judge(QUESTION)

    assert judgement.verdict.status is verdict
    assert judgement.verdict.detail == f"HTTP status {status}"


@pytest.mark.parametrize(("status", "calls"), [(500, 3), (429, 3), (400, 1), (404, 1)])
async def test_only_what_may_pass_is_asked_again(judge_at, serve, status, calls):
    seen = []

    async def handler(request):
        seen.append(1)
        return web.Response(status=status)

    judgement = await judge_at(await serve(handler), attempts=3, wait=0).judge(QUESTION)

    assert len(seen) == calls
    assert judgement.reply is not None
    assert judgement.reply.attempts == calls


async def test_a_slow_answer_is_a_timeout(judge_at, serve):
    async def handler(request):
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(b" ")
            await asyncio.sleep(0.02)
        return response

    judgement = await judge_at(await serve(handler), timeout=0.1).judge(QUESTION)

    assert judgement.verdict.status is Status.TIMEOUT
    assert judgement.verdict.detail == "no answer within 0.1 s"


async def test_a_connection_that_breaks_is_a_status(judge_at, serve):
    async def handler(request):
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b'"YES"')
        request.transport.close()
        return response

    assert (await judge_at(await serve(handler)).judge(QUESTION)).verdict.status is Status.PROVIDER_ERROR


async def test_nobody_listening_is_a_status(judge_at):
    judgement = await judge_at(f"http://127.0.0.1:{unused_port()}/judge").judge(QUESTION)

    assert judgement.verdict.status is Status.PROVIDER_ERROR


async def test_an_endless_answer_is_cut_off(judge_at, serve):
    async def handler(request):
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"YES" * 10_000)
        except ConnectionError:
            return response

    judgement = await judge_at(await serve(handler), timeout=20).judge(QUESTION)

    assert judgement.verdict.status is Status.PROVIDER_ERROR
    assert "longer than" in judgement.verdict.detail


@pytest.mark.parametrize("body", ["<html>YES</html>", "", "{", "[]"])
async def test_an_answer_of_another_kind_is_a_status(judge_at, serve, body):
    async def handler(request):
        return web.Response(text=body)

    verdict = (await judge_at(await serve(handler)).judge(QUESTION)).verdict

    assert verdict.presented is None
    assert verdict.status in {Status.OFF_SCALE, Status.UNPARSABLE}


async def test_no_more_questions_are_open_than_the_suite_allows(judge_at, serve):
    now, most = 0, 0

    async def handler(request):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return web.json_response("YES")

    judge = judge_at(await serve(handler), concurrency=2)
    judgements = await asyncio.gather(*(judge.judge(QUESTION) for _ in range(8)))

    assert most == 2
    assert {judgement.verdict.presented for judgement in judgements} == {"YES"}


async def test_questions_one_after_the_other_share_a_connection_and_nothing_else(judge_at, serve):
    peers, cookies = [], []

    async def handler(request):
        peers.append(request.transport.get_extra_info("peername"))
        cookies.append(dict(request.cookies))
        response = web.json_response("YES")
        response.set_cookie("seen", "before")
        return response

    # A name, because cookies of bare addresses are not kept anyway.
    judge = judge_at(str(await serve(handler)).replace("127.0.0.1", "localhost"))
    for _ in range(3):
        assert (await judge.judge(QUESTION)).verdict.presented == "YES"

    assert len(set(peers)) == 1
    assert cookies == [{}, {}, {}]


async def test_a_judge_that_was_closed_connects_anew(judge_at, serve):
    peers = []

    async def handler(request):
        peers.append(request.transport.get_extra_info("peername"))
        return web.json_response("YES")

    judge = judge_at(await serve(handler))
    await judge.judge(QUESTION)
    await judge.aclose()
    await judge.judge(QUESTION)

    assert len(set(peers)) == 2


async def test_an_answer_that_is_not_read_to_its_end_does_not_spoil_the_next_one(judge_at, serve):
    answers = iter([web.Response(status=500, text="x" * 5_000_000), web.json_response("NO")])

    async def handler(request):
        return next(answers)

    judge = judge_at(await serve(handler))
    verdicts = [(await judge.judge(QUESTION)).verdict for _ in range(2)]

    assert [verdict.status for verdict in verdicts] == [Status.PROVIDER_ERROR, Status.OK]
    assert verdicts[1].presented == "NO"


def test_the_query_of_the_address_is_not_stored():
    judge = built("http://127.0.0.1:1/judge?key=canary")

    assert judge._fingerprint == "http/http://127.0.0.1:1/judge"


@loop_over(
    "options",
    [
        {"url": "ftp://x/judge"},
        {"url": "judge"},
        {"url": "http://user:secret@x/judge"},
        {"headers": {"Authorization": "Bearer x"}},
        {"headers": {"X-Api-Key": "x"}},
        {"token_env": "not a name"},
        {"token_env": "NO_SUCH_VARIABLE_9"},
    ],
)
def test_a_suite_that_cannot_work_or_holds_a_secret_is_an_error(options):
    with pytest.raises((JrhError, ValueError)):
        built(**{"url": "http://127.0.0.1:1/judge", **options})
