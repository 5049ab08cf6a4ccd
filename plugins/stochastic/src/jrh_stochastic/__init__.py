"""Repeat the identical question to measure a judge's self-consistency."""
