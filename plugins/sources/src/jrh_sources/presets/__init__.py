"""Benchmarks that people own already: what their files mean, and the task that fits them.

`catalogue` reads `catalogue.toml`, which has an entry per benchmark; `shapes` has the function that turns its rows
into the columns of every other source; `source` finds, downloads and reads the files. No text of a benchmark is
shipped.
"""
