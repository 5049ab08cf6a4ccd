"""Decide the rules of a gate, for `jrh gate` and for whoever asks what a gate would say of other records.

`checking` is the whole of it: decisions, missing verdicts and the exit code. `selecting` finds the measures a rule is
about, `rule_limits` their one-sided limits and how much error each may have, and `deciding` compares these with the
threshold. Start with `checking.check`.
"""
