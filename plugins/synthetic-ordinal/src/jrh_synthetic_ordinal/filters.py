"""Reject responses that are too similar to existing ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve
from jrh import Item
from jrh_authoring import SentenceEncoder

from jrh_synthetic_ordinal.buckets import Attempt
from jrh_synthetic_ordinal.similarity import Meanings, Similarity, Words

TO_SEEDS: Final = "too similar to an item's own text"
TO_KEPT: Final = "too similar to a draft already kept"


class Filters:
    """Checks responses and remembers those that were kept."""

    def __init__(
        self,
        items: Sequence[Item],
        max_to_seeds: float | None,
        max_to_kept: float | None,
        encoder: SentenceEncoder | None = None,
    ) -> None:
        """Take the items' responses as seeds; a limit of None disables that check, no encoder means TF-IDF."""
        texts = [item.fields.get("response") for item in sorted(items, key=lambda item: item.id)]
        seeds = [text for text in texts if isinstance(text, str)]
        self._similarity = Similarity(Words(seeds) if encoder is None else Meanings(encoder), seeds)
        self._max_to_seeds = max_to_seeds
        self._max_to_kept = max_to_kept
        self._texts: set[str] = set()
        """Kept texts, for exact look-up only."""
        self._arrived: dict[str, tuple[Any, float]] = {}
        """The texts of this round: vector, and similarity to the seeds."""

    def arrive(self, texts: Sequence[str]) -> None:
        """Compute the vectors of a round's texts in one batch; those of the round before are forgotten."""
        fresh = [*dict.fromkeys(texts)]
        vectors = self._similarity.space.vectors(fresh)
        self._arrived = dict(zip(fresh, zip(vectors, self._similarity.to_seeds(vectors), strict=True), strict=True))

    def look(self, attempt: Attempt) -> Attempt:
        """Return the attempt, whose text has arrived, with its similarities and, if it is rejected, the reason."""
        vector, to_seeds = self._arrived[attempt.text]
        to_kept = self._similarity.to_kept(vector)
        rejected = ""
        if self._max_to_seeds is not None and to_seeds > self._max_to_seeds:
            rejected = TO_SEEDS
        elif _bare(attempt.text) in self._texts or (self._max_to_kept is not None and to_kept > self._max_to_kept):
            rejected = TO_KEPT
        return evolve(attempt, to_seeds=to_seeds, to_kept=to_kept, rejected=rejected)

    def keep(self, attempt: Attempt) -> None:
        """Remember a response that fills a bucket."""
        self._similarity.keep(self._arrived[attempt.text][0])
        self._texts.add(_bare(attempt.text))


def _bare(text: str) -> str:
    return " ".join(text.split())
