"""Define the options of `openai-http`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from attrs import Attribute, Factory, field, frozen
from attrs.validators import in_, min_len
from jrh import Json
from jrh_chat import check_address, check_header_variables, check_variable_name

_OWN_FIELDS: Final = ("model", "messages", "stream", "n")


def _check_extra(_instance: object, attribute: Attribute[Any], value: Mapping[str, Json]) -> None:
    for name in _OWN_FIELDS:
        if name in value:
            raise ValueError(f"{attribute.name} cannot contain '{name}': jrh sets it itself")


@frozen(kw_only=True)
class OpenAIHttpOptions:
    """Options of `openai-http`."""

    model: str = field(validator=min_len(1), metadata={"help": "model name, as the endpoint expects it"})
    base_url: str = field(
        default="https://api.openai.com/v1",
        validator=check_address,
        metadata={"help": "base URL of /chat/completions; a query such as ?api-version=1 is kept"},
    )
    api_key_env: str | None = field(
        default=None,
        validator=check_variable_name,
        metadata={
            "help": "name of the environment variable that holds the key; "
            "null: OPENAI_API_KEY for https://api.openai.com, no key for any other server"
        },
    )
    headers_env: Mapping[str, str] = field(
        default=Factory(dict),
        validator=check_header_variables,
        metadata={"help": "additional headers: header name -> name of the environment variable that holds its value"},
    )
    extra: Mapping[str, Json] = field(
        default=Factory(dict),
        validator=_check_extra,
        metadata={"help": "fields to add to every request's JSON, such as top_k; the suite's sampling wins"},
    )
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = field(
        default="auto",
        validator=in_(("auto", "max_tokens", "max_completion_tokens")),
        metadata={
            "help": "the endpoint's name for the token limit; auto: max_completion_tokens at OpenAI, else max_tokens"
        },
    )
    free: bool = field(
        default=False,
        metadata={"help": "calls are free (a local model); otherwise prices are unknown unless the suite states them"},
    )
    use_proxy: bool = field(
        default=True,
        metadata={"help": "use the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY; never for this machine itself"},
    )
