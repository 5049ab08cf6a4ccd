"""Say the same in other words.

Where to start: `perturber` builds the test by rules or by a model. `swaps` lists what rules may exchange, each with the
context in which that is safe; a model's text is written and checked by `jrh_authoring.RewritingPerturber`.
"""
