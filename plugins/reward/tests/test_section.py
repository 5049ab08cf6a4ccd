"""The section keeps the contract."""

from __future__ import annotations

import jrh_reward.plugin
from jrh_testing import SectionContract, report_of


class TestScores(SectionContract):
    plugin = jrh_reward.plugin
    component = "scores"
    reports = (report_of("auc", "score-shift"), report_of("score-tau-b"))
