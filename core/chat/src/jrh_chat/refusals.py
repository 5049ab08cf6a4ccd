"""Find in a provider's error the settings that a model refuses.

Many models accept no `temperature`, and gateways refuse what the provider behind them does not know. jrh then asks
without the setting, and the reply says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_WIRE: Final[Mapping[str, str]] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "random_seed": "seed",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "reasoning_effort": "reasoning_effort",
    "logprobs": "logprobs",
    "top_logprobs": "logprobs",
    "response_format": "json_schema",
}
"""Name in a provider's error -> setting of a request."""
_FORMS: Final = re.compile(
    r"(?<![\w-])(response_format|json_object|json_schema|tool_choice|tools|function_call\w*)(?![\w-])"
)
"""Names in an error about the form of a reply."""
_OUTPUT: Final = "output"
_REFUSED: Final = re.compile(
    r"support|allow|permit|deprecat|unknown|unrecogni[sz]ed|unexpected|extra (input|field|param)|not available|"
    r"unsettable|cannot be (set|changed|used)|may not be set|invalid (parameter|argument|field)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(
    r"\brange\b|between|less than|greater than|at (most|least)|<=|>=|≤|≥|too (large|high|low|small)|exceeds|"
    r"\bmaximum (value|allowed|of)|must be (a |an )?(positive|integer|number)",
    re.IGNORECASE,
)
"""A value that is out of range is a mistake of the suite, not a setting that the model does not have."""
_WORD: Final = re.compile(r"(?<![\w-])(" + "|".join(sorted(_WIRE, key=len, reverse=True)) + r")(?![\w-])")
_LONGEST: Final = 2000
"""Characters of an error that are searched."""


def refused_settings(text: str, named: str = "") -> tuple[str, ...]:
    """Return the settings that a provider's error says the model does not have; empty if it says something else.

    Args:
        text: of the error.
        named: the parameter that the error names in a field of its own, such as OpenAI's `param`.
    """
    text = text[:_LONGEST]
    # A request that asks for a form is about nothing else, so any error that names the form refuses it.
    form = (_OUTPUT,) if _FORMS.search(f"{named} {text}") else ()
    if not _REFUSED.search(text) or _RANGE.search(text):
        return form
    if named in _WIRE:
        return (_WIRE[named], *form)
    return (*dict.fromkeys(_WIRE[name] for name in _WORD.findall(text)), *form)
