"""The rules hold the contract: hypotheses follow from the design alone."""

from __future__ import annotations

from typing import ClassVar

import jrh_metrics.plugin
from jrh_testing import RuleContract


class TestHeadline(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "headline"


class TestNoAgreement(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "no-agreement"


class TestHumanCeiling(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "human-ceiling"


class TestChanges(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "changes"


class TestReruns(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "reruns"


class TestVerdicts(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "verdicts"


class TestGrading(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "grading"


class TestCovariates(RuleContract):
    plugin: ClassVar = jrh_metrics.plugin
    component = "covariates"
