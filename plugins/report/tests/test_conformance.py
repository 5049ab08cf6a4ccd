import jrh_report.plugin
from jrh.testing import ReporterContract


class TestTerminalContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "terminal"


class TestNarrowTerminalContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "terminal"
    options = {"width": 60, "color": "always"}


class TestMarkdownContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "markdown"


class TestJsonContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "json"
