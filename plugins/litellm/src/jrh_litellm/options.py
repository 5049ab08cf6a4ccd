"""Define the options of `litellm`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import Attribute, Factory, field, frozen
from attrs.validators import matches_re
from jrh import Json

_ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_ARGUMENTS: Final = (
    *("api_base", "api_key", "api_version", "base_url", "drop_params"),
    *("messages", "model", "n", "stream", "timeout"),
)
# These arguments would make litellm send more requests than the gateway counts, or none.
_NOT_ONE_REQUEST: Final = (
    *("cache", "caching", "context_window_fallback_dict", "fallbacks", "max_retries"),
    *("mock_response", "mock_tool_calls", "num_retries", "retry_policy", "retry_strategy"),
)


def _check_api_base(_instance: object, attribute: Attribute[Any], value: str | None) -> None:
    if value is None:
        return
    parts = urlsplit(value)
    if "@" in parts.netloc:
        # Options are kept in the run's store and shown in reports; a password must not get there.
        raise ValueError(f"{attribute.name} contains a user name or a password; name a variable in api_key_env instead")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{attribute.name} '{value}' is not a URL such as https://host/v1")


def _check_variable(_instance: object, attribute: Attribute[Any], value: str | None) -> None:
    if value is not None and not _ENVIRONMENT_NAME.fullmatch(value):
        # The value is not shown: it may be the key itself, written where its variable's name belongs.
        raise ValueError(f"{attribute.name} is not the name of an environment variable, such as OPENAI_API_KEY")


def _check_headers(instance: object, attribute: Attribute[Any], value: Mapping[str, str]) -> None:
    for header, variable in value.items():
        if not _HEADER_NAME.fullmatch(header):
            raise ValueError(f"{attribute.name}: '{header}' is not the name of an HTTP header")
        _check_variable(instance, attribute, variable)


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
        validator=_check_api_base,
        metadata={"help": "endpoint to use instead of the provider's own"},
    )
    api_key_env: str | None = field(
        default=None,
        validator=_check_variable,
        metadata={
            "help": "name of the environment variable that holds the key; "
            "null: the variable litellm uses, or no key at all if api_base is set"
        },
    )
    headers_env: Mapping[str, str] = field(
        default=Factory(dict),
        validator=_check_headers,
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
