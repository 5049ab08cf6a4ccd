"""The section of the rules holds the contract of a stage."""

from __future__ import annotations

import jrh_gate.plugin
from jrh_testing import StageContract


class TestGate(StageContract):
    plugin = jrh_gate.plugin
    component = "gate"
