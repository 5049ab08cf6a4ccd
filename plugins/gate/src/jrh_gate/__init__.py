"""Check a run against rules in continuous integration: the command `jrh gate`.

`checking` is the whole of it: decisions, missing verdicts and the exit code. `selecting` finds the measures a rule is
about, `rule_limits` their one-sided limits and how much error each may have, and `deciding` compares these with the
threshold. `wording` has the sentences and numbers that `console`, `markdown` and `junit` share; `json_file` writes
`schemas/gate.schema.json`.

Not here: the syntax of rules, the count of looks and the limits themselves (`jrh_measuring`). `plugin` declares the
section `gate` of a suite; a run checks none of its rules. Start with `checking.check`.
"""
