"""Types of arrays: numbers, whole numbers such as codes and counts, and yes or no."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


def positive_or_nan(numbers: Floats) -> Floats:
    """Return numbers above 0, and NaN in place of the others: as a denominator it raises no warning."""
    return np.where(numbers > 0, numbers, np.nan)
