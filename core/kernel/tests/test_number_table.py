"""What a plan notes of every trial takes a fixed amount of memory, and is what a dictionary would hold."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from jrh.store import temporary
from jrh.store.temporary import NumberTable


@pytest.mark.parametrize("held", [7, 1000, 10**6])
def test_a_table_answers_as_a_dictionary_does_also_where_keys_collide(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary, "_HELD", held)
    draw = random.Random(1)
    table = NumberTable()
    known: dict[int, int] = {}
    assert not table
    for _ in range(20_000):
        key = draw.choice((draw.randrange(1, 50), draw.randrange(1, 40) << 20, draw.getrandbits(63) | 1, 2**64 - 1))
        assert table.get(key, -1) == known.get(key, -1)
        value = draw.randrange(-(2**31), 2**31)
        table.put(key, value)
        known[key] = value
    assert table
    assert all(table.get(key) == value for key, value in known.items())
    assert table.get(2**62 + 12345) == 0


def test_more_numbers_take_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary takes 120 bytes each with its keys; SQLite's own cache of 1 MB is not in these figures."""
    monkeypatch.setattr(temporary, "_HELD", 1000)
    draw = random.Random(2)
    tracemalloc.start()
    table = NumberTable()
    peaks = []
    for numbers in (5_000, 40_000):
        for _ in range(numbers):
            table.put(draw.getrandbits(63) | 1, 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[1] - peaks[0] < 50_000
