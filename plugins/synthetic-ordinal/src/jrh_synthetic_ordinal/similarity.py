"""Compute cosine similarities with growing matrices of vectors: TF-IDF, or sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jrh_authoring import SentenceEncoder, VectorRows
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

_WORD: Final = r"(?u)\b\w+\b"
_FEATURES: Final = 2**20
"""Hash buckets for words, so that words no item has also count, with the weight of the rarest."""
_DIGITS: Final = 6
"""Similarities are rounded so that the summation order cannot affect a decision."""


class Words:
    """TF-IDF vectors, weighed by how few of some texts have a word; the order of those texts does not matter."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Weigh the words by these texts."""
        self._counts = HashingVectorizer(
            n_features=_FEATURES, alternate_sign=False, norm=None, token_pattern=_WORD, lowercase=True
        )
        self._weights = TfidfTransformer(sublinear_tf=True).fit(self._counts.transform([*texts] or [""]))

    def vectors(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one sparse row per text."""
        return list(csr_matrix(self._weights.transform(self._counts.transform(texts)))) if texts else []


class Meanings:
    """Sentence embeddings."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        """Embed with this encoder."""
        self._encoder = encoder

    def vectors(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one dense vector per text."""
        return list(self._encoder.encode(texts)) if texts else []


def space_of(encoder: str | None, base: Path, texts: Sequence[str]) -> Words | Meanings:
    """Return how texts are compared: by a model that is named, or by TF-IDF with the weights of some texts."""
    if encoder is None:
        return Words(texts)
    named = {"component": "synthetic-ordinal", "distribution": "jrh-synthetic-ordinal"}
    return Meanings(SentenceEncoder(encoder, base, **named))


class Similarity:
    """Compares vectors with those of the items' responses, and with those kept so far."""

    def __init__(self, space: Words | Meanings, seeds: Sequence[str]) -> None:
        """Compute the vectors of the items' responses, all at once."""
        self.space = space
        self._seeds, self._kept = VectorRows(), VectorRows()
        for vector in space.vectors([*dict.fromkeys(seeds)]):
            self._seeds.append(vector)

    def to_seeds(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest cosine with the response of an item."""
        return [round(value, _DIGITS) for value in self._seeds.highest(vectors)]

    def to_kept(self, vector: Any) -> float:
        """Return the highest cosine with a vector kept before."""
        return round(self._kept.highest([vector])[0], _DIGITS)

    def keep(self, vector: Any) -> None:
        """Add a vector to those kept."""
        self._kept.append(vector)
