"""openai-http keeps the contract of every model provider, on the wire too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import jrh_openai_http.plugin
from jrh import Json
from jrh_testing import ModelContract


class TestOpenAIHttpContract(ModelContract):
    plugin = jrh_openai_http.plugin
    component = "openai-http"
    options: ClassVar = {"model": "gpt-4o-mini"}
    required_options = ("model",)
    other_options: ClassVar = {"model": "gpt-4o"}

    def endpoint_options(self, url: str) -> Mapping[str, Json]:
        # Named, so that the contract looks for a key that is really sent.
        return {"base_url": url, "api_key_env": "OPENAI_API_KEY"}


class TestAnotherEndpointIsAnotherModel(TestOpenAIHttpContract):
    other_options: ClassVar = {"base_url": "http://localhost:8000/v1"}


class TestOtherFieldsInTheBodyAreAnotherModel(TestOpenAIHttpContract):
    other_options: ClassVar = {"extra": {"top_k": 3}}
