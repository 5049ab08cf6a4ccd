"""Estimate agreement, rates, changes, power and variance components of clustered ratings.

Pure functions over arrays; nothing of jrh is imported. Conventions of every function:

* Arrays are numpy arrays or whatever `numpy.asarray` takes. A *cluster* is the unit that was sampled (in jrh: the
  item); trials of one cluster may depend on each other in any way.
* Intervals are two-sided with coverage `level`, and always contain the estimate.
* `seed` is the only source of randomness. Results do not depend on the order of rows or clusters.
* A quantity that cannot be estimated is `None` with a flag, never NaN.

Where to look, by what is asked:

* How often, how much: `proportion`, `mean`, `one_sided` (limits for decisions), `prevalence`, `validity`, `missing`.
* Do raters agree: `kappa`, `agreement`, `ceiling`, `intraclass`, `ordinal`, `phi`, `panel_quality`.
* Did it change: `change` (means, with `exchange` for the null distribution), `excess` (more than reruns do, with
  `excess_null` and `excess_bounds`), `equivalence_tests`, `opposed`, `significance`, `stepwise` (families of tests).
* What drives a score: `generalizability` (read by `design`), `strata`, `discrimination`,
  `calibration`, `psychometric`, `reading_windows`.
* What a design can show: `power`.

Below all of them: `clusters` (sums per cluster), `kinds` (equal clusters counted once), `score_intervals` (Wilson,
Student), `degrees` (how well a variance is known, and `few-events`), `jackknife`, `unseen`. Start with `proportion`:
most other intervals are variations of its own. Formulas that are ours are derived in docs/derivations.md.

Not here: reading records, what a measure is, which tests a report makes (`jrh_measuring`), and estimates without
clusters, which scipy, scikit-learn and statsmodels have.

Names load on first use; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
