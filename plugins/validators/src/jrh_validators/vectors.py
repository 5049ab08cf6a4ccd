"""Turn texts into unit vectors, whose dot product is their cosine similarity, in a matrix that grows by rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from attrs import frozen
from jrh_authoring import SentenceEncoder, VectorRows
from numpy.typing import NDArray

from jrh_validators.words import WORD

_FIRST_ROWS: Final = 16


class SparseRows:
    """Sparse unit vectors as one CSR matrix in three growing arrays; adding costs amortised O(non-zeros)."""

    def __init__(self, length: int) -> None:
        """Start without a row; `length` is that of a vector, zeros included."""
        self._values = np.empty(_FIRST_ROWS, dtype=np.float64)
        self._columns = np.empty(_FIRST_ROWS, dtype=np.int32)
        self._starts = np.zeros(_FIRST_ROWS, dtype=np.int32)
        self._used = 0
        self._spread = np.zeros(length, dtype=np.float64)
        """The vector that is compared, written out; zero in between."""

    def append(self, vector: Any) -> None:
        """Add a vector, a CSR matrix of shape (1, length)."""
        begin = int(self._starts[self._used])
        end = begin + int(vector.nnz)
        self._values = _with_room(self._values, end)
        self._columns = _with_room(self._columns, end)
        self._starts = _with_room(self._starts, self._used + 2)
        self._values[begin:end] = vector.data
        self._columns[begin:end] = vector.indices
        self._used += 1
        self._starts[self._used] = end

    def highest(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest dot product with the rows; 0 where there are none."""
        from scipy.sparse import csr_matrix

        if not self._used:
            return [0.0] * len(vectors)
        end = int(self._starts[self._used])
        shape = (self._used, len(self._spread))
        # Views of the used parts: nothing is copied.
        parts = (self._values[:end], self._columns[:end], self._starts[: self._used + 1])
        rows = csr_matrix(parts, shape=shape, copy=False)
        highest: list[float] = []
        for vector in vectors:
            self._spread[vector.indices] = vector.data
            highest.append(float((rows @ self._spread).max()))
            self._spread[vector.indices] = 0.0
        return highest


def _with_room(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """Return the array, or one of twice the length or more with the same beginning."""
    if rows <= len(array):
        return array
    grown = np.zeros((max(rows, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


class Rows(Protocol):
    """Vectors kept so far."""

    def append(self, vector: Any) -> None:
        """Add one."""

    def highest(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest cosine with those kept, 0 at least."""


@frozen(kw_only=True)
class Vectors:
    """One vector per text, and rows that can keep them."""

    of: Sequence[Any]
    length: int
    sparse: bool

    def rows(self) -> Rows:
        """Return rows that are still empty."""
        return SparseRows(self.length) if self.sparse else VectorRows(self.length)


def tfidf(texts: Sequence[str]) -> Vectors:
    """Weigh the words of each text by TF-IDF over all of them (scikit-learn: smoothed idf, L2 norm, lower case).

    The same texts in another order give the same weights. A text without a word is the zero vector.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(tokenizer=WORD.findall, token_pattern=None)
    if any(WORD.search(text) for text in texts):
        matrix = csr_matrix(vectorizer.fit_transform(texts))
    else:
        matrix = csr_matrix((len(texts), 1))
    return Vectors(of=[matrix[row] for row in range(len(texts))], length=matrix.shape[1], sparse=True)


def embeddings(texts: Sequence[str], encoder: str, base: Path) -> Vectors:
    """Embed each text with a sentence-transformers model, on the CPU.

    Args:
        texts: what to embed.
        encoder: a directory, relative to `base`, or the name of a model.
        base: the suite's directory.

    Raises:
        JrhError: sentence-transformers is not installed, or the model cannot be loaded.
    """
    loaded = SentenceEncoder(encoder, base, component="cosine-diversity", distribution="jrh-validators")
    matrix = loaded.encode(texts)
    return Vectors(of=list(matrix), length=matrix.shape[1], sparse=False)
