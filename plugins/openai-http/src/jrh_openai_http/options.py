"""Define the options of `openai-http`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import Factory, frozen
from attrs.validators import in_, min_len
from jrh import Json
from jrh.plugins import option
from jrh_chat import check_address, check_extra_fields, check_header_variables, check_variable_name


@frozen(kw_only=True)
class OpenAIHttpOptions:
    """Options of `openai-http`."""

    model: str = option("model name, as the endpoint expects it", min_len(1))
    base_url: str = option(
        "base URL of /chat/completions; a query such as ?api-version=1 is kept",
        check_address,
        default="https://api.openai.com/v1",
    )
    api_key_env: str | None = option(
        "name of the environment variable that holds the key; "
        "null: OPENAI_API_KEY for https://api.openai.com, no key for any other server",
        check_variable_name,
        default=None,
    )
    headers_env: Mapping[str, str] = option(
        "additional headers: header name -> name of the environment variable that holds its value",
        check_header_variables,
        default=Factory(dict),
    )
    extra: Mapping[str, Json] = option(
        "fields to add to every request's JSON, such as top_k; the suite's sampling wins",
        check_extra_fields,
        default=Factory(dict),
    )
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = option(
        "the endpoint's name for the token limit; auto: max_completion_tokens at OpenAI, else max_tokens",
        in_(("auto", "max_tokens", "max_completion_tokens")),
        default="auto",
    )
    free: bool = option(
        "calls are free (a local model); otherwise prices are unknown unless the suite states them", default=False
    )
    use_proxy: bool = option(
        "use the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY; never for this machine itself", default=True
    )
