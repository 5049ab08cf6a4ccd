"""What a check of cosine-diversity costs at 5,000 kept samples, against stacking all kept vectors for every check."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jrh_validators.rows import DenseRows, SparseRows
from jrh_validators.vectors import tfidf
from scipy.sparse import vstack

from tests.benchmarks.table import Line

KEPT = 5_000
CHECKS = 64
"""As many as the validator compares in one go."""
ROUNDS = 5
"""The fastest counts, of both ways: what else the machine does is no part of either."""
WORDS_PER_TEXT = 150
VOCABULARY = 8_000
EMBEDDING = 384
"""Length of the vectors of small sentence encoders."""


def lines(folder: Path) -> list[Line]:
    """Compare for TF-IDF and for embeddings; aim 10."""
    texts = tfidf(_texts(KEPT + CHECKS))
    noise = np.random.default_rng(1).normal(size=(KEPT + CHECKS, EMBEDDING)).astype(np.float32)
    vectors = list(noise / np.linalg.norm(noise, axis=1, keepdims=True))
    return [
        _line("TF-IDF", SparseRows(texts.length), texts.of, lambda kept, new: (vstack(kept) @ new.T).max()),
        _line("embeddings", DenseRows(EMBEDDING), vectors, lambda kept, new: (np.vstack(kept) @ new).max()),
    ]


def _line(what: str, rows: Any, vectors: Sequence[Any], stacked: Callable[[Sequence[Any], Any], float]) -> Line:
    kept, new = list(vectors[:KEPT]), vectors[KEPT:]
    for vector in kept:
        rows.append(vector)
    ours, found = _seconds(lambda: rows.highest(new))
    theirs, expected = _seconds(lambda: [float(stacked(kept, vector)) for vector in new])
    assert np.allclose(found, expected, atol=1e-5), "the two ways disagree"
    return Line(
        what=f"check against {KEPT} kept / re-stacked, {what}",
        ours=f"{ours * 1000:.2f} ms",
        theirs=f"{theirs * 1000:.2f} ms",
        result=theirs / ours,
        aim=10,
        unit="times",
    )


def _seconds(check: Callable[[], list[float]]) -> tuple[float, list[float]]:
    """Return the seconds per check, and what the checks found."""
    best, found = float("inf"), list[float]()
    for _ in range(ROUNDS):
        started = time.perf_counter()
        found = check()
        best = min(best, time.perf_counter() - started)
    return best / CHECKS, found


def _texts(count: int) -> list[str]:
    """Write texts whose words are as unevenly frequent as those of a language."""
    draws = random.Random(1)
    words = [f"w{number}" for number in range(VOCABULARY)]
    weights = [1 / (number + 1) for number in range(VOCABULARY)]
    return [" ".join(draws.choices(words, weights, k=WORDS_PER_TEXT)) for _ in range(count)]
