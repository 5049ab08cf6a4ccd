"""The contracts of every component, and what ACME promises beyond them; the service is the stand-in on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from acme_judge import plugin
from jrh import ChatRequest, Message, Task
from jrh.errors import FaultKind, ModelFault
from jrh_testing import (
    DataSourceContract,
    JudgeContract,
    MetricContract,
    ModelContract,
    RuleContract,
    ScriptedModel,
    build,
)
from stand_in import SECRET, Service, write_store


@pytest.fixture
def service() -> Iterator[Service]:
    """Serve until the test ends."""
    with Service() as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        yield service
        service.shutdown()
        thread.join()


def question(number: int = 1) -> ChatRequest:
    """Return what the judge sends."""
    asked = {"rubric": "sums@3", "request": "What is 17 + 25?", "response": "It is 42.", "asking": number}
    return ChatRequest(messages=(Message(role="user", content=json.dumps(asked)),))


class TestService(ModelContract):
    plugin = plugin
    component = "acme-service"
    options = {"url": "http://127.0.0.1:1"}
    other_options = {"url": "http://127.0.0.1:2"}
    required_options = ("url",)
    key_variables = ("ACME_SECRET",)


class TestJudge(JudgeContract):
    plugin = plugin
    component = "acme"
    options = {"rubric": "sums@3"}
    required_options = ("rubric",)

    def models_for(self, task: Task) -> dict[str, ScriptedModel]:
        return {"acme": ScriptedModel(json.dumps({"grade": task.scale.labels[0]}))}


class TestMetric(MetricContract):
    plugin = plugin
    component = "acme-false-pass"


class TestRule(RuleContract):
    plugin = plugin
    component = "acme-release"


class TestStore(DataSourceContract):
    plugin = plugin
    component = "acme-store"
    options = {"path": "rubrics.sqlite", "rubric": "sums@3"}
    required_options = ("path", "rubric")

    @pytest.fixture
    def base(self, tmp_path: Path) -> Path:
        """Give a directory with a store; `files` of the contract are texts."""
        write_store(tmp_path / "rubrics.sqlite")
        return tmp_path


def test_one_token_serves_many_calls_and_a_forgotten_one_is_renewed(service, monkeypatch, tmp_path):
    monkeypatch.setenv("ACME_SECRET", SECRET)
    model = build(plugin, "acme-service", options={"url": service.url}, base=tmp_path)

    async def ask() -> list[str | None]:
        answers = await asyncio.gather(*(model.complete(question(number)) for number in range(20)))
        service.tokens.clear()  # as after a restart of the service
        answers.append(await model.complete(question(99)))
        await model.aclose()
        return [json.loads(answer.text or "")["grade"] for answer in answers]

    assert asyncio.run(ask()) == ["revise"] * 21
    assert (service.fetched, service.refused) == (2, 1)


def test_a_wrong_secret_is_one_failure_that_does_not_show_it(service, monkeypatch, tmp_path):
    monkeypatch.setenv("ACME_SECRET", "not-the-right-secret-7731")
    model = build(plugin, "acme-service", options={"url": service.url}, base=tmp_path)

    async def ask() -> None:
        try:
            await model.complete(question())
        finally:
            await model.aclose()

    with pytest.raises(ModelFault) as failed:
        asyncio.run(ask())
    assert failed.value.status == 403
    assert "7731" not in str(failed.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [("[1]", "is no JSON object"), ("{", "is no JSON object"), ('{"token": 1}', "has no token and its seconds")],
)
def test_an_answer_that_is_none_of_the_service_is_a_failure_and_no_defect(service, monkeypatch, tmp_path, answer, said):
    monkeypatch.setenv("ACME_SECRET", SECRET)

    def reply(handler, *_) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(answer)))
        handler.end_headers()
        for sign in answer.encode():
            handler.wfile.write(bytes([sign]))  # without a buffer: an answer comes in pieces

    monkeypatch.setattr(service.RequestHandlerClass, "_say", reply)
    model = build(plugin, "acme-service", options={"url": service.url}, base=tmp_path)

    async def ask() -> None:
        try:
            await model.complete(question())
        finally:
            await model.aclose()

    with pytest.raises(ModelFault) as failed:
        asyncio.run(ask())
    assert failed.value.kind is FaultKind.MALFORMED
    assert said in str(failed.value)
