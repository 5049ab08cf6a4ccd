"""Define the options of `openai-batch` and `anthropic-batch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import Attribute, Factory, frozen
from attrs.validators import ge, gt, in_, le, min_len
from jrh import Json
from jrh.plugins import option
from jrh_chat import check_address, check_extra_fields, check_header_variables, check_variable_name


def _check_base_url(instance: object, attribute: Attribute[Any], value: str) -> None:
    check_address(instance, attribute, value)
    if urlsplit(value).query:
        raise ValueError(f"{attribute.name} '{value}' is not a URL such as https://host/v1: it has a query")


@frozen(kw_only=True)
class BatchOptions:
    """Options of both providers."""

    model: str = option("model name, as the provider expects it", min_len(1))
    api_key_env: str | None = option(
        "name of the environment variable that holds the key; "
        "null: the provider's usual one at its own address, no key for any other server",
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
    price_factor: float = option("share of the suite's `price` that a call in a batch costs", gt(0), le(1), default=0.5)
    free: bool = option("calls are free; otherwise prices are unknown unless the suite states them", default=False)
    in_flight: int = option("maximum number of calls that wait for answers at the same time", ge(1), default=5_000)
    collect_seconds: float = option(
        "submit a batch when it is full, or when no request has arrived for this many seconds", gt(0), default=2.0
    )
    poll_seconds: float = option("longest time between two checks of a batch, in seconds", gt(0), default=60.0)
    settle_seconds: float = option(
        "seconds that a new batch may take to appear in the provider's list of batches", ge(0), default=30.0
    )
    use_proxy: bool = option(
        "use the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY; never for this machine itself", default=True
    )


@frozen(kw_only=True)
class OpenAIBatchOptions(BatchOptions):
    """Options of `openai-batch`."""

    base_url: str = option("base URL of /files and /batches", _check_base_url, default="https://api.openai.com/v1")
    endpoint: str = option(
        "path that each line of a batch names; the server must answer it with chat completions",
        min_len(1),
        default="/v1/chat/completions",
    )
    completion_window: str = option("completion_window of a batch; OpenAI accepts 24h only", min_len(1), default="24h")
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = option(
        "the endpoint's name for the token limit; auto: max_completion_tokens at OpenAI, else max_tokens",
        in_(("auto", "max_tokens", "max_completion_tokens")),
        default="auto",
    )
    max_requests: int = option("maximum requests in a batch; OpenAI allows 50,000", ge(1), default=50_000)
    max_megabytes: float = option("maximum size of a batch file, in MB; OpenAI allows 200 MB", gt(0), default=190.0)


@frozen(kw_only=True)
class AnthropicBatchOptions(BatchOptions):
    """Options of `anthropic-batch`."""

    base_url: str = option("base URL of /messages/batches", _check_base_url, default="https://api.anthropic.com/v1")
    max_requests: int = option("maximum requests in a batch; Anthropic allows 100,000", ge(1), default=100_000)
    max_megabytes: float = option("maximum size of a batch, in MB; Anthropic allows 256 MB", gt(0), default=240.0)
