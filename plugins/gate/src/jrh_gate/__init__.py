"""The gate of continuous integration: rules about a run, decided by intervals."""
