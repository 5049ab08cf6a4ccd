"""From records to measures and findings: what every metric and every rule is made with.

A metric reads its records with a `MeasureBuilder`, scores every trial, and lets the builder make the measures:
estimate, interval by cluster of items, counts of trials, items and missing verdicts, bounds and flags.

Where to start:

* `builder` makes measures; `scoring` has the usual scores (`against_gold`, `against_reference`, `as_expected`).
* `trials` holds the records as columns, `cells` what a measure is about, `conditions` which trials are reruns.
* `answers` and `pairs` compare conditions and judges; `missing_verdicts` asks why verdicts are missing.
* `findings` turns measures into sentences, with one family of tests for a whole report.
* `measure_stage` runs the metrics of a suite and stores what they yield; `installed` does so without a run.
* `sections`, `numbers`, `documents` and `drawing` are what reporters share; `gate_rules` and `looks` serve the gate.

Not here: the metrics themselves (`jrh-metrics` and other plugins), the estimators (`jrh_stats`), and the reports.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
