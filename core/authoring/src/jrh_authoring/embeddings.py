"""Embed texts as unit vectors, and keep vectors to compare new ones with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from jrh.errors import JrhError
from numpy.typing import NDArray

_FIRST_ROWS: Final = 16


class SentenceEncoder:
    """Embeds texts with a sentence-transformers model, on the CPU."""

    def __init__(self, name: str, base: Path, *, component: str, distribution: str) -> None:
        """Load the model.

        Args:
            name: a directory, relative to `base`, or the name of a model.
            base: the suite's directory.
            component: the component that uses it, for messages.
            distribution: the distribution whose extra `embeddings` installs the library, for messages.

        Raises:
            JrhError: sentence-transformers is not installed, or the model cannot be loaded.
        """
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise JrhError(
                f"{component}: encoder '{name}' needs sentence-transformers; "
                f'install it with `pip install "{distribution}[embeddings]"`, or leave `encoder` out to use TF-IDF'
            ) from error
        directory = base / name
        try:
            self._model: Any = SentenceTransformer(str(directory) if directory.is_dir() else name, device="cpu")
        except (OSError, ValueError) as error:
            raise JrhError(
                f"{component}: encoder '{name}' is neither a directory relative to the suite nor a model that "
                f"can be loaded ({type(error).__name__}); check the name and the network"
            ) from error

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text as the rows of a matrix; the model sees all texts in one call."""
        made = self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(made, dtype=np.float32)


class VectorRows:
    """Unit vectors of equal length as the rows of one array that doubles when it is full."""

    def __init__(self, length: int) -> None:
        """Start without a row; `length` is that of a vector."""
        # Zeros: a matrix product may look at rows behind the used ones, and warns of what happens to be there.
        self._rows = np.zeros((_FIRST_ROWS, length), dtype=np.float32)
        self._used = 0

    def append(self, vector: Any) -> None:
        """Add a vector of shape (length,); amortised O(length)."""
        if self._used == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[self._used] = vector
        self._used += 1

    def highest(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest cosine with the rows; 0 where there are none or all are negative.

        All vectors are compared in one product, so the rows pass through the processor's cache only once.
        """
        if not self._used or len(vectors) == 0:
            return [0.0] * len(vectors)
        products = np.stack(vectors) @ self._rows[: self._used].T
        return [max(0.0, float(value)) for value in products.max(axis=1)]


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
        """Return for each vector the highest cosine with the rows; 0 where there are none."""
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


Rows: TypeAlias = VectorRows | SparseRows
"""Vectors kept so far."""
