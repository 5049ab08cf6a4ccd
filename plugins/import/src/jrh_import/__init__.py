"""Import verdicts collected elsewhere as a run directory."""
