"""Make edits by rules; each changes only what it can prove."""
