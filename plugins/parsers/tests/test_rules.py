"""The rules hold the contract: hypotheses follow from the design alone."""

from __future__ import annotations

from typing import ClassVar

import jrh_parsers.plugin
from jrh_testing import RuleContract


class TestRationaleContradiction(RuleContract):
    plugin: ClassVar = jrh_parsers.plugin
    component = "rationale-contradiction"
