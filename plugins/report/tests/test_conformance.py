import jrh_report.plugin
from jrh_testing import ReporterContract


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


class TestCsvContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "csv"


class TestParquetContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "parquet"
    not_text = "a binary format"


class TestLatexContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "latex"


class TestPlotsContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "plots"


class TestPapersContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "papers"
