"""Define the options of `openai-batch` and `anthropic-batch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from attrs import Attribute, Factory, field, frozen
from attrs.validators import and_, ge, gt, in_, le, min_len
from jrh import Json
from jrh_chat import check_address, check_header_variables, check_variable_name

_OWN_FIELDS: Final = ("model", "messages", "stream", "n")


def _check_base_url(instance: object, attribute: Attribute[Any], value: str) -> None:
    check_address(instance, attribute, value)
    if urlsplit(value).query:
        raise ValueError(f"{attribute.name} '{value}' is not a URL such as https://host/v1: it has a query")


def _check_extra(_instance: object, attribute: Attribute[Any], value: Mapping[str, Json]) -> None:
    for name in _OWN_FIELDS:
        if name in value:
            raise ValueError(f"{attribute.name} cannot contain '{name}': jrh sets it itself")


@frozen(kw_only=True)
class BatchOptions:
    """Options of both providers."""

    model: str = field(validator=min_len(1), metadata={"help": "model name, as the provider expects it"})
    api_key_env: str | None = field(
        default=None,
        validator=check_variable_name,
        metadata={
            "help": "name of the environment variable that holds the key; "
            "null: the provider's usual one at its own address, no key for any other server"
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
    price_factor: float = field(
        default=0.5,
        validator=and_(gt(0), le(1)),
        metadata={"help": "share of the suite's `price` that a call in a batch costs"},
    )
    free: bool = field(
        default=False,
        metadata={"help": "calls are free; otherwise prices are unknown unless the suite states them"},
    )
    in_flight: int = field(
        default=5_000,
        validator=ge(1),
        metadata={"help": "maximum number of calls that wait for answers at the same time"},
    )
    collect_seconds: float = field(
        default=2.0,
        validator=gt(0),
        metadata={"help": "submit a batch when it is full, or when no request has arrived for this many seconds"},
    )
    poll_seconds: float = field(
        default=60.0, validator=gt(0), metadata={"help": "longest time between two checks of a batch, in seconds"}
    )
    settle_seconds: float = field(
        default=30.0,
        validator=ge(0),
        metadata={"help": "seconds that a new batch may take to appear in the provider's list of batches"},
    )
    use_proxy: bool = field(
        default=True,
        metadata={"help": "use the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY; never for this machine itself"},
    )


@frozen(kw_only=True)
class OpenAIBatchOptions(BatchOptions):
    """Options of `openai-batch`."""

    base_url: str = field(
        default="https://api.openai.com/v1",
        validator=_check_base_url,
        metadata={"help": "base URL of /files and /batches"},
    )
    endpoint: str = field(
        default="/v1/chat/completions",
        validator=min_len(1),
        metadata={"help": "path that each line of a batch names; the server must answer it with chat completions"},
    )
    completion_window: str = field(
        default="24h", validator=min_len(1), metadata={"help": "completion_window of a batch; OpenAI accepts 24h only"}
    )
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = field(
        default="auto",
        validator=in_(("auto", "max_tokens", "max_completion_tokens")),
        metadata={
            "help": "the endpoint's name for the token limit; auto: max_completion_tokens at OpenAI, else max_tokens"
        },
    )
    max_requests: int = field(
        default=50_000,
        validator=ge(1),
        metadata={"help": "maximum requests in a batch; OpenAI allows 50,000"},
    )
    max_megabytes: float = field(
        default=190.0, validator=gt(0), metadata={"help": "maximum size of a batch file, in MB; OpenAI allows 200 MB"}
    )


@frozen(kw_only=True)
class AnthropicBatchOptions(BatchOptions):
    """Options of `anthropic-batch`."""

    base_url: str = field(
        default="https://api.anthropic.com/v1",
        validator=_check_base_url,
        metadata={"help": "base URL of /messages/batches"},
    )
    max_requests: int = field(
        default=100_000,
        validator=ge(1),
        metadata={"help": "maximum requests in a batch; Anthropic allows 100,000"},
    )
    max_megabytes: float = field(
        default=240.0, validator=gt(0), metadata={"help": "maximum size of a batch, in MB; Anthropic allows 256 MB"}
    )
