"""ACME's judge, rubric store, release rule and report section."""
