"""Statistics as pure functions over arrays; imports nothing of the kernel.

Conventions of every function here:

* Arrays are numpy arrays or what `numpy.asarray` takes; a *cluster* is the unit that was sampled (in jrh: the item),
  and trials of one cluster may depend on each other in any way.
* Intervals are two-sided with coverage `level`, and always contain the estimate.
* Randomness comes from `seed` alone. Results do not depend on the order of rows or of clusters.
* What cannot be estimated is `None` with a flag, never NaN.
"""

from __future__ import annotations

from jrh.stats.agreement import fleiss_kappa as fleiss_kappa
from jrh.stats.agreement import gwet_ac1 as gwet_ac1
from jrh.stats.agreement import pabak as pabak
from jrh.stats.bootstrap import cluster_bootstrap_ratio as cluster_bootstrap_ratio
from jrh.stats.bootstrap import resample_totals as resample_totals
from jrh.stats.calibration import Binning as Binning
from jrh.stats.calibration import ReliabilityBin as ReliabilityBin
from jrh.stats.calibration import brier_score as brier_score
from jrh.stats.calibration import expected_calibration_error as expected_calibration_error
from jrh.stats.calibration import reliability_curve as reliability_curve
from jrh.stats.clusters import cluster_sums as cluster_sums
from jrh.stats.clusters import ratio_variance as ratio_variance
from jrh.stats.compat import jrh_bootstrap_accuracy as jrh_bootstrap_accuracy
from jrh.stats.compat import judgesense_jss as judgesense_jss
from jrh.stats.compat import judgesense_kappa as judgesense_kappa
from jrh.stats.components import VarianceComponent as VarianceComponent
from jrh.stats.components import VarianceComponents as VarianceComponents
from jrh.stats.components import variance_components as variance_components
from jrh.stats.degrees import effective_degrees as effective_degrees
from jrh.stats.disagreement import disagreeing_pairs as disagreeing_pairs
from jrh.stats.disagreement import rerun_disagreement as rerun_disagreement
from jrh.stats.equivalence import Answer as Answer
from jrh.stats.equivalence import Equivalence as Equivalence
from jrh.stats.equivalence import equivalence as equivalence
from jrh.stats.estimate import Estimate as Estimate
from jrh.stats.excess import Excess as Excess
from jrh.stats.excess import excess_disagreement as excess_disagreement
from jrh.stats.excess import excess_permutation_test as excess_permutation_test
from jrh.stats.generalizability import DStudy as DStudy
from jrh.stats.generalizability import cheapest_design as cheapest_design
from jrh.stats.generalizability import d_study as d_study
from jrh.stats.icc import IccForm as IccForm
from jrh.stats.icc import MeanSquares as MeanSquares
from jrh.stats.icc import icc as icc
from jrh.stats.icc import mean_squares as mean_squares
from jrh.stats.jackknife import jackknife_variance as jackknife_variance
from jrh.stats.kappa import Weighting as Weighting
from jrh.stats.kappa import clustered_kappa as clustered_kappa
from jrh.stats.kappa import cohen_kappa as cohen_kappa
from jrh.stats.krippendorff import AlphaMetric as AlphaMetric
from jrh.stats.krippendorff import krippendorff_alpha as krippendorff_alpha
from jrh.stats.mean import clustered_difference as clustered_difference
from jrh.stats.mean import clustered_mean as clustered_mean
from jrh.stats.mean import paired_difference as paired_difference
from jrh.stats.missing import manski_bounds as manski_bounds
from jrh.stats.missing import missingness_test as missingness_test
from jrh.stats.ordinal import accuracy_within as accuracy_within
from jrh.stats.ordinal import concordance as concordance
from jrh.stats.ordinal import confusion_matrix as confusion_matrix
from jrh.stats.ordinal import mean_absolute_error as mean_absolute_error
from jrh.stats.ordinal import mean_error as mean_error
from jrh.stats.ordinal import pearson as pearson
from jrh.stats.ordinal import root_mean_squared_error as root_mean_squared_error
from jrh.stats.ordinal import scale_compression as scale_compression
from jrh.stats.paired import paired_gwet_ac1 as paired_gwet_ac1
from jrh.stats.paired import paired_pabak as paired_pabak
from jrh.stats.panel import MedianTies as MedianTies
from jrh.stats.panel import Ties as Ties
from jrh.stats.panel import majority_vote as majority_vote
from jrh.stats.panel import mean_score as mean_score
from jrh.stats.panel import median_score as median_score
from jrh.stats.panel_quality import BestPanel as BestPanel
from jrh.stats.panel_quality import PanelScore as PanelScore
from jrh.stats.panel_quality import best_panel as best_panel
from jrh.stats.panel_quality import effective_judges as effective_judges
from jrh.stats.panel_quality import error_correlation as error_correlation
from jrh.stats.panel_quality import leave_one_out as leave_one_out
from jrh.stats.panel_quality import panel_accuracy as panel_accuracy
from jrh.stats.power import design_effect as design_effect
from jrh.stats.power import items_for_mean as items_for_mean
from jrh.stats.power import items_for_proportion as items_for_proportion
from jrh.stats.power import items_to_detect as items_to_detect
from jrh.stats.power import paired_power as paired_power
from jrh.stats.power import smallest_detectable_difference as smallest_detectable_difference
from jrh.stats.prevalence import prediction_powered_mean as prediction_powered_mean
from jrh.stats.prevalence import rogan_gladen as rogan_gladen
from jrh.stats.proportion import clustered_proportion as clustered_proportion
from jrh.stats.ranks import kendall_tau_b as kendall_tau_b
from jrh.stats.ranks import spearman as spearman
from jrh.stats.significance import Significance as Significance
from jrh.stats.significance import benjamini_hochberg as benjamini_hochberg
from jrh.stats.significance import holm as holm
from jrh.stats.significance import mcnemar_exact as mcnemar_exact
from jrh.stats.significance import sign_flip_test as sign_flip_test
from jrh.stats.validity import ValidityBounds as ValidityBounds
from jrh.stats.validity import corrected_failure_rate as corrected_failure_rate
from jrh.stats.validity import validity_bounds as validity_bounds
from jrh.stats.wilson import wilson as wilson
from jrh.stats.wilson import z_quantile as z_quantile

__all__ = [
    "AlphaMetric",
    "Answer",
    "BestPanel",
    "Binning",
    "DStudy",
    "Equivalence",
    "Estimate",
    "Excess",
    "IccForm",
    "MeanSquares",
    "MedianTies",
    "PanelScore",
    "ReliabilityBin",
    "Significance",
    "Ties",
    "ValidityBounds",
    "VarianceComponent",
    "VarianceComponents",
    "Weighting",
    "accuracy_within",
    "benjamini_hochberg",
    "best_panel",
    "brier_score",
    "cheapest_design",
    "cluster_bootstrap_ratio",
    "cluster_sums",
    "clustered_difference",
    "clustered_kappa",
    "clustered_mean",
    "clustered_proportion",
    "cohen_kappa",
    "concordance",
    "confusion_matrix",
    "corrected_failure_rate",
    "d_study",
    "design_effect",
    "disagreeing_pairs",
    "effective_degrees",
    "effective_judges",
    "equivalence",
    "error_correlation",
    "excess_disagreement",
    "excess_permutation_test",
    "expected_calibration_error",
    "fleiss_kappa",
    "gwet_ac1",
    "holm",
    "icc",
    "items_for_mean",
    "items_for_proportion",
    "items_to_detect",
    "jackknife_variance",
    "jrh_bootstrap_accuracy",
    "judgesense_jss",
    "judgesense_kappa",
    "kendall_tau_b",
    "krippendorff_alpha",
    "leave_one_out",
    "majority_vote",
    "manski_bounds",
    "mcnemar_exact",
    "mean_absolute_error",
    "mean_error",
    "mean_score",
    "mean_squares",
    "median_score",
    "missingness_test",
    "pabak",
    "paired_difference",
    "paired_gwet_ac1",
    "paired_pabak",
    "paired_power",
    "panel_accuracy",
    "pearson",
    "prediction_powered_mean",
    "ratio_variance",
    "reliability_curve",
    "rerun_disagreement",
    "resample_totals",
    "rogan_gladen",
    "root_mean_squared_error",
    "scale_compression",
    "sign_flip_test",
    "smallest_detectable_difference",
    "spearman",
    "validity_bounds",
    "variance_components",
    "wilson",
    "z_quantile",
]
