"""Embed texts as unit vectors, and keep vectors to compare new ones with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

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
