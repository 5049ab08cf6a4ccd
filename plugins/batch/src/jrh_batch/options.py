"""Define the options of `openai-batch` and `anthropic-batch`."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from attrs import Attribute, frozen
from attrs.validators import ge, gt, le, min_len
from jrh.plugins import option
from jrh_chat import EndpointOptions, TokenLimitField, check_address, token_limit_option


def _check_base_url(instance: object, attribute: Attribute[Any], value: str) -> None:
    check_address(instance, attribute, value)
    if urlsplit(value).query:
        raise ValueError(f"{attribute.name} '{value}' is not a URL such as https://host/v1: it has a query")


@frozen(kw_only=True)
class BatchOptions(EndpointOptions):
    """Options of every batch provider."""

    price_factor: float = option("share of the suite's `price` that a call in a batch costs", gt(0), le(1), default=0.5)
    in_flight: int = option("maximum number of calls that wait for answers at the same time", ge(1), default=5_000)
    collect_seconds: float = option(
        "submit a batch when it is full, or when no request has arrived for this many seconds", gt(0), default=2.0
    )
    poll_seconds: float = option("longest time between two checks of a batch, in seconds", gt(0), default=60.0)
    results_seconds: float = option(
        "how long jrh looks again for results of an ended batch that cannot be read, in seconds", ge(0), default=600.0
    )
    rebuy: bool = option(
        "ask again, once per run, for results of earlier runs that cannot be read: both calls may be billed",
        default=False,
    )
    settle_seconds: float = option(
        "seconds that a new batch may take to appear in the provider's list of batches", ge(0), default=30.0
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
    max_tokens_field: TokenLimitField = token_limit_option()
    max_requests: int = option("maximum requests in a batch; OpenAI allows 50,000", ge(1), default=50_000)
    max_megabytes: float = option("maximum size of a batch file, in MB; OpenAI allows 200 MB", gt(0), default=190.0)


@frozen(kw_only=True)
class AnthropicBatchOptions(BatchOptions):
    """Options of `anthropic-batch`."""

    base_url: str = option("base URL of /messages/batches", _check_base_url, default="https://api.anthropic.com/v1")
    max_requests: int = option("maximum requests in a batch; Anthropic allows 100,000", ge(1), default=100_000)
    max_megabytes: float = option("maximum size of a batch, in MB; Anthropic allows 256 MB", gt(0), default=240.0)
