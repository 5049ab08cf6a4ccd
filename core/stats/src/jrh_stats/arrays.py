"""Types of arrays: numbers, whole numbers such as codes and counts, and yes or no."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
