import json

import jrh_metrics.plugin
from attrs import evolve
from jrh import Item, Scale
from jrh_testing import MetricContract, sample_records, sample_task


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


class TestSelfKappaContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "self-kappa"
    interval_tolerance = 0.0


class TestQuadraticSelfKappaContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "self-kappa"
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
    component = "gold-kappa"
    task = sample_task()
    interval_tolerance = 0.0


class TestExcessEquivalenceContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "excess-equivalence"


class TestInteractionContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "interaction"
    interval_tolerance = 0.0

    def records_of(self, task):
        """Return the reference, and the sample test as two perturbations and their chain."""
        made = []
        for record in sample_records(task):
            if record.test == "reference":
                made.append(record)
            for part in () if record.test == "reference" else ("a", "b", "a+b"):
                ids = {name: f"{getattr(record, name)}-{part}" for name in ("trial_id", "case_id")}
                made.append(evolve(record, test=f"crossed.{part}", family=part, **ids))
        return tuple(made)


class TestCovariateEffectContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "covariate-effect"
    task = sample_task(scale=Scale.of_levels(1, 6))

    def records_of(self, task):
        """Return the sample records with a length that follows from the item's number."""
        records = sample_records(task, items=60)
        numbers = [int(record.item_id.removeprefix("item-")) for record in records]
        known = [json.dumps({"length": 10 + 37 * number % 101}) for number in numbers]
        return tuple(evolve(record, covariates=each) for record, each in zip(records, known, strict=True))


class TestPeopleCeilingContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "people-ceiling"
    task = sample_task()
    # Ann labels as the sample has it, Bob every third item otherwise.
    items = tuple(
        Item(
            id=f"item-{number}",
            fields={"request": "?", "response": str(number)},
            labels={"ann": "NO" if number % 2 else "YES", "bob": "NO" if number % 3 else "YES"},
        )
        for number in range(12)
    )


class TestVariantPairsContract(MetricContract):
    plugin = jrh_metrics.plugin
    component = "variant-pairs"
    other_gaps = frozenset({"no_pair"})
    interval_tolerance = 0.0
