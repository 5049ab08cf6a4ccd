"""Ask a chat model through litellm, exactly one request per call."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakSet

from jrh import ChatRequest, JrhError
from jrh.errors import FaultKind, ModelFault
from jrh.models import header_digests, routing_digest
from jrh.plugins import Completion, Rates, read_secret
from jrh.text import Redactor
from jrh_chat import error_text

from jrh_litellm import library
from jrh_litellm.arguments import ArgumentWriter
from jrh_litellm.faults import translate
from jrh_litellm.options import LiteLLMOptions
from jrh_litellm.prices import rates_of
from jrh_litellm.reading import read_completion

_PLACEHOLDER: Final = "no-key"
_SHORTEST: Final = 8
"""Shorter header values are no secrets, and would be masked in every text."""
# These clouds sign in without an API key, so none is required; naming one of them is explicit enough.
_CLOUDS: Final = frozenset(
    {"bedrock", "bedrock_converse", "oci", "sagemaker", "sagemaker_chat", "vertex_ai", "vertex_ai_beta"}
)


class LiteLLMModel:
    """A chat model behind litellm; sends each request exactly once."""

    def __init__(self, options: LiteLLMOptions, key: str | None, headers: Mapping[str, str] | None = None) -> None:
        """Prepare what all calls share; open no connection before the first one."""
        self._litellm = library.load()
        self._keyless = key == _PLACEHOLDER
        # litellm reads keys from the environment itself, so any of them may turn up in a provider's text.
        self._redact = Redactor.from_environment(
            also=[*([key] if key and not self._keyless else []), *(headers or {}).values()]
        )
        self._arguments = ArgumentWriter(_fixed(options, key, headers or {}), _supported(self._litellm, options.model))
        self._fingerprint = _fingerprint(options, headers or {})
        self._rates = rates_of(options.model, self._litellm.model_cost)

    @classmethod
    def from_environment(cls, options: LiteLLMOptions) -> LiteLLMModel:
        """Find the key and build the model.

        Raises:
            JrhError: litellm does not know the provider, or the key is not set.
        """
        litellm = library.load()
        _check_provider(litellm, options.model)
        headers = {name: _header(name, variable) for name, variable in options.headers_env.items()}
        return cls(options, _key(litellm, options), headers)

    @property
    def fingerprint(self) -> str:
        """Name the model and the endpoint, and a digest of what else routes: query, headers, version, `extra`."""
        return self._fingerprint

    @property
    def rates(self) -> Rates | None:
        """Return the prices of litellm's list, or None where it has none."""
        return self._rates

    async def complete(self, request: ChatRequest) -> Completion:
        """Ask once and read the answer.

        Raises:
            ModelFault: for every failure. Its text holds no key and at most 500 characters of the provider's.
        """
        _asking.add(self)
        fault: ModelFault
        try:
            return read_completion(await self._litellm.acompletion(**self._arguments.write(request)))
        except ModelFault as error:
            fault = error
        except Exception as error:
            outcome = translate(error)
            if isinstance(outcome, Completion):
                return self._without_secrets(outcome)
            fault = outcome
        finally:
            library.freeze_garbage()
        # Raise outside the `except` block: a chained exception would carry the request headers, which hold the key.
        raise fault.with_detail(self._detail(fault))

    async def aclose(self) -> None:
        """Close litellm's connections once no other model uses them; closing twice is fine."""
        if self not in _asking:
            return
        _asking.discard(self)
        if not _asking:
            await library.close_clients()

    def __repr__(self) -> str:
        """Show the fingerprint."""
        return f"LiteLLMModel({self._fingerprint})"

    def _detail(self, fault: ModelFault) -> str:
        keyless = fault.kind is FaultKind.UNAUTHORIZED and self._keyless
        hint = "no key was sent; name its environment variable in api_key_env; " if keyless else ""
        return error_text(hint + fault.detail, self._redact)

    def _without_secrets(self, completion: Completion) -> Completion:
        refusal = error_text(completion.refusal or "", self._redact)
        return Completion(text=None, finish_reason=completion.finish_reason, refusal=refusal)


# litellm's connections are one pool for the process: they are closed when the last model that has asked is done.
_asking: WeakSet[LiteLLMModel] = WeakSet()


def _fixed(options: LiteLLMOptions, key: str | None, headers: Mapping[str, str]) -> dict[str, Any]:
    named = {
        "model": options.model,
        "api_base": options.api_base,
        "api_key": key,
        "api_version": options.api_version,
        "drop_params": options.drop_params or None,
        "extra_headers": {**_plain_headers(options), **headers} or None,
    }
    return {**options.extra, **{name: value for name, value in named.items() if value is not None}}


def _supported(litellm: Any, model: str) -> frozenset[str] | None:
    provider, _, name = model.partition("/")
    known = litellm.get_supported_openai_params(model=name, custom_llm_provider=provider)
    return frozenset(known) if known else None


def _plain_headers(options: LiteLLMOptions) -> dict[str, Any]:
    written = options.extra.get("extra_headers")
    return dict(written) if isinstance(written, Mapping) else {}


def _header(name: str, variable: str) -> str:
    value = read_secret(variable)
    if not value:
        raise JrhError(f"litellm: environment variable {variable} is not set; header {name} needs it")
    return value


def _fingerprint(options: LiteLLMOptions, headers: Mapping[str, str]) -> str:
    name = f"litellm/{options.model}"
    query = ""
    if options.api_base:
        scheme, host, path, query, _ = urlsplit(options.api_base)
        name += f"@{urlunsplit((scheme, host, path.rstrip('/'), '', ''))}"
    # A gateway chooses the model by any of these, so they must change the fingerprint and with it the replay.
    return name + routing_digest(
        {
            "query": query,
            "headers": header_digests(headers),
            "extra": dict(options.extra),
            "version": options.api_version,
            "elsewhere": "" if options.api_base else _elsewhere(options.model.partition("/")[0]),
        }
    )


def _elsewhere(provider: str) -> list[str]:
    """Return the addresses that litellm reads from the environment instead of using the provider's own."""
    names = (f"{provider.upper()}_{end}" for end in ("API_BASE", "BASE_URL", "API_VERSION"))
    return [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]


def _check_provider(litellm: Any, model: str) -> None:
    provider = model.partition("/")[0]
    known = sorted(str(getattr(entry, "value", entry)) for entry in litellm.provider_list)
    if provider in known:
        return
    close = difflib.get_close_matches(provider, known, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else "see https://docs.litellm.ai/docs/providers"
    raise JrhError(f"litellm: unknown provider '{provider}' in model '{model}'; {hint}")


def _key(litellm: Any, options: LiteLLMOptions) -> str | None:
    """Return the key to pass on, or None if litellm finds its credentials itself."""
    if options.api_key_env:
        key = read_secret(options.api_key_env)
        if not key:
            raise JrhError(f"litellm: environment variable {options.api_key_env} is not set (api_key_env)")
        return key
    if options.api_base:
        # Without a placeholder, litellm would send the provider's own key to this other server.
        return None if options.model.partition("/")[0] in _CLOUDS else _PLACEHOLDER
    missing = litellm.validate_environment(options.model)["missing_keys"]
    if len(missing) == 1 and missing[0].endswith("_API_KEY") and not read_secret(missing[0]):
        raise JrhError(f"litellm: model '{options.model}' needs a key; set environment variable {missing[0]}")
    return None
