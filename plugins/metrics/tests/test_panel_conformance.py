import jrh_metrics.plugin
from jrh_testing import MetricContract


class TestGeneralizabilityContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "generalizability"


class TestPanelContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "panel"
    interval_tolerance = 0.0


class TestCalibrationContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "calibration"
    interval_tolerance = 0.0
