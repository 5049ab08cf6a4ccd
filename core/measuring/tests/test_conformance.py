"""The stage that measures and the rule about tests without cases hold their contracts."""

from __future__ import annotations

import jrh_measuring.plugin
from jrh_testing import RuleContract, StageContract


class TestMeasure(StageContract):
    plugin = jrh_measuring.plugin
    component = "measure"


class TestWithoutCases(RuleContract):
    plugin = jrh_measuring.plugin
    component = "without-cases"
