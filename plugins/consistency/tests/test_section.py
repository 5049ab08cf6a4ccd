"""The section keeps the contract."""

from __future__ import annotations

import jrh_consistency.plugin
from jrh_testing import SectionContract, report_of


class TestConsistency(SectionContract):
    plugin = jrh_consistency.plugin
    component = "consistency"
    reports = (
        report_of("cycle-share", "cycle-excess"),
        report_of("pointwise-pairwise", cell={"compared-with": "pairs"}),
    )
