"""Tests and measures of judges that grade a response by the criteria of a rubric.

`mode` is the mode `criteria`: it makes tasks of a rubric file and one item per response and criterion;
`benchmark` reads responses that bring their own criteria. `perturbers` changes order, number, wording and evidence of
the criteria in a call. `score` measures the weighted score, `effects` what another rubric or another place moves.

Not here: the prompt that asks several criteria at once (jrh-judges), and the score's arithmetic
(`jrh_measuring.response_scores`), which comparisons need, too.

Start with `mode.CriteriaMode.expand_items`: everything else relies on the fields it writes.
"""
