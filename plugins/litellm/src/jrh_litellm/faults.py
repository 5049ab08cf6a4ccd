"""Translate litellm's exceptions into the kernel's faults.

litellm maps every failure to its own exceptions. A broken connection, an answer that is not JSON and a real "500" all
become `InternalServerError`; the chained original exceptions tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jrh.errors import FaultKind, ModelFault
from jrh.models import refused_settings
from jrh.plugins import Completion
from jrh_chat import FILTERED, OUT_OF_FUNDS, http_fault, is_filtered, retry_after

_CODE: Final = re.compile(r"""["'](?:code|type)["']:\s*["'](\w+)["']""")
_CODES: Final = OUT_OF_FUNDS | FILTERED | {"context_length_exceeded"}
"""The codes that mean something of their own."""
_LITELLM_PREFIX: Final = re.compile(r"^(litellm\.\w+: )+")
_TRACEBACK: Final = "Traceback (most recent call last)"


def translate(error: Exception) -> ModelFault | Completion:
    """Turn what litellm raised into a fault, or into a refusal where the provider's content filter declined.

    The texts are the provider's own and may hold anything, keys included.
    """
    from litellm.exceptions import ContentPolicyViolationError

    chain = tuple(_chain(error))
    text = _text(error)
    code = _code(chain, text)
    status = _http_status(chain)
    if isinstance(error, ContentPolicyViolationError) or is_filtered(status, code):
        return Completion(text=None, finish_reason="content_filter", refusal=text)
    if status is not None:
        headers = getattr(error, "litellm_response_headers", None) or {}
        return http_fault(status, code, text, wait=retry_after(headers), named=_named(chain))
    if code in OUT_OF_FUNDS:
        return ModelFault(FaultKind.NO_CREDIT, text)
    kind = _kind_without_answer(error, chain)
    # litellm itself refuses what it knows that the model does not have; nothing was sent.
    settings = refused_settings(text) if kind is FaultKind.REJECTED else ()
    return ModelFault(kind, text, settings=settings, sent=not _never_connected(chain))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the exception and its causes; stop at a cycle."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def _named(chain: tuple[BaseException, ...]) -> str:
    """Return the parameter that the provider's error names in a field of its own."""
    for error in chain:
        body: Any = getattr(error, "body", None)
        named = body.get("param") if isinstance(body, Mapping) else None
        if isinstance(named, str):
            return named
    return ""


def _never_connected(chain: tuple[BaseException, ...]) -> bool:
    import aiohttp
    import httpx

    return any(isinstance(error, httpx.ConnectError | aiohttp.ClientConnectorError) for error in chain)


def _http_status(chain: tuple[BaseException, ...]) -> int | None:
    """Return the HTTP status at the root of the chain, or None if there was no response."""
    import httpx
    import openai

    for error in chain:
        # litellm's own kinds of these carry statuses that it made up.
        own = type(error).__module__.startswith("litellm")
        if isinstance(error, httpx.HTTPStatusError | openai.APIStatusError) and not own:
            return error.response.status_code
    return None


def _kind_without_answer(error: Exception, chain: tuple[BaseException, ...]) -> FaultKind:
    import aiohttp
    import httpx
    import openai
    from litellm.exceptions import Timeout

    def among(*kinds: type[BaseException]) -> bool:
        return any(isinstance(link, kinds) for link in chain)

    if among(openai.APITimeoutError, httpx.TimeoutException, Timeout, TimeoutError):
        return FaultKind.TIMEOUT
    if among(aiohttp.ClientResponseError):
        return FaultKind.MALFORMED
    if among(httpx.RequestError, aiohttp.ClientError, ConnectionError):
        return FaultKind.CONNECTION
    return _kind_of_litellm(error, chain)


def _kind_of_litellm(error: Exception, chain: tuple[BaseException, ...]) -> FaultKind:
    """Classify litellm's own findings: no request was sent, or the answer was unreadable."""
    import openai

    if isinstance(error, ImportError):
        return FaultKind.REJECTED
    if any(type(link) is openai.OpenAIError for link in chain):
        # The client could not even be made: no key.
        return FaultKind.UNAUTHORIZED
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or status == 500 or status < 400:  # noqa: PLR2004 - litellm's word for "no idea"
        return FaultKind.MALFORMED
    return ModelFault.from_http_status(status, "").kind


def _code(chain: tuple[BaseException, ...], text: str) -> str:
    for error in chain:
        body: Any = getattr(error, "body", None)
        for value in (body.get("code"), body.get("type")) if isinstance(body, Mapping) else ():
            if isinstance(value, str) and value in _CODES:
                return value
    found = (match.group(1) for match in _CODE.finditer(text))
    return next((value for value in found if value in _CODES), "")


def _text(error: Exception) -> str:
    """Return the exception's name and its text, without litellm's own repetitions and tracebacks."""
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) and message else str(error)
    text = _LITELLM_PREFIX.sub("", text.partition(_TRACEBACK)[0]).strip()
    name = type(error).__name__
    return text if text.startswith(name) else f"{name}: {text}"
