"""The arrays of a value are put into a file, each once."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from attrs import frozen
from jrh.values.column_file import ColumnFile
from jrh_measuring.array_storage import put_all
from numpy.typing import NDArray

LARGE = 100_000


def test_what_was_one_array_stays_one_and_names_are_left_alone() -> None:
    @frozen(eq=False)
    class Both:
        one: NDArray[np.float64]
        same: NDArray[np.float64]
        worst: partial[float]
        names: tuple[str, ...]

    array = np.random.default_rng(0).random(LARGE)
    before = Both(array, array, partial(float, array[:1].copy()), tuple(map(str, range(1000))))
    names = before.names
    after, levels = put_all(ColumnFile(), (before, [("level", array)]))
    assert after is before
    assert after.one is after.same is levels[0][1]
    assert after.names is names
    assert np.array_equal(after.one, array)


def test_values_that_hold_themselves_and_values_of_very_many_parts_or_levels() -> None:
    array = np.random.default_rng(4).random(LARGE)
    loop: dict[str, Any] = {"array": array.copy(), "list": []}
    loop["list"].append(loop)
    put = put_all(ColumnFile(), loop)
    assert put is loop["list"][0] is loop
    assert np.array_equal(put["array"], array)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    many = [(str(number), (number,)) for number in range(300_000)]
    start = time.process_time()
    assert put_all(ColumnFile(), deep) is deep
    assert put_all(ColumnFile(), many) is many
    assert time.process_time() - start < 2
