"""A model that sends nothing: before a run, and for its plan."""

from __future__ import annotations

import pytest
from jrh.errors import PluginError
from jrh.models.client import StandIn
from jrh.plugins.protocols import ChatRequest
from jrh.suite.definition import ModelUse
from jrh.values.cases import Sampling
from jrh.values.verdicts import Reply, Status
from jrh_testing import ScriptedModel

USE = ModelUse(name="mini", component="acme/fake", sampling=Sampling(temperature=0.5, max_tokens=7))


async def test_a_model_that_is_asked_too_early_says_so_and_sends_nothing() -> None:
    provider = ScriptedModel(["YES"])
    with pytest.raises(PluginError, match="model 'mini' was asked before the run began"):
        await StandIn(USE, provider).ask(ChatRequest(messages=()))
    assert provider.asked == []


async def test_a_request_is_answered_by_the_function_with_the_suites_sampling_filled_in() -> None:
    seen: list[ChatRequest] = []

    def answer(use: ModelUse, _: object, request: ChatRequest, repeat: int) -> Reply:
        seen.append(request)
        return Reply(status=Status.OK, text=use.name)

    model = StandIn(USE, ScriptedModel([]), answer)
    reply = await model.ask(ChatRequest(messages=(), sampling=Sampling(max_tokens=3)), repeat=1)
    assert reply.text == model.name == "mini"
    assert seen == [ChatRequest(messages=(), sampling=Sampling(temperature=0.5, max_tokens=3))]


def test_its_fingerprint_is_the_real_ones() -> None:
    assert StandIn(USE, ScriptedModel([])).fingerprint == "scripted/scripted[temperature=0.5,max_tokens=7]"
