"""The stage of corrected labels holds the contract of a stage."""

from __future__ import annotations

from typing import ClassVar

import jrh_court.plugin
from jrh_testing import StageContract


class TestCorrectedLabels(StageContract):
    plugin = jrh_court.plugin
    component = "corrected-labels"
    required_options = ("corrected_by",)
    options: ClassVar = {"corrected_by": "labels.json"}
