"""The section keeps the contract."""

from __future__ import annotations

import jrh_order.plugin
from jrh_testing import SectionContract, report_of


class TestOptionOrder(SectionContract):
    plugin = jrh_order.plugin
    component = "option-order"
    reports = (
        report_of("swap-consistency", "position-bias"),
        report_of("position-preference", cell={"place": "first"}),
    )
