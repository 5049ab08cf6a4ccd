"""Functions of SciPy are loaded without what it copies of NumPy, and NumPy is left as it was."""

import subprocess
import sys

PROGRAM = """\
import sys
import numpy as np
before = dir(np), np.__all__
from jrh_stats.special import ndtr
import scipy.special
same = (dir(np), np.__all__) == before
print(sorted({"numpy.f2py", "numpy.testing"} & set(sys.modules)), ndtr is scipy.special.ndtr, same)
print(np.testing.assert_allclose.__name__)
"""


def test_what_is_hidden_from_scipy_is_there_for_others() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[] True True", "assert_allclose"]
