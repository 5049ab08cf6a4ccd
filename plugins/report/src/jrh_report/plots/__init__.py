"""Plots of a run as files."""
