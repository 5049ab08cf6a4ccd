import jrh_metrics.plugin
from jrh import Scale
from jrh_testing import MetricContract, sample_task


class TestAsExpectedContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "as-expected"
    interval_tolerance = 0.0


class TestGoldAccuracyContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "gold-accuracy"
    interval_tolerance = 0.0


class TestAgreementContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "agreement"
    interval_tolerance = 0.0


class TestFlipRateContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "flip-rate"
    interval_tolerance = 0.0


class TestRerunDisagreementContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "rerun-disagreement"
    interval_tolerance = 0.0


class TestKappaContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "kappa"
    interval_tolerance = 0.0


class TestQuadraticKappaContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "kappa-quadratic"
    task = sample_task(scale=Scale.of_levels(1, 6))
    interval_tolerance = 0.0


class TestMissingContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "missing"
    interval_tolerance = 0.0
    about_missing = frozenset({"missing"})


class TestErrorRatesContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "error-rates"
    task = sample_task()
    interval_tolerance = 0.0


class TestMissingByConditionContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "missing-by-condition"
    interval_tolerance = 0.0


class TestNoiseExcessContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "noise-excess"
    interval_tolerance = 0.0


class TestJudgeAgreementContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "judge-agreement"
    interval_tolerance = 0.0


class TestOrdinalErrorsContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "ordinal-errors"
    task = sample_task(scale=Scale.of_levels(1, 6))
    interval_tolerance = 0.0


class TestOrdinalAssociationContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "ordinal-association"
    task = sample_task(scale=Scale.of_levels(1, 6))
    interval_tolerance = 0.0


class TestConfusionContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "confusion"
    options = {"all": True}
    interval_tolerance = 0.0


class TestAccuracyChangeContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "accuracy-change"
    interval_tolerance = 0.0


class TestJudgeComparisonContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "judge-comparison"
    interval_tolerance = 0.0


class TestAccuracyEquivalenceContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "accuracy-equivalence"
    interval_tolerance = 0.0


class TestCompatHarnessContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "compat-jrh"
    interval_tolerance = 0.0


class TestCompatJudgeSenseContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "compat-judgesense"
    interval_tolerance = 0.0


class TestLinearKappaContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "kappa-linear"
    task = sample_task(scale=Scale.of_levels(1, 6))
    interval_tolerance = 0.0


class TestChanceCorrectedContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "chance-corrected"
    interval_tolerance = 0.0


class TestCorrectedPrevalenceContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "corrected-prevalence"
    task = sample_task()
    interval_tolerance = 0.0


class TestPerturbationValidityContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "perturbation-validity"
    interval_tolerance = 0.0


class TestGoldAgreementContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "gold-agreement"
    task = sample_task()
    interval_tolerance = 0.0


class TestGainOverCommonestContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "gain-over-commonest"


class TestExcessEquivalenceContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "excess-equivalence"
