"""Search for text that raises the verdicts of a judge although quality does not rise."""
