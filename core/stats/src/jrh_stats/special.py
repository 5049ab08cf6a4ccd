"""Functions of `scipy.special`, loaded in half the time: import them from here.

SciPy copies the namespace of NumPy whole when it is imported (`array_api_compat`), and so loads `numpy.f2py`,
`numpy.testing` and what these import in turn, 140 modules that nothing here uses. They are hidden meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

_UNUSED: Final = frozenset({"char", "ctypeslib", "f2py", "polynomial", "testing"})
"""Modules that NumPy loads on first use."""


@contextmanager
def _hide_unused_modules() -> Iterator[None]:
    namespace = vars(np)
    names, listing = np.__all__, namespace.get("__dir__", lambda: names)
    hidden = _UNUSED - namespace.keys()  # what is loaded already costs nothing
    namespace |= {
        "__all__": [name for name in names if name not in hidden],
        "__dir__": lambda: [name for name in listing() if name not in hidden],
    }
    try:
        yield
    finally:
        namespace |= {"__all__": names, "__dir__": listing}


with _hide_unused_modules():
    from scipy.special import (
        bdtr,
        bdtrc,
        betainc,
        betaincinv,
        chdtrc,
        chdtri,
        comb,
        expit,
        fdtri,
        gammainc,
        gammaincc,
        gammaln,
        logit,
        nctdtr,
        ndtr,
        ndtri,
        stdtr,
        xlogy,
    )

__all__ = (
    "bdtr",
    "bdtrc",
    "betainc",
    "betaincinv",
    "chdtrc",
    "chdtri",
    "comb",
    "expit",
    "fdtri",
    "gammainc",
    "gammaincc",
    "gammaln",
    "logit",
    "nctdtr",
    "ndtr",
    "ndtri",
    "stdtr",
    "xlogy",
)
