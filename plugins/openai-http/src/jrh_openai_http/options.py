"""Define the options of `openai-http`."""

from __future__ import annotations

from attrs import frozen
from jrh.plugins import option
from jrh_chat import EndpointOptions, TokenLimitField, check_address, token_limit_option


@frozen(kw_only=True)
class OpenAIHttpOptions(EndpointOptions):
    """Options of `openai-http`."""

    base_url: str = option(
        "base URL of /chat/completions; a query such as ?api-version=1 is kept",
        check_address,
        default="https://api.openai.com/v1",
    )
    max_tokens_field: TokenLimitField = token_limit_option()
