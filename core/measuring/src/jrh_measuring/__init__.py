"""Scoring of records, and the building of measures: what every metric is made with.

A metric reads its records with a `MeasureBuilder`, scores every trial (`against_gold`, `against_reference`,
`as_expected`, `Answers` and `Pairs` between conditions, `judge_pairs` between judges), and lets the builder make the
measures: estimate, interval by cluster of items, counts of trials, items and missing verdicts, bounds and flags.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
