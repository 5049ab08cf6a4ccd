"""The files of a run: its SQLite store and the reply cache."""
