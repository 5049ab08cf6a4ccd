"""Reject drafts that are too far from their original in meaning, as far as vectors tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, Validation

from jrh_validators.drafts import changed_texts
from jrh_validators.options import SimilarityOptions
from jrh_validators.vectors import Vectors, vectors_of

_DIGITS: Final = 6


@frozen(kw_only=True)
class CosineSimilarity:
    """Keeps a draft whose changed texts, prompt templates included, all stay close to what they replace."""

    options: SimilarityOptions
    base: Path

    @classmethod
    def build(cls, options: SimilarityOptions, context: BuildContext) -> CosineSimilarity:
        """Build the validator from its options."""
        return cls(options=options, base=context.base)

    async def validate_set(self, drafts: Sequence[tuple[Item, Draft]]) -> Sequence[Validation]:
        """Decide about all drafts; the score is the lowest similarity. A draft without a changed text is accepted."""
        pairs = [changed_texts(item, draft) or {} for item, draft in drafts]
        texts = list(dict.fromkeys(text for changed in pairs for pair in changed.values() for text in pair))
        if not texts:
            return [Validation(accepted=True) for _ in drafts]
        vectors = vectors_of(texts, self.options.encoder, self.base)
        place = {text: number for number, text in enumerate(texts)}
        found = []
        for changed in pairs:
            scores = [self._cosine(vectors, place[one], place[other]) for one, other in changed.values()]
            lowest = round(min(scores, default=1.0), _DIGITS)
            kept = lowest >= self.options.min_to_original
            reason = "" if kept else "too far from the original"
            found.append(Validation(accepted=kept, score=lowest, reason=reason, details={"similarity": lowest}))
        return found

    @staticmethod
    def _cosine(vectors: Vectors, one: int, other: int) -> float:
        rows = vectors.rows()
        rows.append(vectors.of[one])
        return rows.highest([vectors.of[other]])[0]
