"""An example of a jrh plugin: responses in capitals.

Start with `plugin.py`, which declares a perturber, a metric, a flag, a rule and a section. Each has its work in a
file of its own: `shout`, `loudness`, `minds_shouting`, `section`; `options` is what a suite can set.
"""
