"""The stage that measures holds the contract of every stage."""

from __future__ import annotations

import jrh_measuring.plugin
from jrh_testing import StageContract


class TestMeasure(StageContract):
    plugin = jrh_measuring.plugin
    component = "measure"
