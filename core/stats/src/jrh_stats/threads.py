"""Linear algebra of small matrices on one thread."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Let BLAS use one thread inside of the block.

    For matrices of some hundred rows more threads take five times the processor time, and the last digits of a result
    depend on their number, that is on the machine. SciPy's own BLAS has to be loaded before.
    """
    limited: AbstractContextManager[object] = _blas().limit(limits=1, user_api="blas")
    return limited


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401 - loads the library that is to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
