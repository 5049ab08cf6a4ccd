"""Hashes of many texts are in a temporary file; the pairs are the same with it and without it."""

from __future__ import annotations

import random

import pytest
from jrh_audit import similarity


def _texts() -> list[str]:
    draw = random.Random(1)
    texts = [" ".join(f"w{draw.randrange(900)}" for _ in range(40)) for _ in range(300)]
    return [*texts, texts[7], "", texts[150] + " more"]


def test_the_pairs_do_not_depend_on_where_the_hashes_are(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = similarity.similar(_texts(), 0.8)
    made = []

    class Watched(similarity.SpooledTemporaryFile):
        def rollover(self) -> None:
            made.append(self)
            super().rollover()

    monkeypatch.setattr(similarity, "SpooledTemporaryFile", Watched)
    monkeypatch.setattr(similarity, "_IN_MEMORY", 1000)
    assert similarity.similar(_texts(), 0.8) == expected
    assert len(expected.pairs) == 2
    assert made
