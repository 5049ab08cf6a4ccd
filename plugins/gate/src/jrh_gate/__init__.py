"""Check a run against rules in continuous integration, using confidence intervals."""
