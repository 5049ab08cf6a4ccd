"""The section keeps the contract."""

from __future__ import annotations

import jrh_audit.plugin
from jrh_testing import SectionContract, report_of


class TestDataProblems(SectionContract):
    plugin = jrh_audit.plugin
    component = "data-problems"
    reports = (
        report_of("audit", judge="", cell={"problem": "few-items"}, note="few items"),
        report_of("audit", cell={"problem": "gold-of-own-family"}),
    )
