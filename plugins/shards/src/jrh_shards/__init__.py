"""Runs put together, backed up and saved: the commands `jrh merge`, `jrh backup` and `jrh salvage`."""
