"""Define the options of `openai-http`."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from attrs.validators import min_len
from jrh import Json
from jrh.plugins import option
from jrh_chat import (
    TokenLimitField,
    check_address,
    extra_option,
    headers_option,
    key_option,
    proxy_option,
    token_limit_option,
)


@frozen(kw_only=True)
class OpenAIHttpOptions:
    """Options of `openai-http`."""

    model: str = option("model name, as the endpoint expects it", min_len(1))
    base_url: str = option(
        "base URL of /chat/completions; a query such as ?api-version=1 is kept",
        check_address,
        default="https://api.openai.com/v1",
    )
    api_key_env: str | None = key_option("OPENAI_API_KEY for https://api.openai.com")
    headers_env: Mapping[str, str] = headers_option()
    extra: Mapping[str, Json] = extra_option()
    max_tokens_field: TokenLimitField = token_limit_option()
    free: bool = option(
        "calls are free (a local model); otherwise prices are unknown unless the suite states them", default=False
    )
    use_proxy: bool = proxy_option()
