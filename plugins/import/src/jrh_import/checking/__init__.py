"""Check judges against people from one table: no suite and no import file."""
