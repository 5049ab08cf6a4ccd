"""Build the models from their options and the environment."""

from __future__ import annotations

from typing import Final, TypeAlias

from jrh import BuildContext
from jrh.models import header_digests, routing_digest
from jrh_chat import OPENAI_HOST, Credentials, KeyPlace, proxy_for, token_limit_field

from jrh_batch.anthropic import VERSION, AnthropicDialect
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
    # The usual endpoint is left out of the fingerprint: it tells apart only what answers differently.
    further = {} if options.endpoint == "/v1/chat/completions" else {"endpoint": options.endpoint}
    fingerprint = _fingerprint("openai-batch", options, credentials, **further)
    return BatchModel(options, dialect, fingerprint, context.log)


def build_anthropic(options: AnthropicBatchOptions, context: BuildContext) -> BatchModel:
    """Build an `anthropic-batch` model."""
    credentials = Credentials.from_environment(options, _ANTHROPIC)
    dialect = AnthropicDialect(options, _http(options, credentials, {"anthropic-version": VERSION}))
    return BatchModel(options, dialect, _fingerprint("anthropic-batch", options, credentials), context.log)


def _http(options: _Options, credentials: Credentials, headers: dict[str, str] | None = None) -> Http:
    return Http(credentials, headers or {}, proxy_for(options.base_url) if options.use_proxy else None)


def _fingerprint(provider: str, options: _Options, credentials: Credentials, **further: str) -> str:
    # Whatever may lead to another model belongs to the fingerprint, and with it to the reply cache's keys.
    routing = {"headers": header_digests(credentials.further), "extra": dict(options.extra), **further}
    return f"{provider}/{options.model}@{options.base_url.rstrip('/')}{routing_digest(routing)}"
