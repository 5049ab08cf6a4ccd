"""Every judge holds the contract of judges, and the allocator that of allocators."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator

import jrh_judges.plugin
import pytest
from aiohttp import web
from jrh import ChatRequest
from jrh_testing import AllocatorContract, JudgeContract, LabelParser, ScriptedModel, build

FIRST_LABEL = """\
import json, sys
question = json.load(sys.stdin)
print(json.dumps({"label": question["labels"][0], "rationale": "always the first"}))
"""
FUNCTION = """\
def judge(question):
    return question["labels"][0]
"""


def first_label(request: ChatRequest) -> str:
    """Answer the first label that the last line of the prompt offers."""
    return "A" if "A for response A" in request.messages[-1].content else "YES"


class TestLlm(JudgeContract):
    plugin = jrh_judges.plugin
    component = "llm"
    options = {"model": "mini"}
    required_options = ("model",)
    models = {"mini": ScriptedModel(first_label)}
    parsers = {"auto": LabelParser()}

    def models_for(self, task):
        return {"mini": ScriptedModel(task.scale.labels[0])}


class TestCascade(TestLlm):
    component = "cascade"
    options = {"model": "mini", "then": ["mini"], "at": [1.0, 0.6]}
    required_options = ("model", "then", "at")


class TestDropFailing(AllocatorContract):
    plugin = jrh_judges.plugin
    component = "drop-failing"


class TestFunction(JudgeContract):
    plugin = jrh_judges.plugin
    component = "function"
    options = {"function": "own.py:judge"}
    required_options = ("function",)
    files = {"own.py": FUNCTION}


class TestCommand(JudgeContract):
    plugin = jrh_judges.plugin
    component = "command"
    options = {"command": [sys.executable, "-S", "own.py"]}
    required_options = ("command",)
    files = {"own.py": FIRST_LABEL}


class TestHttp(JudgeContract):
    plugin = jrh_judges.plugin
    component = "http"
    options = {"url": "http://127.0.0.1:9/judge"}
    required_options = ("url",)

    @pytest.fixture(autouse=True)
    def endpoint(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Serve an endpoint in a thread, as the contract runs its own event loops."""
        with serving() as url:
            monkeypatch.setattr(type(self), "options", {"url": url})
            yield


class serving:
    """A server on loopback that answers the first label; it runs in a thread."""

    def __enter__(self) -> str:
        started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return f"http://127.0.0.1:{self._port}/judge"

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self, started: threading.Event) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=10_000_000)
        app.router.add_post("/judge", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._port = runner.addresses[0][1]
        started.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        question = json.loads(await request.read())
        return web.json_response({"label": question["labels"][0]})


def test_the_plugin_builds_what_it_declares(tmp_path):
    judge = build(jrh_judges.plugin, "llm", options={"model": "m"}, models={"m": ScriptedModel("YES")},
                  parsers={"auto": LabelParser()})  # fmt: skip

    assert judge.client.name == "scripted"
