"""Reject what is too near to what is there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh import Draft, Item, Json, Validation, content_id

from jrh_validators.options import DiversityOptions
from jrh_validators.vectors import Rows, Vectors, embeddings, tfidf

_DIGITS: Final = 6
"""Similarities are rounded, so that the order of additions never shows."""


@frozen(kw_only=True)
class CosineDiversity:
    """Keeps a draft that is not too similar to the items' own texts, nor to the drafts kept before it.

    Before means in the order of a hash of item, variant and text, not of position: the order in which drafts arrive
    decides nothing.
    """

    options: DiversityOptions
    base: Path

    async def validate_set(self, drafts: Sequence[tuple[Item, Draft]]) -> Sequence[Validation]:
        """Decide about all drafts; the score is the highest similarity found. A draft without text is accepted."""
        texts = [_text(draft.fields) for _, draft in drafts]
        seeds = [
            *dict.fromkeys(_text({name: item.fields.get(name) for name in draft.fields}) for item, draft in drafts)
        ]
        if not any(texts):
            return [Validation(accepted=True) for _ in drafts]
        vectors = self._vectors([*texts, *seeds])
        near = _Near.to(vectors, vectors.of[len(texts) :], self.options)
        validations = [Validation(accepted=True)] * len(drafts)
        for place in sorted(range(len(drafts)), key=lambda place: _rank(*drafts[place])):
            if texts[place]:
                validations[place] = near.decide(vectors.of[place])
        return validations

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        if self.options.encoder is None:
            return tfidf(texts)
        return embeddings(texts, self.options.encoder, self.base)


@frozen(kw_only=True)
class _Near:
    """What a draft must not be too near to."""

    seeds: Rows
    kept: Rows
    options: DiversityOptions

    @classmethod
    def to(cls, vectors: Vectors, seeds: Sequence[Any], options: DiversityOptions) -> _Near:
        near = cls(seeds=vectors.rows(), kept=vectors.rows(), options=options)
        for seed in seeds:
            near.seeds.append(seed)
        return near

    def decide(self, vector: Any) -> Validation:
        """Compare with seeds and kept drafts, and keep the draft if it is accepted."""
        to_seeds, to_kept = round(self.seeds.highest(vector), _DIGITS), round(self.kept.highest(vector), _DIGITS)
        reason = ""
        if _above(to_seeds, self.options.max_to_seeds):
            reason = "too near to an item's own text"
        elif _above(to_kept, self.options.max_to_kept):
            reason = "too near to a draft kept before"
        else:
            self.kept.append(vector)
        details: dict[str, Json] = {"to_seeds": to_seeds, "to_kept": to_kept}
        return Validation(accepted=not reason, score=max(to_seeds, to_kept), reason=reason, details=details)


def _above(similarity: float, limit: float | None) -> bool:
    return limit is not None and similarity > limit


def _text(fields: Mapping[str, Json]) -> str:
    return "\n\n".join(value for value in fields.values() if isinstance(value, str))


def _rank(item: Item, draft: Draft) -> str:
    return content_id(item.id, draft.variant, draft.strength, _text(draft.fields))
