"""From measures to sentences: one rule per module-level function, one table of rules, one way to phrase numbers."""
