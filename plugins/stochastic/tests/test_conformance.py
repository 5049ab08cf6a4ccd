"""The contract every perturber holds."""

from typing import ClassVar

import jrh_stochastic.plugin
from jrh_testing import PerturberContract


class TestStochastic(PerturberContract):
    plugin = jrh_stochastic.plugin
    component = "stochastic"


class TestStochasticOverTemperatures(PerturberContract):
    plugin = jrh_stochastic.plugin
    component = "stochastic"
    options: ClassVar = {"repeats": 3, "temperatures": [0.0, 0.7], "vary_seed": False}
