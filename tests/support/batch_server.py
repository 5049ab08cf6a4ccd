"""A server on loopback that speaks the batch APIs of OpenAI and Anthropic, counts what is submitted, and misbehaves."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from aiohttp import web
from attrs import Factory, define
from jrh_testing import LabelAnswers
from jrh_testing.server import bodies

from support.suites import LABELS


@define
class Lines:
    """What becomes of the lines of a batch: the prompt decides."""

    expires: Callable[[str], bool] = lambda prompt: False
    """The batch expires, and this request was not worked on."""
    fails: Callable[[str], bool] = lambda prompt: False
    """Its answer is a 500."""
    missing: Callable[[str], bool] = lambda prompt: False
    """It is answered, and no file has a line for it."""
    twice: Callable[[str], bool] = lambda prompt: False
    """It is answered, and has a second line."""

    lacks: str = ""
    """The model has no such setting, and refuses every request with it."""

    def answers(self, prompt: str) -> bool:
        """Tell whether a request is answered, and so billed, whether or not its result can be read."""
        return not self.expires(prompt) and not self.fails(prompt) and not self.lacks


@define
class Submitted:
    """One batch at the server."""

    id: str
    lines: list[tuple[str, dict[str, Any]]]
    """Call and body."""
    about: dict[str, Any]
    created: float
    fate: Lines
    failed: dict[str, Any] | None = None
    looks: int = 0
    files: dict[str, bytes] = Factory(dict)


class BatchServer:
    """Both protocols at one address; a context manager."""

    def __init__(self, *, looks: int = 1, key: str = "") -> None:
        """Let a batch end once it was looked at so often."""
        self._looks = looks
        self.key = key
        self.url = ""
        self.unauthorized = 0
        self._answer = LabelAnswers(labels=LABELS)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.reset()

    def reset(self) -> None:
        """Behave well again, and forget all batches."""
        self.looks = self._looks
        self.batches: list[Submitted] = []
        self.fates: list[Lines] = []
        """What becomes of the next batches; afterwards they succeed."""
        self.hang_at = ""
        """Do the work of such a request and never answer it."""
        self.hanging = threading.Event()
        self.break_once: dict[str, int] = {}
        """Do the work of such a request and answer with this status, once."""
        self.refuse: dict[str, list[int]] = {}
        """Do no work of such requests, and answer with these statuses, one after the other."""
        self.room: int | None = None
        """Requests that may be worked on at once."""
        self.spoil: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None
        """Change the lines of the first batch's results."""
        self.looked: list[Callable[[dict[str, Any]], Any]] = []
        """Change the first answers about a batch that has ended, one after the other; a status makes it an error."""
        self.content: list[Callable[[bytes], bytes | int]] = []
        """Change the first files of results that are read, one after the other; a status makes it an error."""
        self.forget_metadata = False
        self.max_lines = 0
        """The most lines in one batch so far."""
        self.files: dict[str, bytes] = {}
        self.sent: list[bytes] = []
        """Files and bodies that hold requests."""
        self.seen: Counter[str] = Counter()

    @property
    def submitted(self) -> Counter[str]:
        """Return how often each prompt was accepted in a batch."""
        accepted = (each for each in self.batches if each.failed is None)
        return Counter(bodies.prompt_of(_chat(body)) for each in accepted for _, body in each.lines)

    @property
    def billed(self) -> Counter[str]:
        """Return how often each prompt was answered, and so billed."""
        accepted = (each for each in self.batches if each.failed is None)
        prompts = ((each.fate, bodies.prompt_of(_chat(body))) for each in accepted for _, body in each.lines)
        return Counter(prompt for fate, prompt in prompts if fate.answers(prompt))

    def __enter__(self) -> BatchServer:
        """Start serving."""
        self._thread.start()
        self._runner = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving."""
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self) -> web.AppRunner:
        app = web.Application(client_max_size=10**9)
        app.router.add_post("/v1/files", self._step("upload", self._upload))
        app.router.add_get("/v1/files/{id}/content", self._step("download", self._content))
        app.router.add_post("/v1/batches", self._step("create", self._create))
        app.router.add_get("/v1/batches", self._step("list", self._list))
        app.router.add_get("/v1/batches/{id}", self._step("look", self._look))
        app.router.add_post("/v1/messages/batches", self._step("create", self._create_messages))
        app.router.add_get("/v1/messages/batches", self._step("list", self._list_messages))
        app.router.add_get("/v1/messages/batches/{id}", self._step("look", self._look_messages))
        app.router.add_get("/v1/messages/batches/{id}/results", self._step("download", self._message_results))
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    def _step(self, name: str, handle: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        async def handler(request: web.Request) -> web.StreamResponse:
            sent = request.headers.get("Authorization", request.headers.get("x-api-key", "")).removeprefix("Bearer ")
            if self.key and sent != self.key:
                self.unauthorized += 1
                return web.json_response(
                    {"error": {"message": f"wrong key {sent}", "code": "invalid_api_key"}}, status=401
                )
            self.seen[name] += 1
            if self.refuse.get(name):
                return _refusal(self.refuse[name].pop(0))
            if name == "create" and self._is_full_of_messages(request):
                return _refusal(429)
            answer: web.StreamResponse = await handle(request)
            if name == "look" and self.looked and self._batch(request).looks >= self.looks:
                assert isinstance(answer, web.Response)
                answer = _changed(self.looked.pop(0)(json.loads(answer.body)))
            if name == "download" and self.content:
                assert isinstance(answer, web.Response)
                assert isinstance(answer.body, bytes)
                answer = _changed(self.content.pop(0)(answer.body))
            if self.hang_at == name:
                if name == "download":  # half of the file
                    assert isinstance(answer, web.Response)
                    assert isinstance(answer.body, bytes)
                    half = web.StreamResponse()
                    await half.prepare(request)
                    await half.write(answer.body[: len(answer.body) // 2])
                self.hanging.set()
                await asyncio.sleep(3600)
            if name in self.break_once:
                return web.json_response({"error": {"message": "broken"}}, status=self.break_once.pop(name))
            return answer

        return handler

    # -- OpenAI ------------------------------------------------------------------------------------------------------

    async def _upload(self, request: web.Request) -> web.Response:
        fields = {part.name: bytes(await part.read()) async for part in await request.multipart()}
        assert fields["purpose"] == b"batch"
        content = fields["file"]
        name = f"file-{len(self.files)}"
        self.files[name] = content
        self.sent.append(content)
        return web.json_response({"id": name, "object": "file", "purpose": "batch", "bytes": len(content)})

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        rows = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert {row["url"] for row in rows} == {body["endpoint"]} == {"/v1/chat/completions"}
        assert body["completion_window"] == "24h"
        about = {"input_file_id": body["input_file_id"], "metadata": None if self.forget_metadata else body["metadata"]}
        batch = self._accept([(row["custom_id"], row["body"]) for row in rows], about)
        return web.json_response(self._document(batch))

    async def _list(self, request: web.Request) -> web.Response:
        found = self.batches[::-1]
        after = request.query.get("after")
        if after:
            found = found[[each.id for each in found].index(after) + 1 :]
        page = found[: int(request.query.get("limit", "20"))]
        documents = [self._document(each) for each in page]
        return web.json_response({"object": "list", "data": documents, "has_more": len(page) < len(found)})

    async def _look(self, request: web.Request) -> web.Response:
        batch = self._batch(request)
        batch.looks += 1
        return web.json_response(self._document(batch))

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["id"]])

    def _document(self, batch: Submitted) -> dict[str, Any]:
        document = {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": int(batch.created),
            "status": "in_progress",
            **batch.about,
        }
        if batch.failed is not None:
            return {**document, "status": "failed", "errors": {"object": "list", "data": [batch.failed]}}
        if batch.looks < self.looks:
            return document
        good, bad = self._openai_results(batch)
        expired = any(batch.fate.expires(bodies.prompt_of(body)) for _, body in batch.lines)
        self.files |= {f"{batch.id}-out": good, f"{batch.id}-err": bad}
        answered, failed = self._counts(batch)
        return {
            **document,
            "status": "expired" if expired else "completed",
            "request_counts": {"total": len(batch.lines), "completed": answered, "failed": failed},
            "output_file_id": f"{batch.id}-out" if good else None,
            "error_file_id": f"{batch.id}-err" if bad else None,
        }

    def _openai_results(self, batch: Submitted) -> tuple[bytes, bytes]:
        good: list[dict[str, Any]] = []
        bad: list[dict[str, Any]] = []
        for call, body in reversed(batch.lines):  # results have an order of their own
            prompt, fate = bodies.prompt_of(body), batch.fate
            row: dict[str, Any] = {"id": f"batch_req_{call}", "custom_id": call, "response": None, "error": None}
            if fate.missing(prompt):
                continue
            if fate.lacks:
                refused = {"status_code": 400, "body": json.loads(bodies.unsupported_setting(fate.lacks))}
                bad.append({**row, "response": refused})
            elif fate.expires(prompt):
                bad.append({**row, "error": {"code": "batch_expired", "message": "not executed before the window"}})
            elif fate.fails(prompt):
                failed = {"status_code": 500, "request_id": "r", "body": {"error": {"message": "busy"}}}
                bad.append({**row, "response": failed})
            else:
                answer = json.loads(bodies.completion(str(self._answer(body)), prompt))
                good += [{**row, "response": {"status_code": 200, "request_id": "r", "body": answer}}] * (
                    2 if fate.twice(prompt) else 1
                )
        return _jsonl(self._spoilt(batch, good)), _jsonl(bad)

    def _spoilt(self, batch: Submitted, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return self.spoil(rows) if self.spoil is not None and batch is self.batches[0] else rows

    # -- Anthropic ---------------------------------------------------------------------------------------------------

    async def _create_messages(self, request: web.Request) -> web.Response:
        assert request.headers["anthropic-version"] == "2023-06-01"
        body = await request.json()
        assert set(body) == {"requests"}
        self.sent.append(await request.read())
        batch = self._accept([(each["custom_id"], each["params"]) for each in body["requests"]], {})
        return web.json_response(self._message_document(batch))

    async def _list_messages(self, request: web.Request) -> web.Response:
        for each in self.batches:
            each.looks += 1  # time passes
        found = [self._message_document(each) for each in self.batches[::-1]]
        ids = [each["id"] for each in found]
        after = request.query.get("after_id")
        begin = ids.index(after) + 1 if after else 0
        page = found[begin : begin + int(request.query.get("limit", "20"))]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {"first_id": None, "last_id": None}
        return web.json_response({"data": page, "has_more": begin + len(page) < len(found), **ends})

    async def _look_messages(self, request: web.Request) -> web.Response:
        batch = self._batch(request)
        batch.looks += 1
        return web.json_response(self._message_document(batch))

    async def _message_results(self, request: web.Request) -> web.Response:
        rows = []
        for call, params in reversed(self._batch(request).lines):
            prompt, fate = bodies.prompt_of(_chat(params)), self._batch(request).fate
            if fate.expires(prompt):
                result: dict[str, Any] = {"type": "expired"}
            elif fate.fails(prompt):
                error = {"type": "overloaded_error", "message": "busy"}
                result = {"type": "errored", "error": {"type": "error", "error": error}}
            else:
                text = str(self._answer(_chat(params)))
                usage = {"input_tokens": bodies.tokens(prompt), "output_tokens": bodies.tokens(text)}
                message = {
                    "type": "message",
                    "role": "assistant",
                    "model": bodies.MODEL,
                    "content": [{"type": "text", "text": text}],
                    "stop_reason": "end_turn",
                    "usage": usage,
                }
                result = {"type": "succeeded", "message": message}
            if not fate.missing(prompt):
                rows += [{"custom_id": call, "result": result}] * (2 if fate.twice(prompt) else 1)
        return web.Response(body=_jsonl(self._spoilt(self._batch(request), rows)))

    def _message_document(self, batch: Submitted) -> dict[str, Any]:
        ended = batch.looks >= self.looks
        answered, failed = self._counts(batch) if ended else (0, 0)
        count = {"processing": len(batch.lines) - answered - failed, "succeeded": answered, "errored": failed}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z"),
            "request_counts": {**count, "canceled": 0, "expired": 0},
            "results_url": None,
        }

    # -- both --------------------------------------------------------------------------------------------------------

    def _accept(self, lines: Sequence[tuple[str, dict[str, Any]]], about: dict[str, Any]) -> Submitted:
        assert len({call for call, _ in lines}) == len(lines)
        assert all(len(call) <= 64 and call.replace("-", "").isalnum() for call, _ in lines)
        fate = self.fates.pop(0) if self.fates else Lines()
        created = datetime.now(UTC).timestamp()
        batch = Submitted(f"batch-{len(self.batches)}", list(lines), about, created, fate)
        working = self._working()
        if self.room is not None and working + len(lines) > self.room:
            batch.failed = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached", "line": None}
        else:
            self.max_lines = max(self.max_lines, len(lines))
        self.batches.append(batch)
        return batch

    def _counts(self, batch: Submitted) -> tuple[int, int]:
        """Count the requests of a batch that were answered, and those that were not."""
        answered = sum(batch.fate.answers(bodies.prompt_of(_chat(body))) for _, body in batch.lines)
        return answered, len(batch.lines) - answered

    def _working(self) -> int:
        return sum(len(each.lines) for each in self.batches if each.failed is None and each.looks < self.looks)

    def _is_full_of_messages(self, request: web.Request) -> bool:
        """Anthropic takes no batch while too many requests wait; there the batch is not made at all."""
        return self.room is not None and "messages" in request.path and self._working() >= self.room

    def foreign(self, count: int, lines: int) -> None:
        """Let somebody else submit batches with the same key."""
        now = datetime.now(UTC).timestamp()
        call = ("another", {"messages": [{"role": "user", "content": "Hello."}]})
        for _ in range(count):
            name = f"batch-{len(self.batches)}"
            self.batches.append(Submitted(name, [call] * lines, {}, now, Lines(), looks=self.looks))

    def _batch(self, request: web.Request) -> Submitted:
        return next(each for each in self.batches if each.id == request.match_info["id"])


def _changed(answer: Any) -> web.Response:
    if isinstance(answer, int):
        return web.json_response({"error": {"message": "not now"}}, status=answer)
    return web.Response(body=answer if isinstance(answer, bytes) else json.dumps(answer).encode())


def _refusal(status: int) -> web.Response:
    answer = {"error": {"type": "rate_limit_error", "message": "not now"}}
    return web.json_response(answer, status=status, headers={"Retry-After": "0"})


def _chat(body: dict[str, Any]) -> dict[str, Any]:
    """Turn the parameters of a message into those of a chat completion."""
    system = [{"role": "system", "content": body["system"]}] if "system" in body else []
    return {**body, "messages": [*system, *body["messages"]]}


def _jsonl(rows: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
