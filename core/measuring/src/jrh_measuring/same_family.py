"""Judges of the same model family as the gold labels, or as the author of what they judge.

Models of one vendor and series share training data, and mistakes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from attrs import frozen
from jrh import Item
from jrh.values import gold_source

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
# Letters may not follow: `phi` is no beginning of another word. Digits, dashes and dots may.
_PATTERNS: Final = tuple((family, re.compile(rf"(?:{names})(?![a-z])")) for family, names in SERIES)
AUTHORS: Final = ("author", "author_a", "author_b")
"""Metadata that name the model which wrote a response; `columns` of a data source map them."""


Kind: TypeAlias = Literal["gold", "responses"]
"""What a model family made."""
_SENTENCES: Final[Mapping[Kind, str]] = {
    "gold": "The gold labels of {share} come from {names}, of the same family ({family}) as the judge's model {model}. "
    "Agreement with them is agreement with model labels, and shared mistakes count as right.",
    "responses": "{names} wrote responses of {share} and is of the same family ({family}) as the judge's model "
    "{model}. Models tend to favour their own family's responses: compare the judge by author, or add a judge of "
    "another family.",
}


@frozen(kw_only=True)
class SameFamily:
    """A judge whose model is of the family that labelled the items, or wrote what is judged."""

    kind: Kind
    """What its family made."""
    judge: str
    affected: int
    """Items concerned."""
    items: int
    sentence: str


def same_families(items: Sequence[Item], models: Mapping[str, str]) -> Iterator[SameFamily]:
    """Yield what every judge shares with the gold labels, and with the authors of the responses.

    Args:
        items: of one task.
        models: judge -> name of its model; judges without a model, or of unknown family, share nothing.
    """
    for judge, model in models.items():
        family = model_family(model)
        if family is None:
            continue
        sources = [source.model for item in items if (source := gold_source(item))]
        labellers = Counter(name for name in sources if model_family(name) == family)
        # An item counts once, also where both of its responses are by models of the family.
        same = ([name for name in authors(item) if model_family(name) == family] for item in items)
        writers = Counter(names[0] for names in same if names)
        by_kind: dict[Kind, Counter[str]] = {"gold": labellers, "responses": writers}
        for kind, counts in by_kind.items():
            affected = sum(counts.values())
            if affected:
                share = f"all {len(items)} items" if affected == len(items) else f"{affected} of {len(items)} items"
                names = ", ".join(name for name, _ in counts.most_common(3))
                sentence = _SENTENCES[kind].format(share=share, names=names, family=family, model=model)
                yield SameFamily(kind=kind, judge=judge, affected=affected, items=len(items), sentence=sentence)


def authors(item: Item) -> Iterator[str]:
    """Yield the names of who wrote an item's responses, where the data say so."""
    for name in AUTHORS:
        value = item.metadata.get(name)
        if isinstance(value, str) and value:
            yield value


def model_family(name: str) -> str | None:
    """Return the family of a model name such as `openrouter/anthropic/claude-3.5-sonnet`; None for unknown ones.

    The name decides, not the provider: `azure/gpt-4o` is of the family `openai`, `deepseek-r1-distill-llama-70b` of
    `deepseek`.
    """
    # The last part of a path is the model; those before it are hosts and vendors, which serve other families, too.
    for part in reversed(re.split(r"[/:@]|(?<=[a-z])\.(?=[a-z])", name.casefold().strip())):
        for family, pattern in _PATTERNS:
            if pattern.match(part.strip()):
                return family
    return None
