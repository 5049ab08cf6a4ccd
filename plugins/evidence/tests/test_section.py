"""The section keeps the contract."""

from __future__ import annotations

import jrh_evidence.plugin
from jrh_testing import SectionContract, report_of


class TestEvidence(SectionContract):
    plugin = jrh_evidence.plugin
    component = "evidence"
    reports = (
        report_of("evidence-follow", "evidence-chance", "reads-first"),
        report_of("evidence-follow", "input-seen", cell={"length": "500"}),
        report_of("error-threshold", cell={"error": "numbers"}),
        report_of("error-noticed", cell={"error": "numbers", "errors": "2"}),
    )
