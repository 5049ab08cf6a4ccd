"""Ask a chat model through litellm, exactly one request per call."""

from __future__ import annotations

import difflib
import math
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
from jrh_chat import fault_without_secrets, refusal_without_secrets, reply_form, sampling_fields

from jrh_litellm import library
from jrh_litellm.options import LiteLLMOptions
from jrh_litellm.reading import read_completion, translate

# The gateway holds the time limit; litellm's own must not be shorter.
_NO_TIMEOUT: Final = 24 * 3600.0


class ArgumentWriter:
    """Writes the arguments of `litellm.acompletion`; what is the same for all calls is prepared once."""

    __slots__ = ("_fixed", "_supported")

    def __init__(self, fixed: Mapping[str, Any], supported: frozenset[str] | None) -> None:
        """Keep the fixed arguments, and the parameters the model knows; None where litellm cannot say."""
        self._fixed = {
            **fixed,
            "num_retries": 0,
            "max_retries": 0,
            "caching": False,
            "timeout": _NO_TIMEOUT,
        }
        self._supported = supported

    def write(self, request: ChatRequest) -> dict[str, Any]:
        """Return the arguments. A JSON shape and log probabilities are asked for only where the model knows them."""
        arguments = self._fixed.copy()
        arguments["messages"] = [{"role": message.role, "content": message.content} for message in request.messages]
        arguments |= sampling_fields(request.sampling)
        arguments |= self._form(request)
        if request.top_logprobs and self._knows("top_logprobs"):
            arguments["logprobs"] = True
            arguments["top_logprobs"] = request.top_logprobs
        return arguments

    def _form(self, request: ChatRequest) -> dict[str, Any]:
        form = reply_form(request)
        unknown = [name for name in form if not self._knows(name)]
        if unknown and request.output:
            detail = f"litellm does not support {' and '.join(unknown)} for this model"
            raise ModelFault(FaultKind.REJECTED, detail, settings=("output",), sent=False)
        # A request with tools would go through litellm's MCP handler, which needs a package of its own.
        return {} if unknown else form | ({"_skip_mcp_handler": True} if "tools" in form else {})

    def _knows(self, parameter: str) -> bool:
        return self._supported is None or parameter in self._supported


def rates_of(model: str, price_list: Mapping[str, Mapping[str, Any]]) -> Rates | None:
    """Return the prices of `provider/name`, or None if the list has none per token.

    Discounts of batches and surcharges for very long prompts are left out.
    """
    entry = _entry(model, price_list)
    prices = _price(entry.get("input_cost_per_token")), _price(entry.get("output_cost_per_token"))
    if prices[0] is None or prices[1] is None:
        return None
    limit = entry.get("max_output_tokens")
    return Rates(
        input=prices[0],
        output=prices[1],
        cached_input=_price(entry.get("cache_read_input_token_cost")),
        max_output_tokens=limit if isinstance(limit, int) and limit > 0 else None,
    )


def _entry(model: str, price_list: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    provider, _, name = model.partition("/")
    if model in price_list:
        return price_list[model]
    # Most entries omit the provider's name; another provider's model of the same name may cost something else.
    entry = price_list.get(name, {})
    return entry if entry.get("litellm_provider") == provider else {}


def _price(value: object) -> float | None:
    if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
        return float(value)
    return None


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
        self._arguments = ArgumentWriter(
            _constant_parameters(options, key, headers or {}), _supports(self._litellm, options.model)
        )
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
                return refusal_without_secrets(outcome, self._redact)
            fault = outcome
        finally:
            library.freeze_garbage()
        # Raise outside the `except` block: a chained exception would carry the request headers, which hold the key.
        raise fault_without_secrets(fault, self._redact, keyless=self._keyless)

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


_asking: WeakSet[LiteLLMModel] = WeakSet()


def _constant_parameters(options: LiteLLMOptions, key: str | None, headers: Mapping[str, str]) -> dict[str, Any]:
    named = {
        "model": options.model,
        "api_base": options.api_base,
        "api_key": key,
        "api_version": options.api_version,
        "drop_params": options.drop_params or None,
        "extra_headers": {**_plain_headers(options), **headers} or None,
    }
    return {**options.extra, **{name: value for name, value in named.items() if value is not None}}


def _supports(litellm: Any, model: str) -> frozenset[str] | None:
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
