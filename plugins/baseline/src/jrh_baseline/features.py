"""Turn texts into rows of a sparse matrix: TF-IDF of words and characters, and standardised style statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
_REQUEST: Final = 0.5
"""Weight of the request's words: they say which question it is, and less about how well it was answered."""
_LIMIT: Final = 4.0
"""Clip style statistics at this many standard deviations: one odd text must not outweigh all words."""

_WORDS: Final[Mapping[str, Any]] = {"analyzer": "word", "ngram_range": (1, 2)}
_ANALYSERS: Final[tuple[Mapping[str, Any], ...]] = (_WORDS, {"analyzer": "char_wb", "ngram_range": (3, 5)})


@frozen(kw_only=True)
class Features:
    """Features fitted to training texts: document frequencies, means and deviations of the statistics."""

    weights: tuple[Any, ...]
    """One fitted `TfidfTransformer` per kind of n-gram."""
    columns: tuple[Any, ...]
    """Columns that occur in training, per kind of n-gram; all others would have weight 0 and cost time."""
    scaler: Any
    """A fitted `StandardScaler`."""
    requests: bool
    """The words of the request are features of their own."""

    @classmethod
    def fit(cls, documents: Sequence[Document], *, requests: bool) -> Features:
        """Learn from training texts; at least one is needed."""
        counted = _count(documents, requests)
        return cls(
            requests=requests,
            weights=tuple(TfidfTransformer(sublinear_tf=True).fit(counts) for counts in counted),
            columns=tuple(np.unique(counts.indices) for counts in counted),
            scaler=StandardScaler().fit(_statistics(documents)),
        )

    def transform(self, documents: Sequence[Document]) -> csr_matrix:
        """Return one row per document; a row depends only on its own document."""
        counted = _count(documents, self.requests)
        grams = [
            weight.transform(counts)[:, columns]
            for weight, columns, counts in zip(self.weights, self.columns, counted, strict=True)
        ]
        if self.requests:
            grams[-1] = grams[-1] * _REQUEST
        statistics = np.clip(self.scaler.transform(_statistics(documents)), -_LIMIT, _LIMIT)
        return csr_matrix(hstack([*grams, csr_matrix(statistics)], format="csr"))


def _count(documents: Sequence[Document], requests: bool) -> list[csr_matrix]:
    texts = [document.text for document in documents]
    found = [_grams(texts, analyser) for analyser in _ANALYSERS]
    return [*found, _grams([document.request for document in documents], _WORDS)] if requests else found


def _grams(texts: Sequence[str], analyser: Mapping[str, Any]) -> csr_matrix:
    return HashingVectorizer(n_features=_BUCKETS, alternate_sign=False, norm=None, **analyser).transform(texts)


def _statistics(documents: Sequence[Document]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([style(document) for document in documents], dtype=np.float64)
