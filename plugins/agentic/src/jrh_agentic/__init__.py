"""Edit agent transcripts so that they violate a rubric entry, satisfy it, reach a level, or change only in style."""
