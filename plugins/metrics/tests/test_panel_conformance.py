import jrh_metrics.plugin
import pytest
from jrh_testing import MetricContract

pytestmark = pytest.mark.slow


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


class TestPanelByTestContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "panel-by-test"
    interval_tolerance = 0.0
