"""Build the arguments for litellm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jrh import ChatRequest
from jrh.errors import FaultKind, ModelFault
from jrh_chat import reply_form

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
        sampling = request.sampling
        for name, value in (
            ("temperature", sampling.temperature),
            ("top_p", sampling.top_p),
            ("max_tokens", sampling.max_tokens),
            ("seed", sampling.seed),
            ("reasoning_effort", sampling.reasoning_effort),
        ):
            if value is not None:
                arguments[name] = value
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
