"""The batch providers keep the contract of every model provider, but for the wire: they speak another protocol."""

from __future__ import annotations

from typing import ClassVar

import jrh_batch.plugin
from jrh.plugins import DeferredModel
from jrh_testing import ModelContract, build


class TestOpenAIBatchContract(ModelContract):
    plugin = jrh_batch.plugin
    component = "openai-batch"
    options: ClassVar = {"model": "gpt-4o-mini"}
    required_options = ("model",)
    other_options: ClassVar = {"model": "gpt-4o"}


class TestAnotherEndpointIsAnotherModel(TestOpenAIBatchContract):
    other_options: ClassVar = {"base_url": "http://localhost:8000/v1"}


class TestAnthropicBatchContract(ModelContract):
    plugin = jrh_batch.plugin
    component = "anthropic-batch"
    options: ClassVar = {"model": "claude-haiku-4-5"}
    required_options = ("model",)
    other_options: ClassVar = {"extra": {"top_k": 3}}
    key_variables = ("ANTHROPIC_API_KEY",)


def test_the_models_are_deferred() -> None:
    for spec in jrh_batch.plugin.jrh_models():
        assert spec.deferred
        model = build(jrh_batch.plugin, spec.name, options={"model": "any", "base_url": "http://127.0.0.1:1/v1"})
        assert isinstance(model, DeferredModel)
        assert model.price_factor == 0.5
