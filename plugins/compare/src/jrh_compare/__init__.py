"""Runs and judges compared on the same cases, pairwise."""
