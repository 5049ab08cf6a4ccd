"""Campaigns against jrh: kills, damage, edits, faults and hostile input; short forms run with the tests.

`make campaigns SECONDS=600` runs the long forms, prints a table, and keeps what failed.
"""
