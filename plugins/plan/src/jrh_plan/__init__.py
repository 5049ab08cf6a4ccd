"""What a run would do and cost, and what its items can show: the command `jrh plan`.

`estimate` makes the plan: it resolves the suite as a run does and lets components put their questions to models that
count and send nothing (`call_meter`). `draft_estimate` does so for tests whose cases a model writes, `trial_counts`
counts what judges would be asked, and `commands` prints both tables. `power` says what so many items can show with the
formulas of `jrh_stats`, `pilot` measures its assumptions in an earlier run, and `gate_rules` says which rules of a gate
can be decided.

Not here: running, prices and the rules of planning themselves, which are the kernel's (`jrh.running`): a plan that
counted by rules of its own would differ from the run. Start with `estimate.make_plan`.
"""
