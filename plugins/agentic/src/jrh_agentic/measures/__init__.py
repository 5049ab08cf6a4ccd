"""Measures of judges on edited transcripts."""
