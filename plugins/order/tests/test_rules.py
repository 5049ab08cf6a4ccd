"""The rules hold the contract: hypotheses follow from the design alone."""

from __future__ import annotations

from typing import ClassVar

import jrh_order.plugin
from jrh_testing import RuleContract


class TestPositionBias(RuleContract):
    plugin: ClassVar = jrh_order.plugin
    component = "position-bias"


class TestOrderFlips(RuleContract):
    plugin: ClassVar = jrh_order.plugin
    component = "order-flips"
