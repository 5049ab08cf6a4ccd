"""The rules hold the contract: hypotheses follow from the design alone."""

from __future__ import annotations

from typing import ClassVar

import jrh_prompts.plugin
from jrh_testing import RuleContract


class TestTemplateFlips(RuleContract):
    plugin: ClassVar = jrh_prompts.plugin
    component = "template-flips"


class TestContradictions(RuleContract):
    plugin: ClassVar = jrh_prompts.plugin
    component = "contradictions"


class TestMisreadPolarity(RuleContract):
    plugin: ClassVar = jrh_prompts.plugin
    component = "polarity"
