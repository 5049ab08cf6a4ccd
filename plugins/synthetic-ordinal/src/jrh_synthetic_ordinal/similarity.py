"""Compute cosine similarities of TF-IDF vectors kept in one growing matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

_WORD: Final = r"(?u)\b\w+\b"
_FEATURES: Final = 2**20
"""Hash buckets for words, so that words no item has also count, with the weight of the rarest."""
_DIGITS: Final = 6
"""Similarities are rounded so that the summation order cannot affect a decision."""
_FIRST: Final = 1024
_REMEMBERED: Final = 1024
"""Vectors cached: each text is compared on arrival, after its round, and when it is kept."""


class Rows:
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

    def nearest(self, vector: Any) -> float:
        """Return the highest cosine of a unit vector with the rows; 0 where there are none."""
        if not self._rows:
            return 0.0
        end = int(self._starts[self._rows])
        self._spread[vector.indices] = vector.data
        parts = (self._values[:end], self._columns[:end], self._starts[: self._rows + 1])
        # Views of the used parts: nothing is copied.
        products = csr_matrix(parts, shape=(self._rows, _FEATURES), copy=False) @ self._spread
        self._spread[vector.indices] = 0.0
        return round(float(products.max()), _DIGITS)


def _grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    if needed <= len(array):
        return array
    grown = np.zeros(max(needed, 2 * len(array)), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


class Similarity:
    """Compares texts with the responses of the items, and with the texts kept so far."""

    def __init__(self, seeds: Sequence[str]) -> None:
        """Weigh words by how few of these texts have them; the texts' order does not matter."""
        self._counts = HashingVectorizer(
            n_features=_FEATURES, alternate_sign=False, norm=None, token_pattern=_WORD, lowercase=True
        )
        counted = self._counts.transform([*seeds] or [""])
        self._weights = TfidfTransformer(sublinear_tf=True).fit(counted)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._vector)
        self._seeds, self._kept = Rows(), Rows()
        for row in csr_matrix(self._weights.transform(counted)):
            self._seeds.append(row)

    def vector(self, text: str) -> Any:
        """Return the unit vector of a text."""
        return self._remembered(text)

    def _vector(self, text: str) -> Any:
        return csr_matrix(self._weights.transform(self._counts.transform([text])))

    def to_seeds(self, vector: Any) -> float:
        """Return the highest cosine with the response of an item."""
        return self._seeds.nearest(vector)

    def to_kept(self, vector: Any) -> float:
        """Return the highest cosine with a text kept before."""
        return self._kept.nearest(vector)

    def keep(self, vector: Any) -> None:
        """Add a text to those kept."""
        self._kept.append(vector)
