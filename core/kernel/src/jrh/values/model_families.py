"""The family of a model by its name: models of one vendor and series share training data, and mistakes."""

from __future__ import annotations

import re
from typing import Final

SERIES: Final[tuple[tuple[str, str], ...]] = (
    ("openai", r"gpt|chatgpt|o[1-9]|davinci|text-davinci|codex|computer-use"),
    ("anthropic", r"claude"),
    ("google", r"gemini|gemma|palm|bison|flan|medgemma"),
    ("meta", r"llama|meta-llama|codellama|vicuna|alpaca"),
    ("mistral", r"mistral|mixtral|ministral|magistral|codestral|pixtral|devstral"),
    ("qwen", r"qwen|qwq|qvq|tongyi"),
    ("deepseek", r"deepseek"),
    ("xai", r"grok"),
    ("cohere", r"command|c4ai|aya"),
    ("microsoft", r"phi|orca|wizardlm"),
    ("amazon", r"nova|titan|amazon"),
    ("zhipu", r"glm|chatglm"),
    ("moonshot", r"kimi|moonshot"),
    ("ai2", r"olmo|tulu|molmo"),
    ("ibm", r"granite"),
    ("nvidia", r"nemotron"),
    ("ai21", r"jamba|jurassic"),
    ("01-ai", r"yi"),
    ("tii", r"falcon"),
    ("minimax", r"minimax|abab"),
    ("baidu", r"ernie"),
)
"""Family and the beginnings of its models' names. The first name that fits decides, the last part of a path first."""
_PATTERNS: Final = tuple((family, re.compile(rf"(?:{names})(?![a-z])")) for family, names in SERIES)


def model_family(name: str) -> str | None:
    """Return the family of a model name such as `openrouter/anthropic/claude-3.5-sonnet`; None for unknown ones.

    The name decides, not the provider: `azure/gpt-4o` is of the family `openai`, `deepseek-r1-distill-llama-70b` of
    `deepseek`.
    """
    for part in reversed(re.split(r"[/:@]|(?<=[a-z])\.(?=[a-z])", name.casefold().strip())):
        for family, pattern in _PATTERNS:
            if pattern.match(part.strip()):
                return family
    return None
