"""Inspect AI logs as items with transcripts, and edited transcripts written back."""
