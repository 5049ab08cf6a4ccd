"""Turn texts into unit vectors, whose dot product is their cosine similarity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jrh_authoring import WORD, SentenceEncoder


def vectors_of(texts: Sequence[str], encoder: str | None, base: Path) -> Sequence[Any]:
    """Return the vectors of texts.

    Args:
        texts: what to compare.
        encoder: a sentence-transformers model: a directory, relative to `base`, or a name. None: TF-IDF.
        base: the suite's directory.

    Raises:
        JrhError: sentence-transformers is not installed, or the model cannot be loaded.
    """
    if encoder is None:
        return tfidf(texts)
    loaded = SentenceEncoder(encoder, base, component="cosine-diversity", distribution="jrh-validators")
    return list(loaded.encode(texts))


def tfidf(texts: Sequence[str]) -> Sequence[Any]:
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
    return [matrix[row] for row in range(len(texts))]
