"""The rules about the measures of these metrics."""
