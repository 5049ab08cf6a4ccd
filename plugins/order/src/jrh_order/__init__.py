"""Test position bias: options of a pair in both orders, and identical options.

Where to start: `perturbers` shows the options in other orders, and `position` measures what that changes.

* `metrics.toml` declares the measures with their formulas.
* `rules` says which place a judge prefers and whether it keeps its choice; `section` tabulates both.
"""
