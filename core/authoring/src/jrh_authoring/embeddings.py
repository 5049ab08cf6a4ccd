"""Embed texts as unit vectors, and keep vectors to compare new ones with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jrh import JrhError
from numpy.typing import NDArray


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
        # A directory next to the suite wins over a model of that name: a suite moves together with its files.
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
        vectors = self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


class VectorRows:
    """Unit vectors, dense or sparse (CSR rows), to compare others with."""

    def __init__(self) -> None:
        """Start without a row."""
        # A growing matrix would be copied for every row; a list of single rows would make a product per row.
        self._blocks: list[Any] = []

    def append(self, vector: Any) -> None:
        """Add a vector, dense of shape (length,) or sparse of shape (1, length)."""
        block = vector if hasattr(vector, "toarray") else np.asarray(vector, dtype=np.float32)[None, :]
        # Blocks of equal size are joined, as digits of a binary counter carry: a row is copied log(rows) times.
        while self._blocks and self._blocks[-1].shape[0] <= block.shape[0]:
            block = _stack([self._blocks.pop(), block])
        self._blocks.append(block)

    def highest(self, vectors: Sequence[Any]) -> list[float]:
        """Return for each vector the highest cosine with the rows; 0 where there are none or all are negative."""
        if not self._blocks or len(vectors) == 0:
            return [0.0] * len(vectors)
        # Dense vectors pass through the processor's cache in one product; sparse ones would fill the memory.
        sparse = hasattr(vectors[0], "toarray")
        matrices = (vector.toarray().T for vector in vectors) if sparse else (np.stack(vectors).T,)
        return [
            # A negative cosine means as little likeness as none.
            max(0.0, float(value))
            for columns in matrices
            for value in np.max([(block @ columns).max(axis=0) for block in self._blocks], axis=0)
        ]


def _stack(blocks: Sequence[Any]) -> Any:
    if not hasattr(blocks[0], "toarray"):
        return np.concatenate(blocks)
    from scipy.sparse import vstack

    return vstack(blocks, format="csr")
