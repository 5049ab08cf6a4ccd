"""Answer decisions from stored verdicts, one command each.

`gate_risk` simulates nights of a gate: `resampling` draws them, `jrh_measuring.gating` decides their rules, and
`gate_risk_text` writes what was found. `swap` decides whether a judge may replace another from what
`jrh_measuring.comparing` pairs, `equating` translates pass marks, and `swap_text` writes the answer. `card` writes
one page on a judge from the measures of its run. `automate` chooses a threshold above which a judge decides alone, from
what `decisions` reads of a table or a run; `automate_text` writes it.
`rank` orders what `systems` reads by `ranking`, which tests all pairs; `rank_text` writes the answer.
`watch` adds a run to a `watch_store` and asks `monitor`, a test martingale, whether the judge changed; `watch_text`
writes the answer. `stored` finds the run that an argument means.
"""
