"""Edit agent transcripts until a rubric entry is violated, satisfied, met at a level, or left as it was."""
