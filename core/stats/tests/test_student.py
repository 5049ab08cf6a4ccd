"""Student's quantiles against SciPy's."""

from math import inf, isnan

import numpy as np
import pytest
from jrh_stats.score_intervals import t_quantile
from scipy.special import stdtrit


@pytest.mark.parametrize("level", [0.05, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.99999])
def test_quantiles_equal_those_of_scipy(level):
    degrees = np.concatenate([np.geomspace(0.3, 5e3, 60), [1, 2, 999.9, 1000, 1e6, 1e9]])
    ours = [t_quantile(level, float(each)) for each in degrees]
    assert ours == pytest.approx(stdtrit(degrees, 0.5 + level / 2), rel=1e-9)


def test_a_table_by_student_and_the_ends():
    # Student's table as printed everywhere: 12.706 at 1, 2.262 at 9, 1.980 at 120 degrees of freedom.
    assert [round(t_quantile(0.95, each), 3) for each in (1, 9, 120, inf)] == [12.706, 2.262, 1.980, 1.960]
    assert isnan(t_quantile(0.95, 0))
    with pytest.raises(ValueError, match="between 0 and 1"):
        t_quantile(1.0, 9)
