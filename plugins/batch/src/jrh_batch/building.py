"""Build the models from their options and the environment."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from jrh import BuildContext
from jrh.models import header_digests, routing_digest
from jrh_chat import Credentials, KeyPlace, proxy_for

from jrh_batch.anthropic import VERSION, AnthropicDialect
from jrh_batch.batches import Dialect
from jrh_batch.http import Http
from jrh_batch.model import BatchModel
from jrh_batch.openai import OpenAIDialect
from jrh_batch.options import AnthropicBatchOptions, BatchOptions, OpenAIBatchOptions

_USER: Final = "a batch provider of the suite"
_OPENAI: Final = KeyPlace(host="api.openai.com", variable="OPENAI_API_KEY", prefix="Bearer ", user=_USER)
_ANTHROPIC: Final = KeyPlace(host="api.anthropic.com", variable="ANTHROPIC_API_KEY", header="x-api-key", user=_USER)


def build_openai(options: OpenAIBatchOptions, context: BuildContext) -> BatchModel:
    """Build an `openai-batch` model."""
    credentials = Credentials.from_environment(options, _OPENAI)
    own = urlsplit(options.base_url).hostname == _OPENAI.host
    field = options.max_tokens_field
    if field == "auto":
        field = "max_completion_tokens" if own else "max_tokens"
    http = _http(options, options.base_url, credentials)
    dialect = OpenAIDialect(options, http, credentials.redact, field)
    further = {} if options.endpoint == "/v1/chat/completions" else {"endpoint": options.endpoint}
    return _model("openai-batch", options, options.base_url, dialect, credentials, further, context)


def build_anthropic(options: AnthropicBatchOptions, context: BuildContext) -> BatchModel:
    """Build an `anthropic-batch` model."""
    credentials = Credentials.from_environment(options, _ANTHROPIC)
    http = _http(options, options.base_url, credentials, {"anthropic-version": VERSION})
    dialect = AnthropicDialect(options, http, credentials.redact)
    return _model("anthropic-batch", options, options.base_url, dialect, credentials, {}, context)


def _http(
    options: BatchOptions, base_url: str, credentials: Credentials, headers: dict[str, str] | None = None
) -> Http:
    return Http(credentials, headers or {}, proxy_for(base_url) if options.use_proxy else None)


def _model(
    provider: str,
    options: BatchOptions,
    base_url: str,
    dialect: Dialect,
    credentials: Credentials,
    further: dict[str, str],
    context: BuildContext,
) -> BatchModel:
    routing = {"headers": header_digests(credentials.further), "extra": dict(options.extra), **further}
    fingerprint = f"{provider}/{options.model}@{base_url.rstrip('/')}{routing_digest(routing)}"
    return BatchModel(options, dialect, fingerprint, context.log)
