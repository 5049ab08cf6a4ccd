"""Decide which drafts become cases: by a model, by a vote, by exact rules, by distance."""
