"""Statistics as pure functions over arrays; imports nothing of the kernel.

Conventions of every function here:

* Arrays are numpy arrays or what `numpy.asarray` takes; a *cluster* is the unit that was sampled (in jrh: the item),
  and trials of one cluster may depend on each other in any way.
* Intervals are two-sided with coverage `level`, and always contain the estimate.
* Randomness comes from `seed` alone. Results do not depend on the order of rows or of clusters.
* What cannot be estimated is `None` with a flag, never NaN.
"""

from __future__ import annotations

from jrh.stats.bootstrap import cluster_bootstrap_ratio as cluster_bootstrap_ratio
from jrh.stats.bootstrap import resample_totals as resample_totals
from jrh.stats.clusters import cluster_sums as cluster_sums
from jrh.stats.clusters import ratio_variance as ratio_variance
from jrh.stats.disagreement import disagreeing_pairs as disagreeing_pairs
from jrh.stats.disagreement import rerun_disagreement as rerun_disagreement
from jrh.stats.estimate import Estimate as Estimate
from jrh.stats.kappa import Weighting as Weighting
from jrh.stats.kappa import clustered_kappa as clustered_kappa
from jrh.stats.kappa import cohen_kappa as cohen_kappa
from jrh.stats.proportion import clustered_proportion as clustered_proportion
from jrh.stats.wilson import wilson as wilson
from jrh.stats.wilson import z_quantile as z_quantile

__all__ = [
    "Estimate",
    "Weighting",
    "cluster_bootstrap_ratio",
    "cluster_sums",
    "clustered_kappa",
    "clustered_proportion",
    "cohen_kappa",
    "disagreeing_pairs",
    "ratio_variance",
    "rerun_disagreement",
    "resample_totals",
    "wilson",
    "z_quantile",
]
