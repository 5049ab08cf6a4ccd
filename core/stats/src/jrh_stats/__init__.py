"""Estimate agreement, rates, changes, power and variance components of clustered ratings.

Pure functions over arrays; nothing of jrh is imported. Conventions of every function:

* Arrays are numpy arrays or whatever `numpy.asarray` takes. A *cluster* is the unit that was sampled (in jrh: the
  item); trials of one cluster may depend on each other in any way.
* Intervals are two-sided with coverage `level`, and always contain the estimate.
* `seed` is the only source of randomness. Results do not depend on the order of rows or clusters.
* A quantity that cannot be estimated is `None` with a flag, never NaN.
"""

from __future__ import annotations

from jrh_stats.agreement import fleiss_kappa as fleiss_kappa
from jrh_stats.agreement import gwet_ac1 as gwet_ac1
from jrh_stats.agreement import pabak as pabak
from jrh_stats.bootstrap import cluster_bootstrap_ratio as cluster_bootstrap_ratio
from jrh_stats.bootstrap import resample_totals as resample_totals
from jrh_stats.calibration import Binning as Binning
from jrh_stats.calibration import ReliabilityBin as ReliabilityBin
from jrh_stats.calibration import brier_score as brier_score
from jrh_stats.calibration import reliability_curve as reliability_curve
from jrh_stats.calibration_error import calibration_test as calibration_test
from jrh_stats.calibration_error import expected_calibration_error as expected_calibration_error
from jrh_stats.calibration_error import plain_calibration_error as plain_calibration_error
from jrh_stats.ceiling import Ceiling as Ceiling
from jrh_stats.ceiling import human_ceiling as human_ceiling
from jrh_stats.change import Change as Change
from jrh_stats.change import exchanged_difference as exchanged_difference
from jrh_stats.change import paired_change as paired_change
from jrh_stats.clusters import cluster_sums as cluster_sums
from jrh_stats.clusters import ratio_variance as ratio_variance
from jrh_stats.compat import jrh_bootstrap_accuracy as jrh_bootstrap_accuracy
from jrh_stats.compat import judgesense_jss as judgesense_jss
from jrh_stats.compat import judgesense_kappa as judgesense_kappa
from jrh_stats.completions import Association as Association
from jrh_stats.completions import association_bounds as association_bounds
from jrh_stats.components import VarianceComponent as VarianceComponent
from jrh_stats.components import VarianceComponents as VarianceComponents
from jrh_stats.components import variance_components as variance_components
from jrh_stats.constant_judge import gain_over_constant as gain_over_constant
from jrh_stats.degrees import effective_degrees as effective_degrees
from jrh_stats.design_power import change_power as change_power
from jrh_stats.design_power import excess_power as excess_power
from jrh_stats.design_power import items_for_excess_power as items_for_excess_power
from jrh_stats.design_power import smallest_change as smallest_change
from jrh_stats.disagreement import disagreeing_pairs as disagreeing_pairs
from jrh_stats.disagreement import rerun_disagreement as rerun_disagreement
from jrh_stats.discrimination import auc as auc
from jrh_stats.discrimination import score_tau_b as score_tau_b
from jrh_stats.equivalence import Answer as Answer
from jrh_stats.equivalence import Equivalence as Equivalence
from jrh_stats.equivalence import equivalence as equivalence
from jrh_stats.equivalence import excess_equivalence as excess_equivalence
from jrh_stats.equivalence import items_to_rule_out as items_to_rule_out
from jrh_stats.equivalence import rare_change_bound as rare_change_bound
from jrh_stats.estimate import Estimate as Estimate
from jrh_stats.excess import Excess as Excess
from jrh_stats.excess import excess_decision as excess_decision
from jrh_stats.excess import excess_disagreement as excess_disagreement
from jrh_stats.excess import excess_limits as excess_limits
from jrh_stats.excess import excess_permutation_test as excess_permutation_test
from jrh_stats.generalizability import DStudy as DStudy
from jrh_stats.generalizability import cheapest_design as cheapest_design
from jrh_stats.generalizability import d_study as d_study
from jrh_stats.icc import IccForm as IccForm
from jrh_stats.icc import MeanSquares as MeanSquares
from jrh_stats.icc import icc as icc
from jrh_stats.icc import mean_squares as mean_squares
from jrh_stats.jackknife import jackknife_variance as jackknife_variance
from jrh_stats.kappa import Weighting as Weighting
from jrh_stats.kappa import clustered_kappa as clustered_kappa
from jrh_stats.kappa import cohen_kappa as cohen_kappa
from jrh_stats.krippendorff import AlphaMetric as AlphaMetric
from jrh_stats.krippendorff import krippendorff_alpha as krippendorff_alpha
from jrh_stats.matthews import matthews_correlation as matthews_correlation
from jrh_stats.mean import clustered_difference as clustered_difference
from jrh_stats.mean import clustered_mean as clustered_mean
from jrh_stats.mean import paired_difference as paired_difference
from jrh_stats.mean import signed_mean as signed_mean
from jrh_stats.mean_of_rates import mean_of_rates as mean_of_rates
from jrh_stats.missing import imbens_manski_quantile as imbens_manski_quantile
from jrh_stats.missing import manski_bounds as manski_bounds
from jrh_stats.missing import missing_association as missing_association
from jrh_stats.missing import missingness_test as missingness_test
from jrh_stats.one_sided import binomial_limits as binomial_limits
from jrh_stats.one_sided import bounded_upper_limit as bounded_upper_limit
from jrh_stats.one_sided import clustered_limits as clustered_limits
from jrh_stats.one_sided import fewest_right as fewest_right
from jrh_stats.one_sided import signed_limits as signed_limits
from jrh_stats.one_sided import threshold_items as threshold_items
from jrh_stats.one_sided import threshold_power as threshold_power
from jrh_stats.opposed import opposition_test as opposition_test
from jrh_stats.ordinal import accuracy_within as accuracy_within
from jrh_stats.ordinal import concordance as concordance
from jrh_stats.ordinal import confusion_matrix as confusion_matrix
from jrh_stats.ordinal import mean_absolute_error as mean_absolute_error
from jrh_stats.ordinal import mean_error as mean_error
from jrh_stats.ordinal import pearson as pearson
from jrh_stats.ordinal import root_mean_squared_error as root_mean_squared_error
from jrh_stats.ordinal import scale_compression as scale_compression
from jrh_stats.paired import paired_gwet_ac1 as paired_gwet_ac1
from jrh_stats.paired import paired_pabak as paired_pabak
from jrh_stats.paired_bounds import gwet_ac1_bounds as gwet_ac1_bounds
from jrh_stats.paired_bounds import pabak_bounds as pabak_bounds
from jrh_stats.panel import MedianTies as MedianTies
from jrh_stats.panel import Ties as Ties
from jrh_stats.panel import majority_vote as majority_vote
from jrh_stats.panel import mean_score as mean_score
from jrh_stats.panel import median_score as median_score
from jrh_stats.panel_quality import BestPanel as BestPanel
from jrh_stats.panel_quality import PanelScore as PanelScore
from jrh_stats.panel_quality import best_panel as best_panel
from jrh_stats.panel_quality import effective_judges as effective_judges
from jrh_stats.panel_quality import error_correlation as error_correlation
from jrh_stats.panel_quality import leave_one_out as leave_one_out
from jrh_stats.panel_quality import paired_error_correlation as paired_error_correlation
from jrh_stats.panel_quality import panel_accuracy as panel_accuracy
from jrh_stats.partial import Bounds as Bounds
from jrh_stats.partial import excess_bounds as excess_bounds
from jrh_stats.partial import kappa_bounds as kappa_bounds
from jrh_stats.parts import parts_of as parts_of
from jrh_stats.phi import phi_coefficient as phi_coefficient
from jrh_stats.power import design_effect as design_effect
from jrh_stats.power import items_for_mean as items_for_mean
from jrh_stats.power import items_for_proportion as items_for_proportion
from jrh_stats.power import items_to_decide as items_to_decide
from jrh_stats.power import items_to_detect as items_to_detect
from jrh_stats.power import paired_power as paired_power
from jrh_stats.power import smallest_detectable_difference as smallest_detectable_difference
from jrh_stats.prevalence import prediction_powered_mean as prediction_powered_mean
from jrh_stats.prevalence import rogan_gladen as rogan_gladen
from jrh_stats.prevalence import rogan_gladen_of_shares as rogan_gladen_of_shares
from jrh_stats.proportion import clustered_proportion as clustered_proportion
from jrh_stats.psychometric import PsychometricCurve as PsychometricCurve
from jrh_stats.psychometric import psychometric_curve as psychometric_curve
from jrh_stats.ranks import kendall_tau_b as kendall_tau_b
from jrh_stats.ranks import spearman as spearman
from jrh_stats.reading_window import ReadingWindow as ReadingWindow
from jrh_stats.reading_window import reading_window as reading_window
from jrh_stats.restricted import score_difference as score_difference
from jrh_stats.sensitivity import Sensitivity as Sensitivity
from jrh_stats.sensitivity import jss as jss
from jrh_stats.significance import Significance as Significance
from jrh_stats.significance import benjamini_hochberg as benjamini_hochberg
from jrh_stats.significance import exchange_test as exchange_test
from jrh_stats.significance import holm as holm
from jrh_stats.significance import mcnemar_exact as mcnemar_exact
from jrh_stats.significance import sign_flip_test as sign_flip_test
from jrh_stats.stepwise import chained_holm as chained_holm
from jrh_stats.stepwise import interval_p as interval_p
from jrh_stats.strata import Slope as Slope
from jrh_stats.strata import slope_within_strata as slope_within_strata
from jrh_stats.validity import ValidityBounds as ValidityBounds
from jrh_stats.validity import corrected_failure_rate as corrected_failure_rate
from jrh_stats.validity import validity_bounds as validity_bounds
from jrh_stats.wilson import wilson as wilson
from jrh_stats.wilson import z_quantile as z_quantile

__all__ = [
    "AlphaMetric",
    "Answer",
    "Association",
    "BestPanel",
    "Binning",
    "Bounds",
    "Ceiling",
    "Change",
    "DStudy",
    "Equivalence",
    "Estimate",
    "Excess",
    "IccForm",
    "MeanSquares",
    "MedianTies",
    "PanelScore",
    "PsychometricCurve",
    "ReadingWindow",
    "ReliabilityBin",
    "Sensitivity",
    "Significance",
    "Slope",
    "Ties",
    "ValidityBounds",
    "VarianceComponent",
    "VarianceComponents",
    "Weighting",
    "accuracy_within",
    "association_bounds",
    "auc",
    "benjamini_hochberg",
    "best_panel",
    "binomial_limits",
    "bounded_upper_limit",
    "brier_score",
    "calibration_test",
    "chained_holm",
    "change_power",
    "cheapest_design",
    "cluster_bootstrap_ratio",
    "cluster_sums",
    "clustered_difference",
    "clustered_kappa",
    "clustered_limits",
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
    "excess_bounds",
    "excess_decision",
    "excess_disagreement",
    "excess_equivalence",
    "excess_limits",
    "excess_permutation_test",
    "excess_power",
    "exchange_test",
    "exchanged_difference",
    "expected_calibration_error",
    "fewest_right",
    "fleiss_kappa",
    "gain_over_constant",
    "gwet_ac1",
    "gwet_ac1_bounds",
    "holm",
    "human_ceiling",
    "icc",
    "imbens_manski_quantile",
    "interval_p",
    "items_for_excess_power",
    "items_for_mean",
    "items_for_proportion",
    "items_to_decide",
    "items_to_detect",
    "items_to_rule_out",
    "jackknife_variance",
    "jrh_bootstrap_accuracy",
    "jss",
    "judgesense_jss",
    "judgesense_kappa",
    "kappa_bounds",
    "kendall_tau_b",
    "krippendorff_alpha",
    "leave_one_out",
    "majority_vote",
    "manski_bounds",
    "matthews_correlation",
    "mcnemar_exact",
    "mean_absolute_error",
    "mean_error",
    "mean_of_rates",
    "mean_score",
    "mean_squares",
    "median_score",
    "missing_association",
    "missingness_test",
    "opposition_test",
    "pabak",
    "pabak_bounds",
    "paired_change",
    "paired_difference",
    "paired_error_correlation",
    "paired_gwet_ac1",
    "paired_pabak",
    "paired_power",
    "panel_accuracy",
    "parts_of",
    "pearson",
    "phi_coefficient",
    "plain_calibration_error",
    "prediction_powered_mean",
    "psychometric_curve",
    "rare_change_bound",
    "ratio_variance",
    "reading_window",
    "reliability_curve",
    "rerun_disagreement",
    "resample_totals",
    "rogan_gladen",
    "rogan_gladen_of_shares",
    "root_mean_squared_error",
    "scale_compression",
    "score_difference",
    "score_tau_b",
    "sign_flip_test",
    "signed_limits",
    "signed_mean",
    "slope_within_strata",
    "smallest_change",
    "smallest_detectable_difference",
    "spearman",
    "threshold_items",
    "threshold_power",
    "validity_bounds",
    "variance_components",
    "wilson",
    "z_quantile",
]
