"""Go through many rows some at a time, so that what is computed on the way takes little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

PART: Final = 2**16
"""Rows at once: half a megabyte of numbers. Fewer would take longer, more no less time."""


def parts_of(number: int, size: int = PART) -> Iterator[slice]:
    """Yield slices of at most so many of a number of rows, in order; one, which is empty, of no rows."""
    for start in range(0, max(number, 1), size):
        yield slice(start, min(start + size, number))


def by_parts(
    function: Callable[..., tuple[NDArray[np.float64], ...]], *arrays: NDArray[np.generic], size: int = PART
) -> tuple[NDArray[np.float64], ...]:
    """Return what a function that treats each row by itself returns of all rows, calling it for some at a time."""
    found = [function(*(array[part] for array in arrays)) for part in parts_of(len(arrays[0]), size)]
    return tuple(np.concatenate(columns) for columns in zip(*found, strict=True))
