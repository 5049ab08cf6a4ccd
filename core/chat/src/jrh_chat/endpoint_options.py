"""Define the options that providers of chat models share, and validate what they say about an endpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from attrs import Attribute, Factory, frozen
from attrs.validators import in_, min_len
from jrh import Json
from jrh.plugins import option

_ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# What the reader of answers relies on: one whole answer.
_OWN_FIELDS: Final = ("model", "messages", "stream", "n")


def check_address(_instance: object, attribute: Attribute[Any], value: str | None) -> None:
    """Refuse a value that is not an HTTP address, or that contains a user name or a password.

    Raises:
        ValueError: the value cannot be used.
    """
    if value is None:
        return
    parts = urlsplit(value)
    if "@" in parts.netloc:
        # Options are kept in the run's store and shown in reports; a password must not get there.
        raise ValueError(f"{attribute.name} contains a user name or a password; name a variable in api_key_env instead")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{attribute.name} '{value}' is not a URL such as https://host/v1")


def check_variable_name(_instance: object, attribute: Attribute[Any], value: str | None) -> None:
    """Refuse a value that cannot be the name of an environment variable, without showing it.

    Raises:
        ValueError: the value cannot be used.
    """
    if value is not None and not _ENVIRONMENT_NAME.fullmatch(value):
        # The value is not shown: it may be the key itself, written where its variable's name belongs.
        raise ValueError(f"{attribute.name} is not the name of an environment variable, such as OPENAI_API_KEY")


def check_header_variables(instance: object, attribute: Attribute[Any], value: Mapping[str, str]) -> None:
    """Refuse a value that does not map HTTP headers to names of environment variables.

    Raises:
        ValueError: the value cannot be used.
    """
    for header, variable in value.items():
        if not _HEADER_NAME.fullmatch(header):
            raise ValueError(f"{attribute.name}: '{header}' is not the name of an HTTP header")
        check_variable_name(instance, attribute, variable)


def check_extra_fields(_instance: object, attribute: Attribute[Any], value: Mapping[str, Json]) -> None:
    """Refuse further fields of a request that jrh sets itself.

    Raises:
        ValueError: the value has one of them.
    """
    for name in _OWN_FIELDS:
        if name in value:
            raise ValueError(f"{attribute.name} cannot contain '{name}': jrh sets it itself")


@frozen(kw_only=True)
class EndpointOptions:
    """Options of every provider that speaks HTTP itself; a subclass adds its own, and a default of `base_url`."""

    model: str = option("model name, as the endpoint expects it", min_len(1))
    base_url: str = option("base URL of the endpoint", check_address)
    api_key_env: str | None = option(
        "name of the environment variable that holds the key; null: the provider's usual one at its own address, "
        "no key for any other server",
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
    free: bool = option(
        "calls are free (a local model); otherwise prices are unknown unless the suite states them", default=False
    )
    use_proxy: bool = option(
        "use the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY; never for this machine itself", default=True
    )


OPENAI_HOST: Final = "api.openai.com"
"""OpenAI's own endpoint."""


TokenLimitField: TypeAlias = Literal["auto", "max_tokens", "max_completion_tokens"]
"""What an endpoint of chat completions calls the limit of a reply's tokens."""


def token_limit_option() -> TokenLimitField:
    """Return the option that says what an endpoint of chat completions calls the limit of a reply's tokens."""
    chosen: TokenLimitField = option(
        "the endpoint's name for the token limit; auto: max_completion_tokens at OpenAI, else max_tokens",
        in_(get_args(TokenLimitField)),
        default="auto",
    )
    return chosen


def token_limit_field(chosen: TokenLimitField, base_url: str) -> str:
    """Return the endpoint's field name for the limit of a reply's tokens."""
    if chosen != "auto":
        return chosen
    return "max_completion_tokens" if urlsplit(base_url).hostname == OPENAI_HOST else "max_tokens"
