"""What a suite may say, what a model costs, and what a person is told where something is wrong."""

from __future__ import annotations

from typing import Any

import jrh_litellm.plugin
import pytest
from jrh import JrhError
from jrh.plugins import Rates
from jrh_litellm.model import rates_of
from jrh_testing import build, loop_over


def model(name: str = "openai/gpt-4o-mini", **options: Any) -> Any:
    return build(jrh_litellm.plugin, "litellm", options={"model": name, **options})


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


@loop_over(
    ("options", "why"),
    [
        ({"model": "gpt-4o-mini"}, "model"),
        ({"api_base": "localhost:8000"}, "is not a URL"),
        ({"api_base": "https://me:pw-9@host/v1"}, "contains a user name or a password"),
        ({"api_key_env": "sk-abc"}, "is not the name of an environment variable"),
        ({"extra": {"api_key": "sk-abc"}}, "cannot contain 'api_key'"),
        ({"extra": {"num_retries": 3}}, "every call must be exactly one request"),
        ({"extra": {"fallbacks": ["openai/gpt-4o"]}}, "every call must be exactly one request"),
        ({"model": "antropic/claude-sonnet-4-5"}, "did you mean anthropic"),
        ({"model": "anthropic/claude-sonnet-4-5"}, "set environment variable ANTHROPIC_API_KEY"),
        ({"api_key_env": "NOT_SET_ANYWHERE"}, "environment variable NOT_SET_ANYWHERE is not set"),
    ],
)
def test_a_wrong_option_is_named_and_no_secret_shown(options: dict[str, Any], why: str) -> None:
    options = dict(options)
    with pytest.raises(JrhError) as caught:
        model(
            **{"name": options.get("model", "openai/gpt-4o-mini")} | {k: v for k, v in options.items() if k != "model"}
        )
    assert why in str(caught.value)
    assert not any(secret in str(caught.value) for secret in ("pw-9", "sk-abc"))


def test_what_makes_another_question_makes_another_fingerprint() -> None:
    at_home: dict[str, Any] = {"api_base": "http://localhost:1/v1/"}
    prints = [
        model().fingerprint,
        model(**at_home).fingerprint,
        model(extra={"top_k": 3}).fingerprint,
        model(extra={"top_k": 4}).fingerprint,
        model(api_version="2024-06-01").fingerprint,
    ]
    assert prints[:2] == ["litellm/openai/gpt-4o-mini", "litellm/openai/gpt-4o-mini@http://localhost:1/v1"]
    assert len(set(prints)) == 5


def test_the_prices_are_those_of_openais_price_page() -> None:
    # https://openai.com/api/pricing: gpt-4o-mini, US dollars per million tokens: 0.15, cached 0.075, output 0.60.
    assert model().rates == Rates(input=0.15e-6, output=0.60e-6, cached_input=0.075e-6, max_output_tokens=16384)


def test_an_unknown_model_has_no_price() -> None:
    assert model("openai/my-own", api_base="http://localhost:1/v1").rates is None


PRICES = {
    "m": {"litellm_provider": "openai", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
    "caching": {
        "litellm_provider": "openai",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "cache_read_input_token_cost": 1e-7,
    },
    "azure/m": {"litellm_provider": "azure", "input_cost_per_token": 3e-6, "output_cost_per_token": 4e-6},
    "ollama/free": {"litellm_provider": "ollama", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
    "half": {"litellm_provider": "openai", "input_cost_per_token": 1e-6},
    "by-second": {"litellm_provider": "openai", "input_cost_per_second": 1e-6},
    "odd": {"litellm_provider": "openai", "input_cost_per_token": "1", "output_cost_per_token": float("nan")},
}


@loop_over(
    ("name", "expected"),
    [
        ("openai/m", Rates(input=1e-6, output=2e-6)),
        ("openai/caching", Rates(input=1e-6, output=2e-6, cached_input=1e-7)),
        ("azure/m", Rates(input=3e-6, output=4e-6)),
        ("deepseek/m", None),
        ("ollama/free", Rates(input=0.0, output=0.0)),
        ("openai/half", None),
        ("openai/by-second", None),
        ("openai/odd", None),
        ("openai/none", None),
    ],
)
def test_a_price_belongs_to_one_provider_and_half_a_price_is_none(name: str, expected: Rates | None) -> None:
    assert rates_of(name, PRICES) == expected
