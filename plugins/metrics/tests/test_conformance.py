import jrh_metrics.plugin
from jrh import Scale
from jrh.testing import MetricContract, sample_task


class TestAccuracyContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "accuracy"
    other_gaps = frozenset({"no_reference"})
    interval_tolerance = 0.0


class TestGoldAccuracyContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "gold-accuracy"
    interval_tolerance = 0.0


class TestAgreementContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "agreement"
    other_gaps = frozenset({"no_reference"})
    interval_tolerance = 0.0


class TestFlipRateContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "flip-rate"
    other_gaps = frozenset({"no_reference"})
    interval_tolerance = 0.0


class TestRerunDisagreementContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "rerun-disagreement"
    interval_tolerance = 0.0


class TestKappaContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "kappa"
    other_gaps = frozenset({"no_reference"})
    interval_tolerance = 0.0


class TestQuadraticKappaContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "kappa-quadratic"
    other_gaps = frozenset({"no_reference"})
    task = sample_task(scale=Scale.of_levels(1, 6))
    interval_tolerance = 0.0


class TestMissingContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "missing"
    interval_tolerance = 0.0
