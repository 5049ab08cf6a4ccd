"""The metrics of jrh, the rules that turn them into findings, and their sections of reports.

Where to start: `metrics.toml` declares every metric with its measures and formulas, and `plugin` what else there is.
Each metric is a class with options and one method, `measure`.

* Shares of verdicts: `rates`, `rerun`, `excess`, `changes`, `interaction`, `gain`.
* Agreement: `kappa`, `ordinal`, `ceiling` (people), `panel_agreement`, `panel` and `panel_by_test` (several judges).
* Corrections and models: `prevalence`, `validity`, `calibration`, `covariates`, `generalizability`.
* `compat` computes what two other programs print; `rules` holds the rules, and `sections`, `judges_by_tests` and
  `panel_section` the sections.

Not here: estimators and intervals (`jrh_stats`), and the building of measures (`jrh_measuring`).
"""
