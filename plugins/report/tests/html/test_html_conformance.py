import jrh_report.plugin
from jrh_testing import ReporterContract


class TestHtmlContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "html"


class TestHtmlWithoutExamplesContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "html"
    options = {"examples": 0}


class TestNotebookContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "notebook"
