"""Define the options of `litellm`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import Attribute, Factory, field, frozen
from attrs.validators import matches_re
from jrh import Json
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

    model: str = field(
        validator=matches_re(r"[^/\s]+/\S+"),
        metadata={"help": "model name as litellm expects it, provider/name, such as anthropic/claude-sonnet-4-5"},
    )
    api_base: str | None = field(
        default=None,
        validator=check_address,
        metadata={"help": "endpoint to use instead of the provider's own"},
    )
    api_key_env: str | None = field(
        default=None,
        validator=check_variable_name,
        metadata={
            "help": "name of the environment variable that holds the key; "
            "null: the variable litellm uses, or no key at all if api_base is set"
        },
    )
    headers_env: Mapping[str, str] = field(
        default=Factory(dict),
        validator=check_header_variables,
        metadata={"help": "additional headers: header name -> name of the environment variable that holds its value"},
    )
    api_version: str | None = field(default=None, metadata={"help": "API version, for providers that have versions"})
    drop_params: bool = field(
        default=False,
        metadata={"help": "omit sampling settings that the model does not support instead of failing the call"},
    )
    extra: Mapping[str, Json] = field(
        default=Factory(dict),
        validator=_check_extra,
        metadata={"help": "additional arguments of litellm.completion, such as top_k or thinking"},
    )
