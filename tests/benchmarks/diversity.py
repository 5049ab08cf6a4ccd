"""What a check of similarity costs at 5,000 kept samples, against stacking all kept vectors for every check.

Where sentence-transformers is installed, `encode` is measured, too: a round's texts in one batch against one by one,
with a small transformer of random weights, made here.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jrh_authoring import SentenceEncoder, VectorRows
from jrh_validators.diversity import tfidf

from tests.benchmarks.table import Line

KEPT = 5_000
CHECKS = 64
"""As many as the validator compares in one go."""
ROUND = 120
"""Texts of one round of synthetic-ordinal: 20 items on six levels."""
ROUNDS = 5
"""The fastest counts, of both ways: what else the machine does is no part of either."""
WORDS_PER_TEXT = 150
VOCABULARY = 8_000
EMBEDDING = 384
"""Length of the vectors of small sentence encoders."""


def lines(folder: Path) -> list[Line]:
    """Compare for TF-IDF and for embeddings, aim 10; and `encode`, if it can be measured."""
    from scipy.sparse import vstack

    texts = tfidf(_texts(KEPT + CHECKS))
    noise = np.random.default_rng(1).normal(size=(KEPT + CHECKS, EMBEDDING)).astype(np.float32)
    vectors = list(noise / np.linalg.norm(noise, axis=1, keepdims=True))
    return [
        _line("TF-IDF", VectorRows(), texts, lambda kept, new: (vstack(kept) @ new.T).max()),
        _line("embeddings", VectorRows(), vectors, lambda kept, new: (np.vstack(kept) @ new).max()),
        *_encoding(folder),
    ]


def _encoding(folder: Path) -> list[Line]:
    """Encode the texts of one round together and one by one; nothing where the extra is not installed."""
    if find_spec("sentence_transformers") is None:
        return []
    encoder = SentenceEncoder(_transformer(folder), folder, component="benchmark", distribution="jrh-validators")
    texts = _texts(ROUND)
    encoder.encode(texts[:2])
    together, apart = (min(_timed(way) for _ in range(3)) for way in _ways(encoder, texts))
    return [
        Line(
            what=f"encode {ROUND} texts of {WORDS_PER_TEXT} words, one batch / one by one",
            ours=f"{together / ROUND * 1000:.1f} ms each",
            theirs=f"{apart / ROUND * 1000:.1f} ms each",
            result=apart / together,
            aim=1,
            unit="times",
        )
    ]


def _ways(encoder: SentenceEncoder, texts: Sequence[str]) -> tuple[Callable[[], object], Callable[[], object]]:
    return lambda: encoder.encode(texts), lambda: [encoder.encode([text]) for text in texts]


def _timed(way: Callable[[], object]) -> float:
    started = time.perf_counter()
    way()
    return time.perf_counter() - started


def _transformer(folder: Path) -> str:
    """Write a transformer of the size of small sentence encoders (6 layers, 384 wide) with random weights."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(VOCABULARY))]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=EMBEDDING,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    modules = [Transformer(str(folder / "bert"), max_seq_length=256), Pooling(EMBEDDING, pooling_mode="mean")]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "encoder"))
    return "encoder"


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
