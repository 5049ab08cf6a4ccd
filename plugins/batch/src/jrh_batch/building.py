"""Build the models from their options and the environment."""

from __future__ import annotations

from typing import Final, TypeAlias

from jrh import BuildContext
from jrh.models import header_digests, routing_digest
from jrh_chat import OPENAI_HOST, Credentials, KeyPlace, proxy_for, token_limit_field

from jrh_batch.anthropic import VERSION, AnthropicDialect
from jrh_batch.batches import Dialect
from jrh_batch.http import Http
from jrh_batch.model import BatchModel
from jrh_batch.openai import OpenAIDialect
from jrh_batch.options import AnthropicBatchOptions, OpenAIBatchOptions

_USER: Final = "a batch provider of the suite"
_OPENAI: Final = KeyPlace(host=OPENAI_HOST, variable="OPENAI_API_KEY", prefix="Bearer ", user=_USER)
_ANTHROPIC: Final = KeyPlace(host="api.anthropic.com", variable="ANTHROPIC_API_KEY", header="x-api-key", user=_USER)
_Options: TypeAlias = OpenAIBatchOptions | AnthropicBatchOptions


def build_openai(options: OpenAIBatchOptions, context: BuildContext) -> BatchModel:
    """Build an `openai-batch` model."""
    credentials = Credentials.from_environment(options, _OPENAI)
    field = token_limit_field(options.max_tokens_field, options.base_url)
    dialect = OpenAIDialect(options, _http(options, credentials), field)
    further = {} if options.endpoint == "/v1/chat/completions" else {"endpoint": options.endpoint}
    return _model("openai-batch", options, dialect, credentials, further, context)


def build_anthropic(options: AnthropicBatchOptions, context: BuildContext) -> BatchModel:
    """Build an `anthropic-batch` model."""
    credentials = Credentials.from_environment(options, _ANTHROPIC)
    dialect = AnthropicDialect(options, _http(options, credentials, {"anthropic-version": VERSION}))
    return _model("anthropic-batch", options, dialect, credentials, {}, context)


def _http(options: _Options, credentials: Credentials, headers: dict[str, str] | None = None) -> Http:
    return Http(credentials, headers or {}, proxy_for(options.base_url) if options.use_proxy else None)


def _model(
    provider: str,
    options: _Options,
    dialect: Dialect,
    credentials: Credentials,
    further: dict[str, str],
    context: BuildContext,
) -> BatchModel:
    routing = {"headers": header_digests(credentials.further), "extra": dict(options.extra), **further}
    fingerprint = f"{provider}/{options.model}@{options.base_url.rstrip('/')}{routing_digest(routing)}"
    return BatchModel(options, dialect, fingerprint, context.log)
