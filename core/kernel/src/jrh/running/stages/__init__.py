"""The stages of a run: each reads the table before it and writes its own."""
