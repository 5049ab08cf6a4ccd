"""From measures to sentences, with one family of tests for all that a report claims.

`deciding` runs the rules of all plugins: they state hypotheses from a `design`, without any verdict; all are tested as
one family (`page_family`); then each rule turns what was decided into claims (`claims`), which become findings.
`record` keeps what a run decided, so that a later report says the same.

A plugin's rule starts from `rule.Rule`, or from the tables in `defects` and `kept_shares`. The rules about measures are
in the plugins that measure; here is only the one about tests without cases (`data_rules`).
"""
