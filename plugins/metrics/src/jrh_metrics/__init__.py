"""The measures of jrh, computed from records and nothing else."""
