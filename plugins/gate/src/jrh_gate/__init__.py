"""Check a run against rules in continuous integration: the command `jrh gate`.

`wording` has the sentences and numbers that `console`, `markdown` and `junit` share; `json_file` writes
`schemas/gate.schema.json`.

Not here: the decisions (`jrh_measuring.gating`; start with `checking.check`), the syntax of rules, the count of looks
and the limits themselves (`jrh_measuring`). `plugin` declares the section `gate` of a suite; a run checks none of its
rules.
"""
