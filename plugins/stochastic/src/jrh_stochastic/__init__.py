"""Ask the identical question again: how far does a judge agree with itself."""
