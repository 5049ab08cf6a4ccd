"""Decide which drafts become cases: by a model, by a vote, by exact rules, by distance.

Where to start: `plugin` lists the validators, one class each.

* By a model: `label` applies the task's rubric to the draft, `equivalence` compares it with the original.
* By several: `consensus` has the vote, labels by people among it, and the fallback.
* Without a model: `rules` for numbers, names and negations, `diversity` for similarity over all drafts.
* `drafts` pairs every changed text with its original.
"""
