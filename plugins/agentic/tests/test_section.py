"""The section keeps the contract."""

from __future__ import annotations

import jrh_agentic.plugin
from jrh_testing import SectionContract, report_of


class TestAgentTranscripts(SectionContract):
    plugin = jrh_agentic.plugin
    component = "agent-transcripts"
    reports = (report_of("agent-accuracy", "edit-sensitivity"),)
