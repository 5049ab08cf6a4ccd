"""The contracts that every metric and every rule hold."""

from __future__ import annotations

import jrh_audit.plugin
from jrh_testing import MetricContract, RuleContract


class TestAudit(MetricContract):
    plugin = jrh_audit.plugin
    component = "audit"
    silent = "it is about the items, and the sample has records alone"


class TestProblems(RuleContract):
    plugin = jrh_audit.plugin
    component = "data-problems"
