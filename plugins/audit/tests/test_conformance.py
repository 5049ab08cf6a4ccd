"""The contract that every metric holds."""

from __future__ import annotations

import jrh_audit.plugin
from jrh_testing import MetricContract


class TestAudit(MetricContract):
    plugin = jrh_audit.plugin
    component = "audit"
    silent = "it is about the items, and the sample has records alone"
