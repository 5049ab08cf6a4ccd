"""Edits that need no model: each changes only what it can prove."""
