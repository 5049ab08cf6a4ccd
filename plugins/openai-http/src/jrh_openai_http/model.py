"""Ask a chat model over HTTP: one session, one request per call."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from attrs import evolve
from jrh import BuildContext, ChatRequest
from jrh.errors import ModelFault
from jrh.models import header_digests, routing_digest
from jrh.plugins import TOO_LONG, Completion, Logger, Rates
from jrh_chat import (
    NETWORK_ERRORS,
    OPENAI_HOST,
    Connection,
    Credentials,
    KeyPlace,
    PayloadWriter,
    fault_without_secrets,
    from_error_response,
    network_fault,
    proxy_for,
    rate_limit_headers,
    read_answer,
    read_completion,
    read_start,
    refusal_without_secrets,
    token_limit_field,
)
from yarl import URL

from jrh_openai_http.options import OpenAIHttpOptions

_OPENAI: Final = KeyPlace(host=OPENAI_HOST, variable="OPENAI_API_KEY", prefix="Bearer ", begin="openai-http: ")
_BLOCKING_SIZE: Final = 1024 * 1024
_OK: Final = range(200, 300)
_FIXED_HEADERS: Final = {
    "Accept": "application/json",
    "Content-Type": "application/json",
    "User-Agent": "jrh-openai-http",
}


def build(options: OpenAIHttpOptions, context: BuildContext) -> OpenAIHttpModel:
    """Build the model from its options and the environment."""
    return OpenAIHttpModel.from_environment(options, context.log)


class OpenAIHttpModel:
    """A chat model behind `{base_url}/chat/completions`; sends each request exactly once."""

    def __init__(self, options: OpenAIHttpOptions, credentials: Credentials, proxy: str | None = None) -> None:
        """Prepare what all requests share; open no connection before the first one."""
        self._credentials = credentials
        self._url = URL(endpoint(options.base_url))
        self._proxy = proxy
        field = token_limit_field(options.max_tokens_field, options.base_url)
        self._payload = PayloadWriter(options.model, options.extra, field)
        self._fingerprint = _fingerprint(options, credentials)
        self._rates = Rates(input=0.0, output=0.0) if options.free else None
        # The gateway limits time; a second limit here would interfere.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=None)
        self._connection = Connection(credentials, _FIXED_HEADERS, timeout)

    @classmethod
    def from_environment(cls, options: OpenAIHttpOptions, log: Logger) -> OpenAIHttpModel:
        """Read key, headers and proxy from the environment and build the model.

        Raises:
            JrhError: A required environment variable is not set.
        """
        credentials = Credentials.from_environment(options, _OPENAI)
        if not credentials.headers:
            log.info("no key is sent: api_key_env names none", host=urlsplit(options.base_url).hostname)
        return cls(options, credentials, proxy_for(options.base_url) if options.use_proxy else None)

    @property
    def fingerprint(self) -> str:
        """Name the model and the endpoint, and a digest of what else routes: query, further headers, `extra`."""
        return self._fingerprint

    @property
    def rates(self) -> Rates | None:
        """Return zero for a free model, otherwise None: the protocol has no prices."""
        return self._rates

    async def complete(self, request: ChatRequest) -> Completion:
        """Send the request once and read the answer.

        Raises:
            ModelFault: for every failure. Its text holds no key and at most 500 characters of the provider's.
        """
        fault: ModelFault
        try:
            status, headers, body = await self._post(self._payload.write(request))
            # Longer than jrh reads: an answer that is too long, and no fault of the endpoint.
            if body is None:
                return Completion(text=None, finish_reason=TOO_LONG)
            if status in _OK:
                limits = rate_limit_headers(headers)
                return evolve(read_completion(body), stated_limits=limits) if limits else read_completion(body)
            outcome = from_error_response(status, headers, body)
            if isinstance(outcome, Completion):
                return refusal_without_secrets(outcome, self._credentials.redact)
            fault = outcome
        except ModelFault as error:
            fault = error
        except NETWORK_ERRORS as error:
            fault = network_fault(error)
        # Raise outside the `except` block: a chained aiohttp error would carry the request headers, which hold the key.
        raise fault_without_secrets(fault, self._credentials.redact, keyless=not self._credentials.headers)

    async def aclose(self) -> None:
        """Close the session; closing twice, or without ever having asked, is fine."""
        await self._connection.aclose()

    def __repr__(self) -> str:
        """Show the fingerprint."""
        return f"OpenAIHttpModel({self._fingerprint})"

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes | None]:
        # aiohttp warns about large bodies written at once; a file object is written in chunks.
        data = aiohttp.BytesPayload(body) if len(body) < _BLOCKING_SIZE else BytesIO(body)
        response = await self._connection.session.post(self._url, data=data, allow_redirects=False, proxy=self._proxy)
        try:
            read = read_answer if response.status in _OK else read_start
            return response.status, response.headers, await read(response)
        finally:
            # An answer that is read to its end has given its connection back already.
            if not response.content.at_eof():
                response.close()


def endpoint(base_url: str) -> str:
    """Return the address of the chat completions; the base's query stays."""
    scheme, host, path, query, _ = urlsplit(base_url)
    return urlunsplit((scheme, host, f"{path.rstrip('/')}/chat/completions", query, ""))


def _fingerprint(options: OpenAIHttpOptions, credentials: Credentials) -> str:
    scheme, host, path, query, _ = urlsplit(options.base_url)
    name = f"openai-http/{options.model}@{urlunsplit((scheme, host, path.rstrip('/'), '', ''))}"
    # A gateway chooses the model by any of these, so they must change the fingerprint and with it the replay.
    headers = header_digests(credentials.further)
    return name + routing_digest({"query": query, "headers": headers, "extra": dict(options.extra)})
