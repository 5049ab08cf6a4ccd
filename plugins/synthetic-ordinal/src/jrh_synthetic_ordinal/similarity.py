"""Compute cosine similarities with growing matrices of vectors: TF-IDF, or sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
from jrh_authoring import SentenceEncoder, VectorRows
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

_WORD: Final = r"(?u)\b\w+\b"
_FEATURES: Final = 2**20
"""Hash buckets for words, so that words no item has also count, with the weight of the rarest."""
_DIGITS: Final = 6
"""Similarities are rounded so that the summation order cannot affect a decision."""
_FIRST: Final = 1024


class Rows(Protocol):
    """Vectors to compare with."""

    def append(self, vector: Any) -> None:
        """Add one."""

    def highest(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest cosine with the rows, 0 at least."""


class Space(Protocol):
    """A way to turn texts into unit vectors."""

    def vectors(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one unit vector per text, all computed at once."""

    def rows(self) -> Rows:
        """Return rows that are still empty."""


class SparseRows:
    """Sparse vectors as the rows of one matrix in arrays that double when they are full: adding never copies all."""

    def __init__(self) -> None:
        """Start without a row."""
        self._values: NDArray[np.float64] = np.empty(_FIRST, dtype=np.float64)
        self._columns: NDArray[np.int32] = np.empty(_FIRST, dtype=np.int32)
        self._starts: NDArray[np.int32] = np.zeros(_FIRST, dtype=np.int32)
        self._rows = 0
        self._spread: NDArray[np.float64] = np.zeros(_FEATURES, dtype=np.float64)
        """The vector that is compared, written out; zero in between."""

    def append(self, vector: Any) -> None:
        """Add a vector, a CSR matrix of one row."""
        begin = int(self._starts[self._rows])
        end = begin + len(vector.data)
        self._values, self._columns = _grown(self._values, end), _grown(self._columns, end)
        self._starts = _grown(self._starts, self._rows + 2)
        self._values[begin:end] = vector.data
        self._columns[begin:end] = vector.indices
        self._rows += 1
        self._starts[self._rows] = end

    def highest(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest cosine with the rows; 0 where there are none."""
        if not self._rows:
            return [0.0] * len(vectors)
        end = int(self._starts[self._rows])
        parts = (self._values[:end], self._columns[:end], self._starts[: self._rows + 1])
        # Views of the used parts: nothing is copied.
        rows = csr_matrix(parts, shape=(self._rows, _FEATURES), copy=False)
        found = []
        for vector in vectors:
            self._spread[vector.indices] = vector.data
            found.append(float((rows @ self._spread).max()))
            self._spread[vector.indices] = 0.0
        return found


def _grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    if needed <= len(array):
        return array
    grown = np.zeros(max(needed, 2 * len(array)), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


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

    def rows(self) -> Rows:
        """Return rows that are still empty."""
        return SparseRows()


class Meanings:
    """Sentence embeddings."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        """Embed with this encoder."""
        self._encoder = encoder
        self._length = len(encoder.encode([""])[0])

    def vectors(self, texts: Sequence[str]) -> Sequence[Any]:
        """Return one dense vector per text."""
        return list(self._encoder.encode(texts)) if texts else []

    def rows(self) -> Rows:
        """Return rows that are still empty."""
        return VectorRows(self._length)


class Similarity:
    """Compares vectors with those of the items' responses, and with those kept so far."""

    def __init__(self, space: Space, seeds: Sequence[str]) -> None:
        """Compute the vectors of the items' responses, all at once."""
        self.space = space
        self._seeds, self._kept = space.rows(), space.rows()
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
