"""Turn texts into rows of a sparse matrix: TF-IDF of words and characters, and standardised style statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.preprocessing import StandardScaler

from jrh_baseline.documents import Document
from jrh_baseline.style import style

_BUCKETS: Final = 2**18
"""Columns per kind of n-gram. Hashing needs no vocabulary, so texts without words need no special case."""
_LIMIT: Final = 4.0
"""Clip style statistics at this many standard deviations: one odd text must not outweigh all words."""

_ANALYSERS: Final = (
    {"analyzer": "word", "ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (3, 5)},
)


@frozen(kw_only=True)
class Features:
    """Features fitted to training texts: document frequencies, means and deviations of the statistics."""

    weights: tuple[Any, ...]
    """One fitted `TfidfTransformer` per kind of n-gram."""
    columns: tuple[Any, ...]
    """Columns that occur in training, per kind of n-gram; all others would have weight 0 and cost time."""
    scaler: Any
    """A fitted `StandardScaler`."""

    @classmethod
    def fit(cls, documents: Sequence[Document]) -> Features:
        """Learn from training texts; at least one is needed."""
        counted = _count(documents)
        return cls(
            weights=tuple(TfidfTransformer(sublinear_tf=True).fit(counts) for counts in counted),
            columns=tuple(np.unique(counts.indices) for counts in counted),
            scaler=StandardScaler().fit(_statistics(documents)),
        )

    def transform(self, documents: Sequence[Document]) -> csr_matrix:
        """Return one row per document; a row depends only on its own document."""
        grams = [
            weight.transform(counts)[:, columns]
            for weight, columns, counts in zip(self.weights, self.columns, _count(documents), strict=True)
        ]
        statistics = np.clip(self.scaler.transform(_statistics(documents)), -_LIMIT, _LIMIT)
        return csr_matrix(hstack([*grams, csr_matrix(statistics)], format="csr"))


def _count(documents: Sequence[Document]) -> list[csr_matrix]:
    texts = [document.text for document in documents]
    return [
        HashingVectorizer(n_features=_BUCKETS, alternate_sign=False, norm=None, **analyser).transform(texts)
        for analyser in _ANALYSERS
    ]


def _statistics(documents: Sequence[Document]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([style(document) for document in documents], dtype=np.float64)
