"""Define the options of `litellm`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import Attribute, Factory, frozen
from attrs.validators import matches_re
from jrh import Json
from jrh.plugins import option
from jrh_chat import check_address, check_header_variables, check_variable_name

_OWN_ARGUMENTS: Final = (
    *("api_base", "api_key", "api_version", "base_url", "drop_params"),
    *("messages", "model", "n", "stream", "timeout"),
)
# These arguments would make litellm send more requests than the gateway counts, or none.
_NOT_ONE_REQUEST: Final = (
    *("cache", "caching", "context_window_fallback_dict", "fallbacks", "max_retries"),
    *("mock_response", "mock_tool_calls", "num_retries", "retry_policy", "retry_strategy"),
)


def _check_extra(_instance: object, attribute: Attribute[Any], value: Mapping[str, Json]) -> None:
    for name in value:
        if name in _OWN_ARGUMENTS:
            raise ValueError(f"{attribute.name} cannot contain '{name}': jrh sets it itself")
        if name in _NOT_ONE_REQUEST:
            raise ValueError(f"{attribute.name} cannot contain '{name}': every call must be exactly one request")


@frozen(kw_only=True)
class LiteLLMOptions:
    """Options of `litellm`."""

    model: str = option(
        "model name as litellm expects it, provider/name, such as anthropic/claude-sonnet-4-5",
        matches_re(r"[^/\s]+/\S+"),
    )
    api_base: str | None = option("endpoint to use instead of the provider's own", check_address, default=None)
    api_key_env: str | None = option(
        "name of the environment variable that holds the key; "
        "null: the variable litellm uses, or no key at all if api_base is set",
        check_variable_name,
        default=None,
    )
    headers_env: Mapping[str, str] = option(
        "additional headers: header name -> name of the environment variable that holds its value",
        check_header_variables,
        default=Factory(dict),
    )
    api_version: str | None = option("API version, for providers that have versions", default=None)
    drop_params: bool = option(
        "omit sampling settings that the model does not support instead of failing the call", default=False
    )
    extra: Mapping[str, Json] = option(
        "additional arguments of litellm.completion, such as top_k or thinking", _check_extra, default=Factory(dict)
    )
