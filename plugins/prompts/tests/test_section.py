"""The section keeps the contract."""

from __future__ import annotations

import jrh_prompts.plugin
from jrh_testing import SectionContract, report_of


class TestPromptTemplates(SectionContract):
    plugin = jrh_prompts.plugin
    component = "prompt-templates"
    reports = (
        report_of("jss", "jss-raw", "template-kappa"),
        report_of("jss", cell={"pair": "a|b"}),
        report_of("jss", cell={"template": "a"}),
        report_of("jss", "template-kappa", cell={"without": "a"}),
    )
