"""A provider of batches in this process: it speaks both protocols to jrh, counts what it bills, and misbehaves."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
from attrs import Factory, define, field
from jrh.errors import StopRun
from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger
from jrh.plugins.protocols import ChatRequest
from jrh.store.run_store import Store
from jrh.suite.definition import Budget, Limits, ModelUse, Price
from jrh.text.redact import Redactor
from jrh.values.cases import Message, Sampling
from jrh.values.verdicts import Reply
from jrh_batch.anthropic import AnthropicDialect
from jrh_batch.http import Http
from jrh_batch.model import BatchModel
from jrh_batch.openai import OpenAIDialect
from jrh_batch.options import AnthropicBatchOptions, OpenAIBatchOptions
from jrh_chat import Credentials
from jrh_testing import RecordingLog
from jrh_testing.simulated_time import in_simulated_time
from yarl import URL

QUESTIONS = 5
ANSWER = {"prompt_tokens": 10, "completion_tokens": 2}
PRICE = Price(input=1000.0, output=2000.0)
BILL = 0.5 * (ANSWER["prompt_tokens"] * PRICE.input + ANSWER["completion_tokens"] * PRICE.output) / 1e6
"""US dollars for one answer."""
BASE = "http://127.0.0.1:9/v1"
HTML = b"<html>Welcome</html>"
Rows = list[dict[str, Any]]


def _lines(rows: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _rows(content: bytes) -> Rows:
    return [json.loads(line) for line in content.splitlines()]


def _errors_first(content: bytes) -> bytes:
    """Put a line before the answers of all calls but one that says they failed."""
    said = {"code": "server_error", "message": "busy"}
    result = {"type": "errored", "error": {"type": "error", "error": {"type": "api_error", "message": "busy"}}}
    rows = _rows(content)
    return _lines([{"custom_id": row["custom_id"], "error": said, "result": result} for row in rows[1:]] + rows)


def _with_status(status: object) -> Callable[[dict[str, Any]], Any]:
    """Return what gives a batch another status."""
    return lambda document: document | {"status": status, "processing_status": status}


def _with_counts(**counts: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda document: document | {"request_counts": counts}


NO_FILES = {"output_file_id": None, "error_file_id": None}
WORKING = ("validating", "in_progress", "finalizing", "cancelling", "canceling")
OF_LOOKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no files": lambda document: document | NO_FILES,
    "no answers": lambda document: document | {"output_file_id": None},
    "404": lambda document: 404,
    "410": lambda document: 410,
    "503": lambda document: 503,
    "HTML": lambda document: HTML,
    "a list": lambda document: [document],
    "no counts, no files": lambda document: document | NO_FILES | {"request_counts": None},
    "counts that are none": _with_counts(total=True, completed="many", failed=[3], succeeded={}),
    "counts of another batch": _with_counts(total=900, completed=0, failed=900, succeeded=0, errored=900),
    **{f"status {status}": _with_status(status) for status in (*WORKING, ["completed"], None, {}, 7, "resting")},
}
"""What may be wrong with the state of a batch that has ended, for one answer."""
OF_FILES: dict[str, Callable[[bytes], Any]] = {
    "404": lambda content: 404,
    "503": lambda content: 503,
    "HTML": lambda content: HTML,
    "empty": lambda content: b"",
    "cut in a line": lambda content: content[: len(content) * 2 // 3],
    "cut between lines": lambda content: b"".join(content.splitlines(keepends=True)[:2]),
    "broken": lambda content: content[: len(content) // 2] + b"\0",
    "errors first": _errors_first,
    "errors alone": lambda content: b"".join(_errors_first(content).splitlines(keepends=True)[:3]),
    "doubled": lambda content: content + b"".join(content.splitlines(keepends=True)[:2]),
    "reordered": lambda content: b"".join(content.splitlines(keepends=True)[::-1]),
    "statuses as texts": lambda content: content.replace(b'"status_code": 200', b'"status_code": "200"'),
    "other lines": lambda content: b"[1]\n\nnull\n{}\n" + content,
    "no answers": lambda content: content.replace(b'"choices"', b'"x"').replace(b'"content": [', b'"x": ['),
}
"""What may be wrong with a file of results, for one answer."""
OF_CREATION = ("429", "500", "done, 503", "done, broken", "done, HTML", "done, a list")
OF_LISTS = ("503", "HTML", "no data", "data of another kind")
OF_UPLOADS = ("503", "HTML")
FAULTS = {
    "look": tuple(OF_LOOKS),
    "download": tuple(OF_FILES),
    "create": OF_CREATION,
    "list": OF_LISTS,
    "upload": OF_UPLOADS,
}
FATES = ("answered", "answered", "answered", "expired", "errored")


@define
class Held:
    """One batch."""

    id: str
    lines: list[tuple[str, str]]
    """Call and question."""
    fates: list[str]
    file: str
    metadata: Any
    looks: int
    """How often it is seen at work."""
    created: float = Factory(time.time)


@define
class Provider:
    """The provider's side; `request` is what a session of aiohttp does."""

    anthropic: bool
    held: dict[str, Held] = Factory(dict)
    files: dict[str, bytes] = Factory(dict)
    faults: dict[str, list[str]] = Factory(lambda: {step: [] for step in FAULTS})
    """Step -> what goes wrong with the next requests."""
    fates: list[str] = Factory(list)
    """Of the next requests in batches; afterwards all are answered."""
    looks: int = 0
    kill_at: int = -1
    """The request at which the process ends; it is worked on."""
    killed: asyncio.Event = field(factory=asyncio.Event)
    met: Counter[str] = Factory(Counter)
    """Faults that were met."""

    @property
    def bought(self) -> Counter[str]:
        """Return how often each question was answered, and billed."""
        pairs = [pair for batch in self.held.values() for pair in zip(batch.lines, batch.fates, strict=True)]
        return Counter(question for (_, question), fate in pairs if fate == "answered")

    @property
    def billed(self) -> float:
        """Return the bill in US dollars."""
        return BILL * sum(self.bought.values())

    # -- as a session ------------------------------------------------------------------------------------------------

    @property
    def session(self) -> Provider:
        return self

    async def aclose(self) -> None:
        pass

    def get(self, url: str, **settings: Any) -> _Exchange:
        return self.request("GET", url, **settings)

    def request(self, method: str, url: str, data: Any = None, **_: Any) -> _Exchange:
        return _Exchange(self, method, URL(url), data)

    async def answer(self, method: str, url: URL, data: Any) -> Any:
        """Do the work of a request; return its document, content or status."""
        parts = url.path.removeprefix("/v1/").removeprefix("messages/").split("/")
        step = self._step(method, parts)
        fault = self.faults[step].pop(0) if self.faults[step] else ""
        if step in ("look", "download") and parts[0] == "batches" and self.held[parts[1]].looks > 0 and fault:
            self.faults[step].insert(0, fault)  # of batches that have ended
            fault = ""
        self.met[f"{step}: {fault}"] += bool(fault)
        self.kill_at -= 1
        done: Any = None
        if fault not in ("429", "500"):
            done = self._work(step, parts, data)
        if self.kill_at == -1:
            self.killed.set()
            await asyncio.sleep(10**9)
        return done if not fault else self._spoil(step, fault, done)

    @staticmethod
    def _step(method: str, parts: list[str]) -> str:
        if method == "POST":
            return "upload" if parts[0] == "files" else "create"
        return "download" if len(parts) > 2 else "look" if len(parts) > 1 else "list"

    @staticmethod
    def _spoil(step: str, fault: str, done: Any) -> Any:
        if step == "look":
            return OF_LOOKS[fault](done)
        if step == "download":
            return OF_FILES[fault](done)
        fault = fault.removeprefix("done, ")
        named = {
            "HTML": HTML,
            "a list": [done],
            "broken": b"{\0",
            "no data": {"object": "list"},
            "data of another kind": {"data": 7},
        }
        return int(fault) if fault.isdecimal() else named[fault]

    def _work(self, step: str, parts: list[str], data: Any) -> Any:
        if step == "upload":
            name = f"file-{len(self.files)}"
            self.files[name] = data._fields[-1][2]  # what the form holds
            return {"id": name}
        if step == "create":
            return self._document(self._create(json.loads(data)))
        if step == "list":
            for batch in self.held.values():
                batch.looks -= 1  # time passes
            return {"data": [self._document(batch) for batch in reversed(self.held.values())], "has_more": False}
        if step == "look":
            batch = self.held[parts[1]]
            document = self._document(batch)
            batch.looks -= 1
            return document
        return self.files[parts[1]] if parts[0] == "files" else _lines(self._results(self.held[parts[1]]))

    def _create(self, body: dict[str, Any]) -> Held:
        if self.anthropic:
            lines = [(each["custom_id"], each["params"]["messages"][-1]["content"]) for each in body["requests"]]
        else:
            rows = _rows(self.files[body["input_file_id"]])
            lines = [(row["custom_id"], row["body"]["messages"][-1]["content"]) for row in rows]
        fates = [self.fates.pop(0) if self.fates else "answered" for _ in lines]
        batch = Held(
            f"batch-{len(self.held)}", lines, fates, body.get("input_file_id", ""), body.get("metadata"), self.looks
        )
        self.held[batch.id] = batch
        return batch

    def _document(self, batch: Held) -> dict[str, Any]:
        ended = batch.looks <= 0
        count = Counter(batch.fates if ended else ["processing"] * len(batch.lines))
        about = {"id": batch.id, "input_file_id": batch.file, "metadata": batch.metadata}
        if self.anthropic:
            names = {"succeeded": "answered", "errored": "errored", "expired": "expired", "processing": "processing"}
            counts = {name: count[fate] for name, fate in names.items()} | {"canceled": 0}
            created = datetime.fromtimestamp(batch.created, UTC).isoformat()
            status = "ended" if ended else "in_progress"
            return about | {"processing_status": status, "created_at": created, "request_counts": counts}
        failed = count["errored"] + count["expired"]
        counts = {"total": len(batch.lines), "completed": count["answered"], "failed": failed}
        status = "in_progress" if not ended else "expired" if count["expired"] else "completed"
        named = {}
        for name, good in (("output", True), ("error", False)):
            rows = [
                row for row, fate in zip(self._results(batch), batch.fates, strict=True) if (fate == "answered") is good
            ]
            self.files[f"{batch.id}-{name}"] = _lines(rows)
            named[f"{name}_file_id"] = f"{batch.id}-{name}" if rows and ended else None
        return about | {"status": status, "created_at": int(batch.created), "request_counts": counts, **named}

    def _results(self, batch: Held) -> Rows:
        return [self._result(call, fate) for (call, _), fate in zip(batch.lines, batch.fates, strict=True)]

    def _result(self, call: str, fate: str) -> dict[str, Any]:
        if self.anthropic:
            usage = {"input_tokens": ANSWER["prompt_tokens"], "output_tokens": ANSWER["completion_tokens"]}
            message = {"content": [{"type": "text", "text": "YES"}], "stop_reason": "end_turn", "usage": usage}
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
            results = {
                "answered": {"type": "succeeded", "message": message},
                "errored": {"type": "errored", "error": error},
                "expired": {"type": "expired"},
            }
            return {"custom_id": call, "result": results[fate]}
        choices = [{"index": 0, "message": {"role": "assistant", "content": "YES"}, "finish_reason": "stop"}]
        response = {"status_code": 200, "body": {"choices": choices, "usage": ANSWER}}
        busy = {"status_code": 500, "body": {"error": {"message": "busy"}}}
        line: dict[str, Any] = {"custom_id": call, "response": None, "error": None}
        changes: dict[str, dict[str, Any]] = {
            "answered": {"response": response},
            "errored": {"response": busy},
            "expired": {"error": {"code": "batch_expired", "message": "too late"}},
        }
        return line | changes[fate]


@define
class _Exchange:
    """A request and its response, as aiohttp has them."""

    provider: Provider
    method: str
    url: URL
    data: Any
    status: int = 200
    headers: dict[str, str] = Factory(dict)
    body: bytes = b""

    async def __aenter__(self) -> _Exchange:
        answer = await self.provider.answer(self.method, self.url, self.data)
        if isinstance(answer, int):
            self.status, answer = answer, {"error": {"message": "not now"}}
        self.body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    @property
    def content(self) -> _Exchange:
        return self

    async def iter_any(self) -> AsyncIterator[bytes]:
        body, broken, _ = self.body.partition(b"\0")
        yield body
        if broken:
            raise aiohttp.ClientPayloadError("the connection broke")

    def close(self) -> None:
        pass


class Directory:
    """A run directory over its processes, each with jrh's own gateway, store and batch model."""

    def __init__(self, *, anthropic: bool) -> None:
        """Begin with an empty directory."""
        self.path = Path(tempfile.mkdtemp(prefix="jrh-batches-"))
        self.provider = Provider(anthropic)
        self.kept: set[int] = set()
        """Questions that a reply was returned for."""
        self.problems: list[str] = []

    def run(self, *, wait: bool = True, kill_at: int = -1, **options: Any) -> list[Any]:
        """Run a process that asks all questions, and check the books; return what became of the questions."""
        store = Store.open(self.path, "suite")
        self.provider.kill_at, self.provider.killed = kill_at, asyncio.Event()
        try:
            results, _ = in_simulated_time(lambda: self._ask_all(store, wait=wait, options=options))
            if self.provider.killed.is_set():
                # Go on with a copy of the files as they are: no outcome is written any more.
                left, self.path = self.path, Path(tempfile.mkdtemp(prefix="jrh-batches-"))
                shutil.copytree(left, self.path, dirs_exist_ok=True)
                shutil.rmtree(left)
        finally:
            store.close()
        self._check_books()
        return results

    async def _ask_all(self, store: Store, *, wait: bool, options: dict[str, Any]) -> list[Any]:
        store.calls.settle_lost(["mini"])
        ledger = Ledger.of_store(Budget(), store)
        gateway = Gateway(store, None, ledger, Redactor(frozenset()), RecordingLog(), wait=wait)
        model = self._model(options)
        limits = Limits(max_attempts=4)
        use = ModelUse(name="mini", component="batch", sampling=Sampling(max_tokens=9), price=PRICE, limits=limits)
        client = gateway.client(use, model)
        asked = [asyncio.ensure_future(client.ask(_request(number))) for number in range(QUESTIONS)]
        all_asked = asyncio.gather(*asked, return_exceptions=True)
        killed = asyncio.ensure_future(self.provider.killed.wait())
        await asyncio.wait((all_asked, killed), return_when=asyncio.FIRST_COMPLETED)
        if killed.done():
            all_asked.cancel()
            await asyncio.gather(all_asked, *asked, return_exceptions=True)
            return []
        killed.cancel()
        await gateway.aclose()
        taken, totals = ledger.totals(), store.calls.totals()
        if abs(taken.paid - totals.paid) > 1e-9 or abs(taken.uncertain - totals.uncertain) > 1e-9:
            self.problems.append(f"the ledger {taken} differs from the store {totals}")
        results = await all_asked
        bugs = [result for result in results if not isinstance(result, Reply | StopRun)]
        self.problems += [f"raised: {bug!r}" for bug in bugs]
        return results

    def _model(self, options: dict[str, Any]) -> BatchModel:
        http = Http(Credentials(headers={}, further={}, redact=Redactor(frozenset())), {}, None)
        http._connection = self.provider  # type: ignore[assignment]
        settled = {"model": "m", "base_url": BASE, **options}
        if self.provider.anthropic:
            ours = AnthropicBatchOptions(**settled)
            return BatchModel(ours, AnthropicDialect(ours, http), "anthropic", RecordingLog())
        theirs = OpenAIBatchOptions(**settled)
        return BatchModel(theirs, OpenAIDialect(theirs, http, "max_tokens"), "openai", RecordingLog())

    def _check_books(self) -> None:
        """Check what was bought and what is booked against the provider's own count."""
        twice = [question for question, often in self.provider.bought.items() if often > 1]
        if twice:
            self.problems.append(f"bought twice: {twice}")
        store = Store.open(self.path, "suite")
        try:
            totals = store.calls.totals()
        finally:
            store.close()
        if not totals.paid - 1e-9 <= self.provider.billed <= totals.paid + totals.uncertain + 1e-9:
            self.problems.append(f"billed {self.provider.billed}, booked {totals}")

    def finish(self) -> None:
        """Let everything go well until all questions are answered, and compare the books with the provider's."""
        self.provider.faults = {step: [] for step in FAULTS}
        self.provider.fates.clear()
        for _ in range(3):
            results = self.run()
            if all(isinstance(result, Reply) and result.ok for result in results):
                break
        else:
            self.problems.append(f"not answered: {results}")
        store = Store.open(self.path, "suite")
        totals = store.calls.totals()
        store.close()
        if abs(totals.paid - self.provider.billed) > 1e-9 or totals.uncertain:
            self.problems.append(f"in the end billed {self.provider.billed}, booked {totals}")

    def remove(self) -> None:
        """Delete the directory."""
        shutil.rmtree(self.path, ignore_errors=True)


def _request(number: int) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=f"Question {number}?"),))
