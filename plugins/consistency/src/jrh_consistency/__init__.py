"""Test whether a judge agrees with itself: cycles, scores and comparisons, lists and pairs, reference answers.

`source` makes items of one file for tasks that score, compare, choose from or rank the same responses; `naming` is how
an item's id says its set and members. Metrics read nothing but records, so imported logs with such ids are measured
as well. `preferences` turns verdicts of every kind into preferences between two responses, with their noise;
`transitivity` and `agreement` measure on top of them, `rules` writes the findings.

Not here: position bias (jrh-order), which may look like cycles and is only flagged.

Start with `preferences.Preference`; the derivations of what noise explains are in the docstrings of `transitivity` and
`agreement`.
"""
