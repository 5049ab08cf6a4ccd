"""The section keeps the contract."""

from __future__ import annotations

import jrh_injection.plugin
from jrh_testing import SectionContract, report_of


class TestAttacks(SectionContract):
    plugin = jrh_injection.plugin
    component = "attacks"
    reports = (
        report_of("attack-success", "attack-success-excess", cell={"attack": "plea"}),
        report_of("attack-success", "defence-worth"),
    )
