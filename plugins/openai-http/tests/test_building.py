"""What a suite may say, and what a person is told where it is wrong."""

from __future__ import annotations

from typing import Any

import jrh_openai_http.plugin
import pytest
from jrh import JrhError
from jrh_chat import proxy_for, token_limit_field
from jrh_openai_http.model import endpoint
from jrh_openai_http.options import OpenAIHttpOptions
from jrh_testing import build, loop_over


def model(**options: Any) -> Any:
    return build(jrh_openai_http.plugin, "openai-http", options={"model": "judge", **options})


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@loop_over(
    ("options", "why"),
    [
        ({"model": ""}, "model"),
        ({"base_url": "localhost:8000/v1"}, "is not a URL"),
        ({"base_url": "ftp://host/v1"}, "is not a URL"),
        ({"base_url": "https://me:pw-9@host/v1"}, "contains a user name or a password"),
        ({"api_key_env": "sk-abc"}, "is not the name of an environment variable"),
        ({"headers_env": {"X-Team\n": "TEAM"}}, "is not the name of an HTTP header"),
        ({"headers_env": {"X-Team": "Bearer abc"}}, "is not the name of an environment variable"),
        ({"extra": {"stream": True}}, "cannot contain 'stream'"),
        ({"api_key_env": "NOT_SET_ANYWHERE"}, "environment variable NOT_SET_ANYWHERE is not set; api_key_env needs it"),
        ({"base_url": "http://api.openai.com/v1"}, "only over https"),
        ({"max_tokens_field": "max"}, "max_tokens_field"),
    ],
)
def test_a_wrong_option_is_named_and_no_secret_shown(options: dict[str, Any], why: str) -> None:
    with pytest.raises(JrhError) as caught:
        model(**options)
    assert why in str(caught.value)
    assert not any(secret in str(caught.value) for secret in ("pw-9", "sk-abc", "Bearer abc"))


def test_openai_itself_needs_a_key_before_anything_is_sent() -> None:
    with pytest.raises(JrhError, match="needs a key, but environment variable OPENAI_API_KEY is not set"):
        model()


def test_openai_itself_takes_another_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "canary-key")
    assert model(api_key_env="MY_KEY").fingerprint == "openai-http/judge@https://api.openai.com/v1"


def test_a_header_without_its_variable_is_an_error() -> None:
    with pytest.raises(JrhError, match="environment variable TEAM is not set; header X-Team needs it"):
        model(base_url="http://localhost:1/v1", headers_env={"X-Team": "TEAM"})


def test_a_key_that_no_header_can_carry_is_an_error_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary\nX-Evil: 1")
    with pytest.raises(JrhError, match="OPENAI_API_KEY contains characters") as caught:
        model()
    assert "canary" not in str(caught.value)


@loop_over(
    ("base", "expected"),
    [
        ("https://host/v1", "https://host/v1/chat/completions"),
        ("https://host/v1/", "https://host/v1/chat/completions"),
        ("https://host", "https://host/chat/completions"),
        ("https://host/v1?version=2", "https://host/v1/chat/completions?version=2"),
    ],
)
def test_the_path_is_appended_once(base: str, expected: str) -> None:
    assert endpoint(base) == expected


@loop_over(
    ("options", "expected"),
    [
        ({}, "max_completion_tokens"),
        ({"base_url": "http://localhost:1/v1"}, "max_tokens"),
        ({"base_url": "http://localhost:1/v1", "max_tokens_field": "max_completion_tokens"}, "max_completion_tokens"),
        ({"max_tokens_field": "max_tokens"}, "max_tokens"),
    ],
)
def test_the_token_limit_goes_by_openais_new_name_at_openai_only(options: dict[str, Any], expected: str) -> None:
    chosen = OpenAIHttpOptions(model="judge", **options)
    assert token_limit_field(chosen.max_tokens_field, chosen.base_url) == expected


@pytest.mark.parametrize(
    ("environment", "url", "expected"),
    [
        ({}, "https://host/v1", None),
        ({"https_proxy": "http://proxy:3128"}, "https://host/v1", "http://proxy:3128"),
        ({"https_proxy": "http://proxy:3128"}, "http://host/v1", None),
        ({"http_proxy": "proxy:3128"}, "http://host/v1", "http://proxy:3128"),
        ({"all_proxy": "http://proxy:1"}, "https://host/v1", "http://proxy:1"),
        ({"https_proxy": "http://proxy:1", "no_proxy": "host"}, "https://host/v1", None),
        ({"http_proxy": "http://proxy:1"}, "http://127.0.0.1:8000/v1", None),
        ({"http_proxy": "http://proxy:1"}, "http://localhost:8000/v1", None),
        ({"http_proxy": "http://proxy:1"}, "http://[::1]:8000/v1", None),
    ],
)
def test_the_environments_proxy_is_used_but_not_for_this_machine(
    environment: dict[str, str], url: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == expected


def test_a_proxy_of_another_kind_is_an_error_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://proxy:1080")
    with pytest.raises(JrhError, match=r"names a socks5 proxy.*use_proxy: false"):
        model(base_url="https://host/v1")
    assert model(base_url="https://host/v1", use_proxy=False)
