"""Verdicts that were collected elsewhere, as a run directory."""
